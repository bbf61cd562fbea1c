import { createGateway, type Gateway } from '@pgway/core';
import { serverVersion, useDatabase } from '@pgway/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codePoint } from '../support/code-point.ts';

/**
 * The JSON that the gateway writes of a value is what PostgreSQL's own `to_json` gives for it on the same server. Values are
 * random texts that the type can read. Names of columns and fields are such that the name converter leaves them alone, except
 * in `renamed`, where the expectation comes from a type of the same shape with the converted names.
 */

/** How many rows are compared per type; each run of the database takes all of them at once. */
const rowsPerType = Number(process.env['PGWAY_JSON_ROWS'] ?? 150);

interface Kind {
  readonly name: string;
  readonly type: string;
  readonly texts: fc.Arbitrary<string>;
}

const digits = (most: number): fc.Arbitrary<string> =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: most }).map((list) => list.join(''));
const sign = fc.constantFrom('', '-');
const padded = (value: number, width: number): string => String(value).padStart(width, '0');
const oneOf = fc.constantFrom<string[]>;

const everyControl = Array.from({ length: 0x9f }, (_, code) => String.fromCodePoint(code + 1)).join('');

/** Everything that UTF-8 and PostgreSQL know: all but NUL and lone surrogates. */
const characters = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
  { weight: 3, arbitrary: fc.string({ unit: codePoint, maxLength: 20 }) },
  {
    weight: 4,
    arbitrary: fc.string({
      unit: fc.oneof(
        fc.integer({ min: 1, max: 0x9f }).map((code) => String.fromCodePoint(code)),
        oneOf(
          '"',
          '\\',
          '/',
          '\u007f',
          '\u2028',
          '\u2029',
          '\ufeff',
          '\uffff',
          '🎈',
          '\u{10ffff}',
          'é',
          '<',
          '&',
          "'",
          '{',
          '}',
          ',',
        ),
      ),
      maxLength: 40,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      everyControl,
      everyControl.repeat(20),
      '\u0001'.repeat(3000),
      '"'.repeat(1025),
      'x'.repeat(1024),
      'x\n'.repeat(700),
      'NULL',
      '',
    ),
  },
);
const texts = characters.map((text) => text.replaceAll('\u0000', ''));

const integers = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const numerics = fc.oneof(
  fc.tuple(sign, digits(60), digits(60)).map(([minus, whole, part]) => `${minus}${whole}.${part}`),
  digits(300),
  fc
    .tuple(sign, digits(5), fc.integer({ min: -60, max: 60 }))
    .map(([minus, whole, power]) => `${minus}${whole}e${power}`),
  oneOf('NaN', '0', '-0', '0.0', '1.10', '100000000000000000000'),
);
const floats = fc.oneof(
  fc.double().map(floatText),
  fc.float().map(floatText),
  oneOf('NaN', 'Infinity', '-Infinity', '-0', '0', '1e300', '-1e-300', '1e15', '1e16', '123456.789', '4.9e-324'),
);
const singles = fc.oneof(
  fc.float({ noDefaultInfinity: true, noNaN: true, min: Math.fround(1e-30), max: Math.fround(1e30) }).map(String),
  oneOf('NaN', 'Infinity', '-Infinity', '-0', '1e30', '1e-30', '16777217'),
);

function floatText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

const years = fc.oneof(
  fc.integer({ min: 1, max: 9999 }),
  fc.integer({ min: 10_000, max: 290_000 }),
  fc.integer({ min: 1, max: 3000 }),
);
const dates = fc
  .tuple(years, fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
  .map(([year, month, day]) => `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`);
const era = oneOf('', '', '', ' BC');
/** The past before Christ ends for PostgreSQL in 4714. */
const eraDates = fc
  .tuple(dates, era)
  .map(([date, bc]) => (bc !== '' && Number(date.split('-')[0]) > 4000 ? date : date + bc));
const fraction = fc.oneof(
  fc.constant(''),
  digits(6).map((part) => `.${part}`),
);
const times = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 59 }), fraction)
  .map(([hour, minute, second, part]) => `${padded(hour, 2)}:${padded(minute, 2)}:${padded(second, 2)}${part}`);
const zones = oneOf('+00', '-03:30', '+14', '-12', '+05:45', '+01:23:45', 'Z');
const timestamps = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(dates, times, era).map(([date, time, bc]) => timestampText(date, time, '', bc)) },
  {
    weight: 1,
    arbitrary: oneOf('infinity', '-infinity', 'epoch', '0001-01-01 00:00:00 BC', '294276-12-31 23:59:59.999999'),
  },
);
const timestamptzs = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(dates, times, zones, era).map(([date, time, zone, bc]) => timestampText(date, time, zone, bc)),
  },
  { weight: 1, arbitrary: oneOf('infinity', '-infinity', 'epoch') },
);

