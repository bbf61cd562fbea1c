import { describe, expect, test } from 'vitest';

import { batchWorks, parseBatch } from '../src/works/batch-works.ts';
import { keyWorks } from '../src/works/key-works.ts';
import { mcpWorks } from '../src/works/mcp-works.ts';
import { relatedWorks } from '../src/works/related-works.ts';
import { uniqueHeaders } from '../src/works/work.ts';

function response(body: unknown, status = 200): { readonly status: number; readonly body: Buffer } {
  return { status, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) };
}

describe('a batch', () => {
  const batch = batchWorks[0]!.forms!['pgway-batch']!;

  test('has ten calls with different arguments, and repeats the typical one', () => {
    const paths = (number: number): readonly string[] =>
      (JSON.parse(batch.request(number).body!) as { path: string }[]).map(({ path }) => path);
    expect(batch.calls).toBe(10);
    expect(new Set(paths(0))).toEqual(new Set(['/api/bench/add?a=1&b=2']));
    expect(new Set([...paths(1), ...paths(2)]).size).toBe(20);
    expect(parseBatch([{ path: paths(1)[0]! }, { path: '/api/bench/items?lim=3' }])).toEqual([
      { routine: 'add', values: [11, 1012] },
      { routine: 'items', values: [3] },
    ]);
    expect(() => parseBatch([{ path: '/api/bench/visit' }])).toThrow(
      "the batch has no endpoint for '/api/bench/visit'",
    );
  });

  test('accepts its ten responses only', () => {
    const right = Array.from({ length: 10 }, (_, index) => ({
      status: 200,
      body: 11 + index + 2 + (10 + index) * 101,
    }));
    batch.verify(response(right), 1);
    expect(() => batch.verify(response(right.slice(1)), 1)).toThrow('number of responses');
    expect(() => batch.verify(response(right.toReversed()), 1)).toThrow('11 + 1012');
    expect(() => batch.verify(response(right.with(3, { status: 409, body: 0 })), 1)).toThrow('status 409');
  });
});

test('related rows may come in any order within their parent, and in no other parent', () => {
  const [work] = relatedWorks;
  const author = (id: number): object => {
    const book = [4, 0, 1, 2, 3].map((n) => (id === 1 ? 1000 : id - 1) + n * 1000);
    return { id, name: `Author ${id}`, book: book.map((n) => ({ id: n, title: `Book ${n}` })) };
  };
  const authors = Array.from({ length: 10 }, (_, index) => author(index + 1));
  work!.verify(response(authors), 0);
  expect(() => work!.verify(response(authors), 1)).toThrow('Expected values to be strictly deep-equal');
  expect(() => work!.verify(response(authors.with(1, { ...author(1), id: 2, name: 'Author 2' })), 0)).toThrow(
    'Expected',
  );
});

test('a key is new in each request', () => {
  const [plain] = keyWorks;
  const key = (): string | undefined => uniqueHeaders(plain!.forms!['pgway-key']!.request(0))['idempotency-key'];
  expect(key()).not.toBe(key());
  expect(uniqueHeaders(plain!.request(0))).toEqual({ 'content-type': 'application/json' });
});

test('a tool call has the name and the arguments of its endpoint, and its result in the message', () => {
  const call = mcpWorks[0]!.forms!['server-mcp']!;
  expect(JSON.parse(call.request(0).body!)).toMatchObject({
    method: 'tools/call',
    params: { name: 'add', arguments: { a: 1, b: 2 } },
  });
  call.verify(response({ result: { structuredContent: { value: 3 } } }), 0);
  expect(() => call.verify(response({ error: { code: 1, message: 'no tool' } }), 0)).toThrow('1 + 2');
});
