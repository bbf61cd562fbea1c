/** Where requests on a connection of HTTP/1.1 begin and end: raw bytes in, all bytes out (request smuggling). */
import { STATUS_CODES } from 'node:http';
import type { Problem } from '@pgway/core';
import { expect, onTestFinished, test } from 'vitest';
import { nodeMiddleware } from '../../../core/src/adapters/node.ts';
import type { GatewayResponse } from '../../../core/src/http/response.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import type { HttpServer } from '../../src/http/http-server.ts';
import { openCertificateStore } from '../../src/tls/certificate-store.ts';
import { listenWithTls } from '../../src/tls/listen-with-tls.ts';
import { createCertificate, type PemCertificate } from '../support/certificates.ts';
import { folderWith } from '../support/folder.ts';
import { exchange, withoutVaryingHeaders } from '../support/raw-client.ts';

/** Responds with method, path and body. */
const echo = nodeMiddleware(async (request): Promise<GatewayResponse> => {
  try {
    const body = Buffer.from(await request.body(1000)).toString();
    return { kind: 'whole', status: 200, headers: [], body: `${request.method} ${request.path} "${body}"` };
  } catch (error) {
    const { status, message } = error as Problem;
    return { kind: 'whole', status, headers: [], body: message };
  }
});

/**
 * Starts a server, with TLS if a certificate is given.
 * @param timeout seconds in which a request has to arrive
 */
async function serve(pem: PemCertificate | null, timeout: number): Promise<HttpServer> {
  const folder = await folderWith(pem === null ? {} : { 'server.crt': pem.certificate, 'server.key': pem.key });
  const configuration = parseConfiguration({
    port: 0,
    // A connection that waits for a further request is closed soon.
    limits: { keepAliveTimeout: 0.1, headersTimeout: timeout, requestTimeout: timeout },
    ...(pem === null ? {} : { tls: { certificate: 'server.crt', key: 'server.key' } }),
  });
  const log = { info: () => undefined, error: () => undefined };
  const certificates = await openCertificateStore(configuration, folder, log);
  const server = await listenWithTls(configuration, echo, { certificates });
  onTestFinished(() => server.stop(0, AbortSignal.abort()));
  return server;
}

/** The parser of newer versions of Node.js refuses more by itself. */
const nodeMajor = Number(process.versions.node.split('.')[0]);

const nosniff = 'x-content-type-options: nosniff';
const join = (...lines: readonly string[]): string => lines.join('\r\n');

/** A response of the echo. */
function echoed(text: string, connection: 'keep-alive' | 'close' = 'keep-alive'): string {
  const length = `content-length: ${text.length}`;
  return join('HTTP/1.1 200 OK', nosniff, length, `Connection: ${connection}`, '', text);
}

/** A response to bytes that the parser refuses. */
function unparsed(status: number): string {
  const title = STATUS_CODES[status]!;
  const body = JSON.stringify({ type: 'about:blank', title, status });
  const head = [`HTTP/1.1 ${status} ${title}`, 'content-type: application/problem+json'];
  return join(...head, `content-length: ${body.length}`, nosniff, 'connection: close', '', body);
}

/** A response to a request that the server refuses. */
function refused(status: number, title: string, detail: string): string {
  const body = JSON.stringify({ type: 'about:blank', title, status, detail });
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'content-type: application/problem+json'];
  return join(...head, `content-length: ${body.length}`, nosniff, 'connection: close', '', body);
}

/** The response to a body that does not arrive. */
const late = join(
  'HTTP/1.1 408 Request Timeout',
  nosniff,
  'content-length: 23',
  'Connection: close',
  '',
  'The limit is 1 seconds.',
);

/** A response of Node itself. */
function ofNode(status: number, connection: 'keep-alive' | 'close'): string {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
  return join(head, `Connection: ${connection}`, 'Transfer-Encoding: chunked', '', '0\r\n\r\n');
}