function timestampText(date: string, time: string, zone: string, bc: string): string {
  const early = Number(date.split('-')[0]) <= 4000;
  return `${date} ${time}${zone}${early ? bc : ''}`;
}

const intervals = fc
  .tuple(fc.integer({ min: -5000, max: 5000 }), fc.integer({ min: -400, max: 400 }), sign, times)
  .map(([months, days, minus, time]) => `${months} months ${days} days ${minus}${time}`);
const bytes = fc.uint8Array({ maxLength: 40 }).map((value) => `\\x${Buffer.from(value).toString('hex')}`);
const bits = fc.array(oneOf('0', '1'), { maxLength: 40 }).map((list) => list.join(''));
const addresses = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([ip, mask]) => `${ip}/${mask}`),
);
const space = oneOf('', ' ', '\n', '\t', '\r\n', '  ');

/** JSON text with white space of all kinds, as only the type json keeps it. */
const jsonTexts: fc.Arbitrary<string> = fc.letrec<{ value: string; leaf: string; array: string; object: string }>(
  (tie) => ({
    leaf: fc.oneof(
      oneOf('null', 'true', 'false', '1', '-0.10', '1e5', '1E+2', '12345678901234567890.123'),
      texts.map((text) => JSON.stringify(text)),
    ),
    array: fc
      .tuple(fc.array(tie('value'), { maxLength: 3 }), space)
      .map(([items, blank]) => `[${blank}${items.join(`${blank},${blank}`)}${blank}]`),
    object: fc
      .tuple(fc.array(fc.tuple(texts, tie('value')), { maxLength: 3 }), space)
      .map(
        ([members, blank]) =>
          `{${blank}${members.map(([key, value]) => `${JSON.stringify(key)}${blank}:${blank}${value}`).join(`${blank},`)}${blank}}`,
      ),
    value: fc
      .tuple(space, fc.oneof({ maxDepth: 4 }, tie('leaf'), tie('array'), tie('object')), space)
      .map(([before, value, after]) => before + value + after),
  }),
).value;

const quotedElement = (text: string): string => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

function arrays(elements: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const items = fc.array(fc.option(elements.map(quotedElement), { nil: 'NULL' }), { maxLength: 4 });
  return fc.oneof(
    items.map((list) => `{${list.join(',')}}`),
    // All rows of a matrix are as long as the first.
    fc
      .tuple(fc.array(elements.map(quotedElement), { minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 3 }))
      .map(([row, times_]) => `{${Array.from({ length: times_ }, () => `{${row.join(',')}}`).join(',')}}`),
    fc.array(elements.map(quotedElement), { minLength: 2, maxLength: 2 }).map((list) => `[5:6]={${list.join(',')}}`),
  );
}

function records(...fields: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc
    .tuple(
      ...fields.map((field) =>
        fc.option(
          field.map((text) => `"${text.replaceAll(/["\\]/g, '$&$&')}"`),
          { nil: '' },
        ),
      ),
    )
    .map((list) => `(${list.join(',')})`);
}

const boundary = fc.tuple(oneOf('[', '('), oneOf(']', ')'));
const intRanges = fc.oneof(
  fc
    .tuple(boundary, fc.integer({ min: -1000, max: 0 }), fc.integer({ min: 1, max: 1000 }))
    .map(([[open, close], from, to]) => `${open}${from},${to}${close}`),
  oneOf('empty', '(,)', '[1,)', '(,5]'),
);
const timeRanges = fc.tuple(boundary, times, times).map(([[open, close], from, to]) => {
  const [first, last] = [`2024-01-01 ${from}+00`, `2025-01-01 ${to}+00`];
  return `${open}"${first}","${last}"${close}`;
});

const addressTexts = records(texts, fc.integer({ min: -100, max: 100 }).map(String));
const personTexts = records(texts, addressTexts, arrays(addressTexts), jsonTexts, timestamptzs, floats);

