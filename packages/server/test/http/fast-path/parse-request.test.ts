import { cases } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRequest } from '../../../src/http/fast-path/parse-request.ts';
import { compare, fuzz, limits, parseByNode } from './differential.ts';

function parse(...lines: readonly string[]) {
  return parseRequest(Buffer.from(lines.join('\r\n'), 'latin1'), limits);
}

test('a request of the allowed form, with a body', () => {
  const bytes = ['POST /api/a?b=%20 HTTP/1.1', 'Host: a.test:8080', 'X-A:  b  c ', 'content-length: 3', '', 'abcGET /'];
  const parsed = parse(...bytes);

  expect(parsed).toEqual({
    method: 'POST',
    target: '/api/a?b=%20',
    rawHeaders: ['Host', 'a.test:8080', 'X-A', 'b  c', 'content-length', '3'],
    headers: { host: 'a.test:8080', 'x-a': 'b  c', 'content-length': '3' },
    keepsAlive: true,
    bodyStart: 81,
    end: 84,
  });
});

test('a body that has not arrived', () => {
  expect(parse('POST / HTTP/1.1', 'Host: a', 'Content-Length: 4', '', 'abc')).toBe('incomplete');
});

test.each([
  ['an incomplete head', ['GET / HTTP/1.1', 'Host: a', '']],
  ['another method', ['QUERY / HTTP/1.1', 'Host: a', '', '']],
  ['lower case', ['get / HTTP/1.1', 'Host: a', '', '']],
  ['absolute form', ['GET http://a/ HTTP/1.1', 'Host: a', '', '']],
  ['asterisk form', ['OPTIONS * HTTP/1.1', 'Host: a', '', '']],
  ['HTTP/1.0', ['GET / HTTP/1.0', 'Host: a', '', '']],
  ['a byte beyond ASCII in the target', ['GET /\u00e9 HTTP/1.1', 'Host: a', '', '']],
  ['no Host', ['GET / HTTP/1.1', 'A: b', '', '']],
  ['two Hosts', ['GET / HTTP/1.1', 'Host: a', 'Host: a', '', '']],
  ['a Host that is not one', ['GET / HTTP/1.1', 'Host: a/b', '', '']],
  ['a chunked body', ['POST / HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked', '', '0', '', '']],
  ['both lengths', ['POST / HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked', 'Content-Length: 5', '', '0', '', '']],
  ['two lengths', ['POST / HTTP/1.1', 'Host: a', 'Content-Length: 1', 'Content-Length: 1', '', 'a']],
  ['a list of lengths', ['POST / HTTP/1.1', 'Host: a', 'Content-Length: 1, 1', '', 'a']],
  ['a signed length', ['POST / HTTP/1.1', 'Host: a', 'Content-Length: +1', '', 'a']],
  ['a length with a zero in front', ['POST / HTTP/1.1', 'Host: a', 'Content-Length: 01', '', 'a']],
  ['a length of twenty digits', ['POST / HTTP/1.1', 'Host: a', 'Content-Length: 10000000000000000000', '', 'a']],
  ['a long body', ['POST / HTTP/1.1', 'Host: a', 'Content-Length: 257', '', 'a'.repeat(257)]],
  ['a folded header', ['GET / HTTP/1.1', 'Host: a', 'X: a', ' b', '', '']],
  ['a bare LF', ['GET / HTTP/1.1', 'Host: a', 'X: a\nY: b', '', '']],
  ['a bare CR', ['GET / HTTP/1.1', 'Host: a', 'X: a\rY: b', '', '']],
  ['NUL', ['GET / HTTP/1.1', 'Host: a', 'X: a\0b', '', '']],
  ['a tab', ['GET / HTTP/1.1', 'Host: a', 'X:\ta', '', '']],
  ['a space before the colon', ['GET / HTTP/1.1', 'Host: a', 'X : a', '', '']],
  ['an upgrade', ['GET / HTTP/1.1', 'Host: a', 'Upgrade: websocket', 'Connection: upgrade', '', '']],
  ['Expect', ['POST / HTTP/1.1', 'Host: a', 'Content-Length: 1', 'Expect: 100-continue', '', 'a']],
  ['a repeated header', ['GET / HTTP/1.1', 'Host: a', 'Cookie: a', 'cookie: b', '', '']],
  ['the name of a property', ['GET / HTTP/1.1', 'Host: a', '__proto__: a', '', '']],
  ['many headers', ['GET / HTTP/1.1', 'Host: a', ...Array.from({ length: 20 }, (_, index) => `x${index}: a`), '', '']],
  ['a large head', ['GET / HTTP/1.1', 'Host: a', `X: ${'a'.repeat(2048)}`, '', '']],
])('%s is left to node:http', (_, lines) => {
  expect(parse(...lines)).toBe('other');
});

test('pipelined requests are read one after the other, as node:http does', () => {
  const get = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n';
  const post = 'POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi';
  const bytes = Buffer.from(`${get}${post}${get}`);

  expect(compare(bytes, 7)).toEqual({ accepted: 3, difference: null });
  expect(parseByNode([bytes]).requests.map(({ url, body }) => [url, body])).toEqual([
    ['/a', ''],
    ['/b', 'hi'],
    ['/a', ''],
  ]);
});

test('random requests: what the parser accepts, node:http reads in the same way', () => {
  const size = 100;
  let accepted = 0;
  let runs = 0;
  fc.assert(
    fc.property(fc.nat({ max: 4_000_000_000 }), (seed) => {
      accepted += fuzz(seed, size);
      runs += 1;
    }),
    { numRuns: cases(2000) },
  );
  // Otherwise the cases would test little.
  expect(accepted / runs).toBeGreaterThan(0.3);
});
