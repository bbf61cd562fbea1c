import { Problem } from '@pgway/core';
import { describe, expect, test } from 'vitest';
import { readRows, type RowsBody, selectRowsFormat } from './rows-body.ts';

interface Options {
  readonly type?: string;
  readonly hasColumns?: boolean;
}

async function read(text: string, { type = 'application/json', hasColumns = false }: Options = {}): Promise<unknown> {
  try {
    const { hasRelated, ...body }: RowsBody = await readRows(text, selectRowsFormat(type), {
      keysMayDiffer: hasColumns,
      isRelated: () => false,
    });
    return { ...body, keys: [...body.keys], missing: [...body.missing], ...(hasRelated ? { hasRelated } : {}) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, details } = error.members;
    return [code, error.title, details];
  }
}

describe('a JSON body', () => {
  test('is passed on as it was sent: numbers keep their digits', async () => {
    expect(await read(' {"id": 12345678901234567890.10, "b": null} ')).toEqual({
      json: '[{"id": 12345678901234567890.10, "b": null}]',
      count: 1,
      keys: ['id', 'b'],
      missing: [],
    });
    expect(await read('[{"a":1e400},{"a":-0.0}]')).toEqual({
      json: '[{"a":1e400},{"a":-0.0}]',
      count: 2,
      keys: ['a'],
      missing: [],
    });
    expect(await read('[]')).toEqual({ json: '[]', count: 0, keys: [], missing: [] });
  });

  test('has objects with equal keys, in any order', async () => {
    expect(await read('[{"a":1,"b":2},{"b":3,"a":4}]')).toMatchObject({ count: 2, keys: ['a', 'b'], missing: [] });
    const differ = ['PGRST102', 'All object keys must match', 'Element 1 has other keys than element 0'];
    expect(await read('[{"a":1},{"b":1}]')).toEqual(differ);
    expect(await read('[{"a":1},{"a":1,"b":1}]')).toEqual(differ);
    expect(await read('[{"a":1,"b":1},{"a":1}]')).toEqual(differ);
    expect(await read('[{},{"a":1}]')).toEqual(differ);
  });

  test('may have objects with different keys if the request lists its columns', async () => {
    expect(await read('[{"a":1},{"a":2,"b":1},{"c":1,"a":3}]', { hasColumns: true })).toMatchObject({
      count: 3,
      keys: ['a', 'b', 'c'],
      missing: ['b', 'c'],
    });
  });

  test('that is not an object or an array of them is refused', async () => {
    expect(await read('')).toEqual(['PGRST102', 'Empty or invalid json', null]);
    expect(await read(' \n')).toEqual(['PGRST102', 'Empty or invalid json', null]);
    expect(await read('{"a":}')).toEqual(['PGRST102', 'Empty or invalid json', 'unexpected "}" at position 5']);
    expect(await read('{"a":1,"a":2}')).toMatchObject(['PGRST102', 'Empty or invalid json', expect.any(String)]);
    for (const text of ['1', '"x"', 'null', 'true']) {
      expect(await read(text)).toEqual(['PGRST102', 'All object keys must match', 'Element 0 is not an object']);
    }
    expect(await read('[{"a":1},[1]]')).toEqual([
      'PGRST102',
      'All object keys must match',
      'Element 1 is not an object',
    ]);
  });

  test('may begin with a byte order mark', async () => {
    expect(await read('\ufeff{"a":"ä"}')).toMatchObject({ json: '[{"a":"ä"}]' });
  });
});

test('a CSV body has texts, and NULL for nulls', async () => {
  const type = 'text/csv; charset=utf-8';
  expect(await read('id,"my ""b"""\r\n1,NULL\r\n2,"x, ""y""\nz"\r\n', { type })).toEqual({
    json: String.raw`[{"id":"1","my \"b\"":null},{"id":"2","my \"b\"":"x, \"y\"\nz"}]`,
    count: 2,
    keys: ['id', 'my "b"'],
    missing: [],
  });
  expect(await read('a,b\n', { type })).toEqual({ json: '[]', count: 0, keys: ['a', 'b'], missing: [] });
  expect(await read('a,b\n1\n', { type })).toEqual([
    'PGRST102',
    'All lines must have same number of fields',
    'Line 2 has 1, the first line 2',
  ]);
  expect(await read('a,a\n1,2\n', { type })).toEqual(['PGRST102', 'The CSV has the column "a" twice', null]);
  expect(await read('', { type })).toEqual(['PGRST102', 'Empty CSV', 'The first line has the names of the columns']);
  expect(await read('a\n"1', { type })).toEqual([
    'PGRST102',
    'Invalid CSV',
    'The record in line 2 has a quote that is not closed',
  ]);
});

test('a form is one row of texts', async () => {
  const type = 'application/x-www-form-urlencoded';
  expect(await read('a=1&b=x+%C3%A4', { type })).toEqual({
    json: '[{"a":"1","b":"x ä"}]',
    count: 1,
    keys: ['a', 'b'],
    missing: [],
  });
  expect(await read('__proto__=1', { type })).toMatchObject({ json: '[{"__proto__":"1"}]', keys: ['__proto__'] });
  expect(await read('a=1&a=2', { type })).toEqual(['PGRST102', 'The form has the field "a" twice', null]);
});

test('another media type is refused', async () => {
  expect(await read('{}', { type: '' })).toMatchObject({ json: '[{}]' });
  expect(await read('{}', { type: 'text/plain' })).toEqual([
    'PGRST102',
    'Content-Type not acceptable: text/plain',
    null,
  ]);
  expect(await read('{}', { type: 'constructor' })).toMatchObject([
    'PGRST102',
    'Content-Type not acceptable: constructor',
    null,
  ]);
});

describe('the names of a CSV', () => {
  test('are few and short: each row repeats them as JSON', async () => {
    const type = 'text/csv';
    const names = Array.from({ length: 1000 }, (_, index) => `c${index}`);
    expect(await read(names.join(','), { type })).toMatchObject({ count: 0, keys: names });
    expect(await read([...names, 'x'].join(','), { type })).toEqual([
      'PGRST102',
      'The CSV has more than 1000 columns',
      null,
    ]);
    expect(await read(`id,${'é'.repeat(32)}\n1,2`, { type })).toEqual([
      'PGRST102',
      `The name "${'é'.repeat(32)}" in the CSV has more than 63 bytes`,
      null,
    ]);
  });
});

test('a large CSV leaves turns of the event loop to other requests', async () => {
  let turns = 0;
  let isRead = false;
  const count = (): void => {
    turns++;
    if (!isRead) setImmediate(count);
  };
  setImmediate(count);
  const { count: rows } = await readRows(`id,name\n${'1,ink\n'.repeat(150_000)}`, 'csv', {
    keysMayDiffer: false,
    isRelated: () => false,
  });
  isRead = true;
  expect(rows).toBe(150_000);
  // One for each 16 KiB of 900 KB.
  expect(turns).toBeGreaterThan(50);
});