const kinds: readonly Kind[] = [
  { name: 'int2', type: 'smallint', texts: fc.integer({ min: -32768, max: 32767 }).map(String) },
  { name: 'int4', type: 'integer', texts: fc.integer().map(String) },
  { name: 'int8', type: 'bigint', texts: integers.map(String) },
  { name: 'numeric', type: 'numeric', texts: numerics },
  { name: 'money', type: 'money', texts: fc.integer({ min: -100000, max: 100000 }).map(String) },
  { name: 'float4', type: 'real', texts: singles },
  { name: 'float8', type: 'double precision', texts: floats },
  { name: 'oid', type: 'oid', texts: fc.integer({ min: 0, max: 4294967295 }).map(String) },
  { name: 'text', type: 'text', texts },
  { name: 'varchar', type: 'varchar', texts },
  { name: 'bpchar', type: 'char(5)', texts: digits(5) },
  { name: 'name', type: 'name', texts: digits(60) },
  { name: 'onechar', type: '"char"', texts: oneOf('a', '"', '\\', '\t', ' ') },
  { name: 'bool', type: 'boolean', texts: oneOf('t', 'f') },
  {
    name: 'date',
    type: 'date',
    texts: fc.oneof({ weight: 9, arbitrary: eraDates }, { weight: 1, arbitrary: oneOf('infinity', '-infinity') }),
  },
  { name: 'timestamp', type: 'timestamp', texts: timestamps },
  { name: 'timestamptz', type: 'timestamptz', texts: timestamptzs },
  { name: 'time', type: 'time', texts: fc.oneof(times, fc.constant('24:00:00')) },
  {
    name: 'timetz',
    type: 'timetz',
    texts: fc.tuple(times, oneOf('+00', '-03:30', '+14', '+05:45')).map(([time, zone]) => time + zone),
  },
  { name: 'interval', type: 'interval', texts: intervals },
  { name: 'uuid', type: 'uuid', texts: fc.uuid() },
  { name: 'bytea', type: 'bytea', texts: bytes },
  { name: 'json', type: 'json', texts: jsonTexts },
  { name: 'jsonb', type: 'jsonb', texts: jsonTexts.map((text) => text.replaceAll(String.raw`\u0000`, '')) },
  { name: 'jsonpath', type: 'jsonpath', texts: oneOf('$', '$."a b"[*]', '$.a ? (@ > 1)') },
  { name: 'inet', type: 'inet', texts: addresses },
  {
    name: 'macaddr',
    type: 'macaddr',
    texts: fc.uint8Array({ minLength: 6, maxLength: 6 }).map((value) => Buffer.from(value).toString('hex')),
  },
  { name: 'bit', type: 'bit(3)', texts: oneOf('000', '101', '111') },
  { name: 'varbit', type: 'varbit', texts: bits },
  { name: 'point', type: 'point', texts: fc.tuple(fc.integer(), fc.integer()).map(([x, y]) => `(${x},${y})`) },
  { name: 'tsvector', type: 'tsvector', texts: oneOf("'a':1 'b':2", "'it''s'", '') },
  { name: 'mood', type: 'mood', texts: oneOf('sad', 'so "so"', 'b\\s', 'é,{}') },
  { name: 'positive', type: 'positive', texts: fc.integer({ min: 1, max: 2 ** 31 - 1 }).map(String) },
  { name: 'document', type: 'document', texts: jsonTexts.map((text) => text.replaceAll(String.raw`\u0000`, '')) },
  { name: 'moment', type: 'moment', texts: timestamptzs },
  { name: 'int4range', type: 'int4range', texts: intRanges },
  { name: 'tstzrange', type: 'tstzrange', texts: timeRanges },
  { name: 'address', type: 'address', texts: addressTexts },
  { name: 'person', type: 'person', texts: personTexts },
  { name: 'homes', type: 'homes', texts: arrays(addressTexts) },
];

const multirange: Kind = {
  name: 'int4multirange',
  type: 'int4multirange',
  texts: fc.array(intRanges, { maxLength: 3 }).map((ranges) => `{${ranges.join(',')}}`),
};

/** Both the type itself and arrays of it. */
const columnsOf = (kind: Kind): readonly (readonly [string, string, fc.Arbitrary<string>])[] => [
  ['v', kind.type, kind.texts],
  // Deep arrays of arrays have no type of their own; the domain over an array is enough.
  ...(kind.name === 'homes' ? [] : ([['vs', `${kind.type}[]`, arrays(kind.texts)]] as const)),
];

const schema = `
  create type mood as enum ('sad', 'so "so"', E'b\\\\s', 'é,{}');
  create domain positive as int check (value > 0);
  create domain document as jsonb;
  create domain moment as timestamptz;
  create type address as (street text, zip int);
  create type person as (name text, home address, others address[], raw json, at timestamptz, number float8);
  create domain homes as address[];
  create type renamed_inner as (street_name text, _zip int, raw_json json);
  create type renamed as (full_name text, home_address renamed_inner, other_homes renamed_inner[], raw_json json, last_at timestamptz);
  create type plain_inner as ("streetName" text, zip int, "rawJson" json);
  create type plain_outer as ("fullName" text, "homeAddress" plain_inner, "otherHomes" plain_inner[], "rawJson" json, "lastAt" timestamptz);
`;

const database = useDatabase(schema);
let gateway: Gateway;
let tested: readonly Kind[] = kinds;

