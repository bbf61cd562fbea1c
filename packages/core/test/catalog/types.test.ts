import { serverVersion } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import type { TypeFacts } from '../../src/catalog/type-facts.ts';
import { integer, integers, text, texts, useCatalog } from './support.ts';

const { create, query, read, routine, oid, value } = useCatalog(`
  create schema hidden;
  create schema shop;

  create domain hidden.isbn as text check (value <> 'x');
  create domain hidden.short_isbn as hidden.isbn not null;
  create domain hidden.tags as text[];
  create domain hidden.few_tags as hidden.tags;
  create type hidden.mood as enum ('sad', 'it''s, "ok"', 'happy');
  alter type hidden.mood add value 'fine' before 'happy';
  create type hidden.point as (x integer, y numeric(4,1));
  create domain hidden.place as hidden.point check ((value).x > 0);
  create type hidden.line as (name hidden.isbn, "from" hidden.point, places hidden.place[], moods hidden.mood[]);
  create type hidden.empty as ();
  create table hidden.gone (a integer, b text);
  alter table hidden.gone drop column a, drop column b;
  create type hidden.span as range (subtype = integer);

  create type hidden.temperature as enum ('hot', 'cold');
  create function hidden.temperature_json(hidden.temperature) returns json language sql as 'select to_json(length($1::text))';
  create cast (hidden.temperature as json) with function hidden.temperature_json(hidden.temperature);
  create domain hidden.weather as hidden.temperature;
  create type hidden.loud as enum ('A', 'B');
  create cast (hidden.loud as json) with inout;

  create function shop.take(isbn hidden.isbn, short hidden.short_isbn, tags hidden.few_tags, isbns hidden.isbn[], mood hidden.mood,
    span hidden.span, place hidden.place, line hidden.line, lines hidden.line[], letters bit, name varchar, code char)
    returns hidden.place language sql as 'select null::hidden.place';
  create function shop.nothing() returns hidden.empty language sql as 'select null::hidden.empty';
  create function shop.all_gone() returns setof hidden.gone language sql as 'select from hidden.gone';
  create function shop.statistics() returns setof pg_stats language sql as 'select * from pg_stats';
`);

async function parameterType(name: string): Promise<TypeFacts> {
  const { parameters } = await routine('take');
  return parameters.find((parameter) => parameter.name === name)!.type;
}

/** The common properties of all user-defined types of the schema. */
async function hidden(name: string, facts: Partial<TypeFacts>): Promise<TypeFacts> {
  const own = await oid(`hidden.${name}`);
  return {
    sql: `"hidden"."${name}"`,
    display: `hidden.${name}`,
    oid: own,
    baseOid: own,
    kind: 'base',
    json: 'string',
    textual: false,
    builtin: null,
    ...facts,
  };
}

const point = (): Promise<TypeFacts> =>
  hidden('point', {
    kind: 'composite',
    json: 'converted',
    fields: [
      { name: 'x', type: integer },
      { name: 'y', type: expect.objectContaining({ builtin: 'numeric', display: 'numeric(4,1)' }) },
    ],
  });

describe('domains have the properties of their base type and their own name', () => {
  test('over a base type, also through another domain', async () => {
    const isbn = await hidden('isbn', { baseOid: 25, textual: true, builtin: 'text' });
    expect(await parameterType('isbn')).toStrictEqual(isbn);
    expect(await parameterType('short')).toStrictEqual(
      await hidden('short_isbn', { baseOid: 25, textual: true, builtin: 'text' }),
    );
    expect(await parameterType('isbns')).toStrictEqual(
      await hidden('_isbn', { display: 'hidden.isbn[]', json: 'converted', element: isbn }),
    );
  });

  test('over an array', async () => {
    expect(await parameterType('tags')).toStrictEqual(
      await hidden('few_tags', { baseOid: texts.oid, json: 'converted', builtin: '_text', element: text }),
    );
  });

  test('over a composite', async () => {
    const place = await hidden('place', {
      ...(await pick(point())),
      baseOid: await oid('hidden.point'),
      rowType: '"hidden"."point"',
    });
    expect(await parameterType('place')).toStrictEqual(place);
    expect((await routine('take')).result).toStrictEqual({
      kind: 'composite',
      set: false,
      columns: place.fields,
      named: true,
      type: place,
      display: 'hidden.place',
    });
    expect(
      await query('select x, y from shop.take(null,null,null,null,null,null,null,null,null,null,null,null)'),
    ).toEqual([[null, null]]);
  });
});

