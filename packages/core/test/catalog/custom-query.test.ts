import { describe, expect, test } from 'vitest';
import type { Routine } from '../../src/catalog/routine.ts';
import { integer, useCatalog } from './support.ts';

const { read } = useCatalog('');

const integerType = {
  oid: 23,
  schema: 'pg_catalog',
  name: 'int4',
  display: 'integer',
  kind: 'b',
  category: 'N',
  castToJson: false,
};

const routine = {
  kind: 'f',
  schema: 'app',
  name: 'f',
  types: [23],
  names: ['a'],
  modes: null,
  defaults: 0,
  returns: 23,
  set: false,
  volatility: 'v',
  strict: false,
  language: 'sql',
};

/** Returns a query with these facts as its rows. */
function rows(...facts: readonly (readonly [kind: string | null, facts: unknown])[]): string {
  const literal = (given: string | null): string => (given === null ? 'null' : `'${given.replaceAll("'", "''")}'`);
  const values = facts.map(([kind, members]) => `(${literal(kind)}, ${literal(JSON.stringify(members))})`);
  return `select * from (values ${values.join(', ')}) as listed (kind, facts)`;
}

const expected: Routine = {
  kind: 'function',
  schema: 'app',
  name: 'f',
  parameters: [{ name: 'a', position: 1, type: integer, hasDefault: false, variadic: false, mode: 'in' }],
  outputs: [],
  result: { kind: 'scalar', set: false, columns: [{ name: 'f', type: integer }], named: false, display: 'integer' },
  volatility: 'volatile',
  strict: false,
  language: 'sql',
  comment: null,
  signature: 'app.f(a integer)',
};

describe('a custom query', () => {
  test('replaces the built-in one; the order of its rows does not matter', async () => {
    expect(await read({}, rows(['routine', routine], ['type', integerType]))).toStrictEqual([expected]);
  });

  test('may end in a semicolon and a comment, be a common table expression, and write OIDs and JSON in its own way', async () => {
    const query = `with listed as (
        select 'routine' as kind, jsonb_build_object('kind', 'f', 'schema', 'app', 'name', 'f', 'types', array[23::oid],
          'names', array['a'], 'defaults', 0, 'returns', 23::oid, 'set', false, 'volatility', 'v', 'strict', false,
          'language', 'sql') as facts
        union all
        select 'type', jsonb_build_object('oid', oid, 'schema', 'pg_catalog', 'name', typname,
          'display', format_type(oid, null), 'kind', typtype, 'category', typcategory, 'castToJson', false)
        from pg_type where typname = 'int4')
      select 1 as ignored, facts, kind from listed ; -- the end`;
    expect(await read({}, query.replace(' -- the end', ''))).toStrictEqual([expected]);
    expect(await read({}, query.replace('; --', '--'))).toStrictEqual([expected]);
  });

  test('receives the filters as typed parameters and may omit any', async () => {
    const query = `select kind, facts from (${rows(['routine', routine], ['type', integerType])}) as listed
      where kind = 'type' or (cardinality($3) = 2 and $8 is null)`;
    expect(await read({ includeNames: ['f', 'g'] }, query)).toStrictEqual([expected]);
    expect(await read({ includeNames: ['f'] }, query)).toStrictEqual([]);
  });

  test('blank or null is none', async () => {
    expect(await read({}, '  ')).toStrictEqual([]);
    expect(await read({}, null)).toStrictEqual([]);
  });
});

describe('a malformed row is an error that names the member', () => {
  const start = 'The query that lists the catalog: ';
  const composite = { ...integerType, oid: 900, kind: 'c', fields: [{ name: 'f', type: 900 }] };

  test.each<[string, string]>([
    [rows(['function', routine]), 'row 1, kind must be one of type, routine; it is "function".'],
    [rows([null, routine]), 'row 1, kind must be one of type, routine; it is null.'],
    [`select 'type' as kind, null as facts`, 'row 1, facts must be a JSON object; it is null.'],
    [`select 'type' as kind, '{"oid": 1' as facts`, 'row 1, facts must be a JSON object; it is null.'],
    [rows(['routine', [1]]), 'row 1, facts must be a JSON object; it is [1].'],
    [rows(['type', integerType], ['routine', { ...routine, name: 5 }]), 'row 2, facts.name must be text; it is 5.'],
    [rows(['type', { ...integerType, schema: undefined }]), 'row 1, facts.schema must be text; it is missing.'],
    [rows(['type', { ...integerType, oid: 'int4' }]), 'row 1, facts.oid must be a whole number; it is "int4".'],
    [rows(['type', { ...integerType, oid: 2.5 }]), 'row 1, facts.oid must be a whole number; it is 2.5.'],
    [rows(['type', { ...integerType, kind: 'x' }]), 'row 1, facts.kind must be one of b, c, d, e, m, p, r; it is "x".'],
    [rows(['type', { ...integerType, castToJson: 't' }]), 'row 1, facts.castToJson must be true or false; it is "t".'],
    [rows(['type', { ...integerType, labels: [1] }]), 'row 1, facts.labels[0] must be text; it is 1.'],
    [rows(['type', { ...integerType, fields: 'a' }]), 'row 1, facts.fields must be an array; it is "a".'],
    [rows(['type', { ...integerType, fields: [{}] }]), 'row 1, facts.fields[0].name must be text; it is missing.'],
    [rows(['routine', routine]), 'row 1, facts.types[0] is type 23, which has no row.'],
    [rows(['routine', { ...routine, types: [] }]), 'row 1, facts.returns is type 23, which has no row.'],
    [rows(['routine', { ...routine, types: null }]), 'row 1, facts.types must be an array; it is null.'],
    [
      rows(['type', { ...integerType, kind: 'd' }], ['routine', routine]),
      'row 1, facts.base must be the type under the domain; it is null.',
    ],
    [
      rows(['type', integerType], ['routine', { ...routine, modes: ['i', 'o'] }]),
      'row 2, facts.modes must be as long as types (1); its length is 2.',
    ],
    [
      rows(['type', integerType], ['routine', { ...routine, modes: ['x'] }]),
      'row 2, facts.modes[0] must be one of i, o, b, v, t; it is "x".',
    ],
    [
      rows(['type', composite], ['routine', { ...routine, types: [900] }]),
      'row 1, facts describes type integer, which contains itself.',
    ],
  ])('%s', async (query, message) => {
    await expect(read({}, query)).rejects.toThrow(start + message);
    await expect(read({}, query)).rejects.toMatchObject({ name: 'MalformedRow' });
  });

  test('a missing column is the error of PostgreSQL', async () => {
    await expect(read({}, 'select 1 as kind')).rejects.toThrow('column custom.facts does not exist');
  });
});