beforeAll(async () => {
  if (serverVersion() >= 14) tested = [...kinds, multirange];
  for (const kind of tested) {
    const columns = columnsOf(kind).map(([name, type]) => `${name} ${type}`);
    // Texts come as text, so that the type's own input function reads them, whatever a parameter would do.
    await database.query(`
      create table rows_of_${kind.name} (n int, ${columns.join(', ')});
      create function read_${kind.name}() returns table (${columns.join(', ')}) language sql stable as $$
        select ${columnsOf(kind)
          .map(([name]) => name)
          .join(', ')} from rows_of_${kind.name} order by n $$;
      comment on function read_${kind.name}() is 'HTTP GET /${kind.name}/rows';
      create function values_${kind.name}() returns setof ${kind.type} language sql stable as $$ select v from rows_of_${kind.name} order by n $$;
      comment on function values_${kind.name}() is 'HTTP GET /${kind.name}/values';`);
  }
  await database.query(`
    create table rows_of_renamed (n int, v renamed, vs renamed[]);
    create function read_renamed() returns table (v renamed, vs renamed[]) language sql stable as $$ select v, vs from rows_of_renamed order by n $$;
    comment on function read_renamed() is 'HTTP GET /renamed/rows';`);
  // Sharing is of no use here, and arrays of a composite's own set are another matter.
  gateway = await createGateway({ connectionString: database.connectionString, poolSize: 2 });
});

afterAll(() => gateway.close());

async function answered(path: string): Promise<string> {
  const response = await gateway.fetch(new Request(`http://x${path}`));
  const body = await response!.text();
  expect({ status: response!.status, type: response!.headers.get('content-type'), start: body[0] }).toEqual({
    status: 200,
    type: 'application/json',
    start: '[',
  });
  return body;
}

/** The text of each row's `to_json`, in the session settings of the gateway. */
async function expected(select: string): Promise<string> {
  const rows = await database.query(
    `select t.j from (select set_config('TimeZone', 'UTC', false)) as s, lateral (${select}) as t(n, j) order by t.n`,
  );
  return `[${rows.map(({ j }) => j as string).join(',')}]`;
}

/** Fills the table with random rows; what the type cannot read is a fault of the generator. */
async function fill(
  table: string,
  columns: readonly (readonly [string, string, fc.Arbitrary<string>])[],
): Promise<void> {
  const row = fc.tuple(...columns.map(([, , arbitrary]) => fc.option(arbitrary, { freq: 15 })));
  const rows = fc.sample(row, rowsPerType);
  const lists = columns.map((_, index) => rows.map((values) => values[index] ?? null));
  const casts = columns.map(([name, type]) => `${name}::${type}`);
  await database.query(`truncate ${table}`);
  await database.query(
    `insert into ${table} select row_number() over (), ${casts.join(', ')}
     from unnest(${columns.map((_, index) => `$${index + 1}::text[]`).join(', ')}) as u(${columns.map(([name]) => name).join(', ')})`,
    lists,
  );
}

describe('the JSON of random values is that of to_json', () => {
  test.each(kinds.map(({ name }) => name).concat(multirange.name))('%s', async (name) => {
    const kind = tested.find((one) => one.name === name);
    if (kind === undefined) return;
    await fill(`rows_of_${name}`, columnsOf(kind));
    const names = columnsOf(kind).map(([column]) => column);
    // One member at a time: to_json of each value, never of the row, so that keys and separators are the gateway's.
    const object = names
      .map((column) => `'"${column}":' || coalesce(to_json(${column})::text, 'null')`)
      .join(` || ',' || `);
    expect(await answered(`/${name}/rows`)).toBe(
      await expected(`select n, '{' || ${object} || '}' from rows_of_${name}`),
    );
    if (kind.type === 'address' || kind.type === 'person') return;
    expect(await answered(`/${name}/values`)).toBe(
      await expected(`select n, coalesce(to_json(v)::text, 'null') from rows_of_${name}`),
    );
  });

  test('composites whose fields are renamed', async () => {
    const inner = records(texts, fc.integer({ min: 0, max: 99 }).map(String), jsonTexts);
    const outer = records(texts, inner, arrays(inner), jsonTexts, timestamptzs);
    await fill('rows_of_renamed', [
      ['v', 'renamed', outer],
      ['vs', 'renamed[]', arrays(outer)],
    ]);
    const object = `'{"v":' || coalesce(to_json(v::text::plain_outer)::text, 'null') || ',"vs":' || coalesce(to_json(vs::text::plain_outer[])::text, 'null') || '}'`;
    expect(await answered('/renamed/rows')).toBe(await expected(`select n, ${object} from rows_of_renamed`));
  });
});