async function pick(facts: Promise<TypeFacts>): Promise<Pick<TypeFacts, 'kind' | 'json' | 'fields'>> {
  const { kind, json, fields } = await facts;
  return { kind, json, fields: fields! };
}

describe('structure', () => {
  test('composites nest', async () => {
    const mood = await hidden('mood', { kind: 'enum', labels: ['sad', 'it\'s, "ok"', 'fine', 'happy'] });
    const place = await hidden('place', {
      ...(await pick(point())),
      baseOid: await oid('hidden.point'),
      rowType: '"hidden"."point"',
    });
    const line = await hidden('line', {
      kind: 'composite',
      json: 'converted',
      fields: [
        { name: 'name', type: await hidden('isbn', { baseOid: 25, textual: true, builtin: 'text' }) },
        { name: 'from', type: await point() },
        {
          name: 'places',
          type: await hidden('_place', { display: 'hidden.place[]', json: 'converted', element: place }),
        },
        { name: 'moods', type: await hidden('_mood', { display: 'hidden.mood[]', json: 'converted', element: mood }) },
      ],
    });
    expect(await parameterType('mood')).toStrictEqual(mood);
    expect(await parameterType('line')).toStrictEqual(line);
    expect(await parameterType('lines')).toStrictEqual(
      await hidden('_line', { display: 'hidden.line[]', json: 'converted', element: line }),
    );
  });

  test('composites without columns have no columns', async () => {
    expect((await routine('nothing')).result).toMatchObject({ kind: 'composite', columns: [], named: true });
    expect((await routine('all_gone')).result).toMatchObject({ kind: 'composite', columns: [], set: true });
  });

  test('ranges and multiranges', async () => {
    expect(await parameterType('span')).toStrictEqual(await hidden('span', { kind: 'range' }));
    if (serverVersion() < 14) return;
    await create(`create function shop.spans(int4multirange) returns integer language sql as 'select 1'`);
    const { type } = (await routine('spans')).parameters[0]!;
    expect(type).toMatchObject({ kind: 'range', builtin: 'int4multirange', json: 'string' });
  });

  test('bit and char have no length of one in their names', async () => {
    const cast = async (name: string, given: string): Promise<string | null> =>
      value(`select '${given}'::${(await parameterType(name)).sql}`);
    expect(await cast('letters', '10110')).toBe('10110');
    expect(await cast('code', 'abc')).toBe('abc');
    expect(await parameterType('code')).toMatchObject({ display: 'character', builtin: 'bpchar', textual: true });
  });

  test('columns of a pseudo-type, as system views have them', async () => {
    const { columns } = (await routine('statistics')).result;
    const type = columns.find(({ name }) => name === 'most_common_vals')?.type;
    expect(type).toMatchObject({ kind: 'pseudo', builtin: 'anyarray', json: 'converted' });
  });

  test('a type is read once and shared', async () => {
    const { parameters } = await routine('take');
    const [line, lines] = [parameters[7]!.type, parameters[8]!.type];
    expect(lines.element).toBe(line);
  });

  test('names do not depend on the search path', async () => {
    const before = await read();
    await query(`set search_path = hidden, shop, pg_catalog`);
    const after = await read();
    await query('reset search_path');
    expect(after).toStrictEqual(before);
  });
});

/** Values of every base type that a routine can return, and of user-defined types. */
const samples: readonly (readonly [type: string, value: string])[] = [
  ['int2', '-5'],
  ['int4', '7'],
  ['int8', '9007199254740993'],
  ['float4', '1.5'],
  ['float8', '1e300'],
  ['numeric', '12345678901234567890.10'],
  ['money', '12.5'],
  ['bool', 'true'],
  ['text', 'a "b" \\ c'],
  ['varchar', 'é'],
  ['bpchar', 'pad  '],
  ['name', 'me'],
  ['"char"', 'c'],
  ['bytea', '\\x00ff'],
  ['date', '2024-02-29'],
  ['date', 'infinity'],
  ['date', '0044-03-15 BC'],
  ['time', '11:06:59.5'],
  ['timetz', '11:06:59+02'],
  ['timestamp', '2024-01-12 11:06:59.334476'],
  ['timestamptz', '2024-01-12 11:06:59.334476+00'],
  ['interval', '1 day 02:03:04'],
  ['uuid', '0b6a1d1c-8d3e-4e0a-9d0c-111111111111'],
  ['json', '{"a" :  [1, null]}'],
  ['jsonb', '{"a": [1, null]}'],
  ['jsonpath', '$.a'],
  ['xml', '<a/>'],
  ['inet', '10.0.0.1/8'],
  ['cidr', '10.0.0.0/8'],
  ['macaddr', '08:00:2b:01:02:03'],
  ['bit', '101'],
  ['varbit', '101'],
  ['point', '(1,2)'],
  ['box', '(1,1),(0,0)'],
  ['path', '[(1,1),(0,0)]'],
  ['tsvector', "'a':1"],
  ['int4range', '[1,3)'],
  ['oid', '23'],
  ['regclass', 'pg_class'],
  ['xid', '5'],
  ['pg_lsn', '16/B374D848'],
  ['int2vector', '1 2'],
  ['oidvector', '1 2'],
  ['_int4', '{1,NULL}'],
  ['_text', '{a,"b c"}'],
  ['hidden.isbn', '978'],
  ['hidden.few_tags', '{a}'],
  ['hidden.mood', 'fine'],
  ['hidden.point', '(1,2.5)'],
  ['hidden.place', '(1,2.5)'],
  ['hidden.span', '[1,2)'],
  ['hidden.temperature', 'hot'],
  ['hidden.weather', 'cold'],
  ['hidden.loud', 'A'],
];