const get = (path: string, ...headers: readonly string[]): string =>
  join(`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', '');
const post = (...headers: readonly string[]): string => join('POST /a HTTP/1.1', 'Host: localhost', ...headers, '', '');
const chunked = 'Transfer-Encoding: chunked';
const next = get('/next');
const badHost = 'The value of Host is not a host.';
const codings = ['Transfer coding not supported', 'The server supports chunked alone.'] as const;

/** Bytes of a client, and those of the server. A response to `next` shows where the server sees the end of the request before. */
const cases: Readonly<Record<string, readonly [string, string]>> = {
  'a length': [`${post('Content-Length: 2')}ab${next}`, echoed('POST /a "ab"') + echoed('GET /next ""')],
  chunks: [
    `${post(chunked)}2\r\nab\r\n1;x=y\r\nc\r\n0\r\nX-A: b\r\n\r\n${next}`,
    echoed('POST /a "abc"') + echoed('GET /next ""'),
  ],
  'a body of GET': [`${get('/a', 'Content-Length: 2')}ab${next}`, echoed('GET /a "ab"') + echoed('GET /next ""')],
  'length and chunks': [`${post('Content-Length: 5', chunked)}0\r\n\r\n${next}`, unparsed(400)],
  'chunks and length': [`${post(chunked, 'Content-Length: 5')}0\r\n\r\n${next}`, unparsed(400)],
  'two lengths': [`${post('Content-Length: 2', 'Content-Length: 3')}abc`, unparsed(400)],
  'the same length twice': [`${post('Content-Length: 2', 'Content-Length: 2')}ab`, unparsed(400)],
  'a list of lengths': [`${post('Content-Length: 2, 2')}ab`, unparsed(400)],
  'a signed length': [`${post('Content-Length: +2')}ab`, unparsed(400)],
  'a negative length': [`${post('Content-Length: -2')}ab`, unparsed(400)],
  'a hexadecimal length': [`${post('Content-Length: 0x2')}ab`, unparsed(400)],
  'an empty length': [`${post('Content-Length:')}ab`, unparsed(400)],
  'a length past 64 bits': [`${post('Content-Length: 18446744073709551618')}ab`, unparsed(400)],
  'a length in spaces': [`${post('Content-Length: 1 1')}ab`, unparsed(400)],
  'TE: xchunked': [`${post('Transfer-Encoding: xchunked')}0\r\n\r\n`, refused(501, ...codings)],
  'TE: "chunked"': [`${post('Transfer-Encoding: "chunked"')}0\r\n\r\n`, refused(501, ...codings)],
  'TE: chunked;a': [`${post('Transfer-Encoding: chunked;a')}0\r\n\r\n`, refused(501, ...codings)],
  'TE: identity': [`${post('Transfer-Encoding: identity')}${next}`, refused(501, ...codings)],
  'TE: CHUNKED': [
    `${post('Transfer-Encoding: CHUNKED')}0\r\n\r\n${next}`,
    echoed('POST /a ""') + echoed('GET /next ""'),
  ],
  'TE after a tab': [
    `${post('Transfer-Encoding:\tchunked')}0\r\n\r\n${next}`,
    echoed('POST /a ""') + echoed('GET /next ""'),
  ],
  'TE after a vertical tab': [`${post('Transfer-Encoding:\vchunked')}0\r\n\r\n`, unparsed(400)],
  'TE: chunked twice': [`${post(chunked, chunked)}0\r\n\r\n`, unparsed(400)],
  'TE: chunked, then identity': [`${post(chunked, 'Transfer-Encoding: identity')}0\r\n\r\n`, unparsed(400)],
  'TE: chunked, identity': [`${post('Transfer-Encoding: chunked, identity')}0\r\n\r\n`, unparsed(400)],
  'TE: gzip, chunked': [`${post('Transfer-Encoding: gzip, chunked')}0\r\n\r\n${next}`, refused(501, ...codings)],
  'an empty TE': [`${post('Transfer-Encoding:')}${next}`, nodeMajor < 24 ? refused(501, ...codings) : unparsed(400)],
  'TE of HTTP/1.0': [
    join('POST /a HTTP/1.0', 'Host: localhost', chunked, '', '0\r\n\r\n'),
    refused(400, 'Bad request', 'HTTP/1.0 has no Transfer-Encoding.'),
  ],
  'TE in another case and with a prefix': [
    `${post('Content-Length: 2', 'X-Transfer-Encoding: chunked')}ab`,
    echoed('POST /a "ab"'),
  ],
  'a length with an underscore': [
    `${post('Content_Length: 30')}${next}`,
    echoed('POST /a ""') + echoed('GET /next ""'),
  ],
  'lines that end with LF': ['GET /a HTTP/1.1\nHost: localhost\n\n', unparsed(400)],
  'a header that ends with LF': ['GET /a HTTP/1.1\r\nHost: localhost\nX-A: b\r\n\r\n', unparsed(400)],
  'headers that end with LF': ['GET /a HTTP/1.1\r\nHost: localhost\r\n\n', unparsed(400)],
  'a header that ends with CR': ['GET /a HTTP/1.1\r\nHost: localhost\rX-A: b\r\n\r\n', unparsed(400)],
  'a folded header': [get('/a', 'X-A: b', ' c'), unparsed(400)],
  'a folded TE': [`${post('Transfer-Encoding:', ' chunked')}0\r\n\r\n`, unparsed(400)],
  'a fold of the request line': [join('GET /a HTTP/1.1', ' Host: localhost', '', ''), unparsed(400)],
  'a space before the colon': [`${post('Content-Length : 2')}ab`, unparsed(400)],
  'a header without colon': [get('/a', 'X-A'), unparsed(400)],
  'a header without name': [get('/a', ': a'), unparsed(400)],
  'NUL in a value': [get('/a', 'X-A: a\0b'), unparsed(400)],
  'NUL in a name': [get('/a', 'X-A\0: b'), unparsed(400)],
  'NUL in the path': [get('/a\0b'), unparsed(400)],
  'a control character in a value': [get('/a', 'X-A: a\u0001b'), unparsed(400)],
  'DEL in a value': [get('/a', 'X-A: a\u007fb'), unparsed(400)],
  'a byte above ASCII in the path': [get('/\u00e9'), unparsed(400)],
  'a space in the path': [get('/a b'), unparsed(400)],
  'a size of a chunk with 0x': [`${post(chunked)}0x2\r\nab\r\n0\r\n\r\n`, unparsed(400)],
  'a negative size of a chunk': [`${post(chunked)}-2\r\nab\r\n0\r\n\r\n`, unparsed(400)],
  'a size of a chunk past 64 bits': [`${post(chunked)}10000000000000002\r\nab\r\n0\r\n\r\n`, unparsed(400)],
  'a size of a chunk with a space': [`${post(chunked)}2 \r\nab\r\n0\r\n\r\n`, unparsed(400)],
  'a size of a chunk that ends with LF': [`${post(chunked)}2\nab\n0\n\n`, unparsed(400)],
  'an extension of a chunk that ends with LF': [`${post(chunked)}2;\nab\r\n0\r\n\r\n`, unparsed(400)],
  'a chunk longer than its size': [`${post(chunked)}2\r\nabc\r\n0\r\n\r\n`, unparsed(400)],
  'a size of a chunk with many zeros': [
    `${post(chunked)}${'0'.repeat(5000)}2\r\nab\r\n0\r\n\r\n`,
    echoed('POST /a "ab"'),
  ],
  'an endless size of a chunk': [post(chunked) + '0'.repeat(100_000), late],
  'large extensions of chunks': [`${post(chunked)}2;${'a'.repeat(20_000)}\r\nab\r\n0\r\n\r\n`, unparsed(413)],
  'large trailers': [`${post(chunked)}0\r\n${'X-A: b\r\n'.repeat(10_000)}\r\n`, unparsed(431)],
  'a length in trailers': [`${post(chunked)}2\r\nab\r\n0\r\nContent-Length: 3\r\n\r\n`, unparsed(400)],
  'large headers': [get('/a', `X-A: ${'b'.repeat(40_000)}`), unparsed(431)],
  'many headers': [
    get('/a', ...Array.from({ length: 100 }, (_, index) => `X-${index}: a`)),
    refused(431, 'The request has too many headers', 'The limit is 100.'),
  ],
  'as many headers as allowed': [
    get('/a', ...Array.from({ length: 99 }, (_, index) => `X-${index}: a`)),
    echoed('GET /a ""'),
  ],
  'thousands of headers': [
    get('/a', ...Array.from({ length: 3000 }, () => 'A: b'), chunked),
    nodeMajor < 24 ? refused(431, 'The request has too many headers', 'The limit is 100.') : unparsed(431),
  ],
  'a long path': [get(`/${'a'.repeat(40_000)}`), unparsed(431)],
  'no Host': ['GET /a HTTP/1.1\r\n\r\n', ofNode(400, 'close')],
  'two Hosts': [get('/a', 'hOST: localhost'), refused(400, 'Bad request', 'There is more than one Host.')],
  'a Host with a path': [join('GET /a HTTP/1.1', 'Host: localhost/a', '', ''), refused(400, 'Bad request', badHost)],
  'a Host with a space': [join('GET /a HTTP/1.1', 'Host: localhost b', '', ''), refused(400, 'Bad request', badHost)],
  'a URL': [get('http://localhost/a'), echoed('GET /a ""')],
  'a URL with another host': [
    get('http://evil.example/a'),
    refused(400, 'Bad request', 'The URL in the request line and Host name different hosts.'),
  ],
  'an authority': [get('localhost:80'), unparsed(400)],
  'HTTP/2.0 in the request line': [
    'GET /a HTTP/2.0\r\nHost: localhost\r\n\r\n',
    refused(505, 'HTTP version not supported', 'The request line names HTTP/2.0.'),
  ],
  'HTTP/0.9 in the request line': [
    'GET /a HTTP/0.9\r\nHost: localhost\r\n\r\n',
    refused(505, 'HTTP version not supported', 'The request line names HTTP/0.9.'),
  ],
  'HTTP/1.2': ['GET /a HTTP/1.2\r\nHost: localhost\r\n\r\n', unparsed(400)],
  'a request of HTTP/0.9': ['GET /a\r\n', unparsed(408)],
  'the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', unparsed(505)],
  'Upgrade: h2c': [
    get('/a', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__') + next,
    echoed('GET /a ""', 'close'),
  ],
  'Upgrade: websocket': [get('/a', 'Connection: Upgrade', 'Upgrade: websocket') + next, echoed('GET /a ""', 'close')],
  CONNECT: [`CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n${next}`, ''],
  TRACE: ['TRACE /a HTTP/1.1\r\nHost: localhost\r\nCookie: a=b\r\n\r\n', echoed('TRACE /a ""')],
  'an unknown method': ['FOO /a HTTP/1.1\r\nHost: localhost\r\n\r\n', unparsed(400)],
  'a method in lower case': ['get /a HTTP/1.1\r\nHost: localhost\r\n\r\n', unparsed(400)],
  'an unknown expectation': [
    post('Expect: 200-ok', 'Content-Length: 0') + next,
    ofNode(417, 'keep-alive') + echoed('GET /next ""'),
  ],
  'an expectation without body': [get('/a', 'Expect: 100-continue') + next, echoed('GET /a ""', 'close')],
  'pipelined requests': [
    get('/a') + get('/b') + get('/c'),
    echoed('GET /a ""') + echoed('GET /b ""') + echoed('GET /c ""'),
  ],
  'a request after Connection: close': [get('/a', 'Connection: close') + next, echoed('GET /a ""', 'close')],
  'other bytes after a request': [`${get('/a')}abc\r\n\r\n${next}`, echoed('GET /a ""', 'close')],
  'a malformed body after a request': [`${get('/a')}${post(chunked)}x\r\n`, echoed('GET /a ""', 'close')],
  'the rest of a body as request': [
    `${post('Content-Length: 2')}ab${'c'.repeat(10)}\r\n\r\n`,
    echoed('POST /a "ab"', 'close'),
  ],
  'a body that ends early': [`${post('Content-Length: 200')}${next}`, late],
};

/** Returns the answers to all cases. */
async function answersOf(pem: PemCertificate | null): Promise<Record<string, string>> {
  // On a slow machine, the requests that are whole need longer than those that never are should wait.
  const [patient, impatient] = await Promise.all([serve(pem, 60), serve(pem, 1)]);
  const answers = Object.entries(cases).map(async ([name, [bytes, expected]]) => {
    const { port } = expected.includes(' 408 ') ? impatient : patient;
    const answer = await exchange(bytes, { port, ...(pem === null ? {} : { ca: pem.certificate }) });
    return [name, withoutVaryingHeaders(answer)] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}

test('each request has one response, over HTTP and HTTPS', async () => {
  const expected = Object.fromEntries(Object.entries(cases).map(([name, [, answer]]) => [name, answer]));
  const [http, https] = await Promise.all([answersOf(null), answersOf(await createCertificate())]);
  expect(http).toEqual(expected);
  expect(https).toEqual(expected);
});