test('the JSON form is the one of to_json, for every kind of type', async () => {
  await query(`set time zone 'UTC'`);
  const list = samples.map(([type], index) => `c${index} ${type}`).join(', ');
  await create(`create type shop.sampled as (${list});
    create function shop.sample() returns shop.sampled language sql as 'select null::shop.sampled'`);
  const { columns } = (await routine('sample')).result;
  const wrong: unknown[] = [];

  for (const [index, [type, sample]] of samples.entries()) {
    const { sql, json: form } = columns[index]!.type;
    const given = `'${sample.replaceAll("'", "''")}'::${sql}`;
    const [[own, asText]] = (await query(`select to_json(${given}), ${given}`)) as [[string, string]];
    if (own !== written(form, asText, own)) wrong.push({ type, form, own, asText });
  }

  expect(columns).toHaveLength(samples.length);
  expect(wrong).toStrictEqual([]);
  expect(forms(columns)).toMatchObject({
    'hidden.temperature': 'converted',
    'hidden.weather': 'converted',
    'hidden.loud': 'string',
    int2vector: 'converted',
  });
});

/** Converts text to JSON in each form. Conversions by PostgreSQL are correct, but must not be plain strings. */
function written(form: TypeFacts['json'], given: string, own: string): string {
  switch (form) {
    case 'number':
    case 'json':
      return given;
    case 'boolean':
      return given === 't' ? 'true' : 'false';
    case 'timestamp':
      return `"${given.replace(' ', 'T')}"`;
    case 'timestamptz':
      return `"${given.replace(' ', 'T')}:00"`;
    case 'numberText':
    case 'string':
      return JSON.stringify(given);
    case 'converted':
      return own === JSON.stringify(given) ? 'a plain string' : own;
  }
}

function forms(columns: readonly { type: TypeFacts }[]): Readonly<Record<string, string>> {
  return Object.fromEntries(columns.map(({ type }) => [type.display, type.json]));
}

test('textual types are those that take an empty string', async () => {
  const textual = ['text', 'varchar', 'bpchar', 'name', 'citext', 'hidden.isbn'];
  await create(`create type citext;
    create function citext_in(cstring) returns citext immutable strict language internal as 'textin';
    create function citext_out(citext) returns cstring immutable strict language internal as 'textout';
    create type citext (input = citext_in, output = citext_out, like = text, category = 'S');
    create type shop.texts as (${textual.map((type, index) => `c${index} ${type}`).join(', ')}, j json, b bytea, x xml, u uuid);
    create function shop.textual() returns shop.texts language sql as 'select null::shop.texts'`);
  const { columns } = (await routine('textual')).result;
  expect(columns.map(({ type }) => [type.display, type.textual])).toStrictEqual([
    ['text', true],
    ['character varying', true],
    ['character', true],
    ['name', true],
    ['public.citext', true],
    ['hidden.isbn', true],
    ['json', false],
    ['bytea', false],
    ['xml', false],
    ['uuid', false],
  ]);
});

test('an array of integers is one type for parameters and fields alike', async () => {
  await create(`create function shop.many(a integer[]) returns integer[] language sql as 'select $1'`);
  const { parameters, result } = await routine('many');
  expect(parameters[0]!.type).toStrictEqual(integers);
  expect(result.columns[0]!.type).toBe(parameters[0]!.type);
});
