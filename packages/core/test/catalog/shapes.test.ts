import { serverVersion } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { boolean, date, integer, integers, jsonb, numeric, text, texts, timestamptz, useCatalog } from './support.ts';

const input = { hasDefault: false, variadic: false, mode: 'in' } as const;

const { create, query, read, routine, oid } = useCatalog(`
  create schema library;

  create function library.book_count() returns integer language sql stable as 'select 1';
  comment on function library.book_count() is E'How many.\\nHTTP GET';
  create function library.rename(_id integer, _title text) returns void language plpgsql strict as 'begin end';
  create function library.years() returns setof integer language sql immutable as 'select 1';
  create function library.nothings() returns setof void language sql as 'select';

  create table library.book (id integer, gone text, title varchar(10), price numeric(6,2));
  alter table library.book drop column gone;
  create function library.a_book() returns library.book language sql as 'select * from library.book limit 1';
  create function library.books() returns setof library.book language sql as 'select * from library.book';
  create view library.titles as select title, now() as at from library.book;
  create function library.all_titles() returns setof library.titles language sql as 'select * from library.titles';
  create table library.loan (at date, id integer) partition by range (at);
  create table library.loan_2024 partition of library.loan for values from ('2024-01-01') to ('2025-01-01');
  create function library.loans() returns setof library.loan_2024 language sql as 'select * from library.loan_2024';
  create function library.partitioned() returns setof library.loan language sql as 'select * from library.loan';

  create function library.search(_words text) returns table(a integer, b text) language sql as 'select 1, $1';
  create function library.one_column() returns table(t text) language sql as $$select 't'$$;
  create function library.spread() returns table(b library.book) language sql as 'select b from library.book b';

  create function library.one_out(out total integer) language sql as 'select 1';
  create function library.one_inout(inout n integer) language sql as 'select 1';
  create function library.unnamed_out(out integer) language sql as 'select 1';
  create function library.out_row(out b library.book) language sql as 'select b from library.book b';
  create function library.mixed(a integer, out b text, inout c integer, out boolean) language sql
    as $$select 'b'::text, 1, true$$;
  create function library.set_of_outs(out a integer, out b text) returns setof record language sql as $$select 1, 'b'::text$$;

  create function library.any_row() returns record language sql as 'select 1, 2';
  create function library.any_rows() returns setof record language sql as 'select 1, 2';
  create function library.out_record(out r record) language plpgsql as 'begin r := row(1, 2); end';
  create function library.record_among(out a integer, out r record) language plpgsql as 'begin end';

  create procedure library.do_it(a integer) language sql as 'select 1';
  create procedure library.do_inout(inout a integer) language sql as 'select 1';
`);

describe('scalar results', () => {
  test('one value is a column named after the routine', async () => {
    expect(await routine('book_count')).toStrictEqual({
      kind: 'function',
      schema: 'library',
      name: 'book_count',
      parameters: [],
      outputs: [],
      result: {
        kind: 'scalar',
        set: false,
        columns: [{ name: 'book_count', type: integer }],
        named: false,
        display: 'integer',
      },
      volatility: 'stable',
      strict: false,
      language: 'sql',
      comment: 'How many.\nHTTP GET',
      catalogComment: 'How many.\nHTTP GET',
      signature: 'library.book_count()',
    });
  });

  test('void has no column', async () => {
    expect(await routine('rename')).toStrictEqual({
      kind: 'function',
      schema: 'library',
      name: 'rename',
      parameters: [
        { ...input, name: '_id', position: 1, type: integer },
        { ...input, name: '_title', position: 2, type: text },
      ],
      outputs: [],
      result: { kind: 'void', set: false, columns: [], named: false, display: 'void' },
      volatility: 'volatile',
      strict: true,
      language: 'plpgsql',
      comment: null,
      catalogComment: null,
      signature: 'library.rename(_id integer, _title text)',
    });
    const { result } = await routine('nothings');
    expect(result).toStrictEqual({ kind: 'void', set: true, columns: [], named: false, display: 'SETOF void' });
  });

  test('a set of values', async () => {
    const { result, volatility } = await routine('years');
    expect(volatility).toBe('immutable');
    expect(result).toStrictEqual({
      kind: 'scalar',
      set: true,
      columns: [{ name: 'years', type: integer }],
      named: false,
      display: 'SETOF integer',
    });
  });

  test('a single output parameter gives the column its name, when it has one', async () => {
    const columns = async (name: string): Promise<unknown> => (await routine(name)).result.columns;
    expect(await columns('one_out')).toStrictEqual([{ name: 'total', type: integer }]);
    expect(await columns('one_inout')).toStrictEqual([{ name: 'n', type: integer }]);
    expect(await columns('unnamed_out')).toStrictEqual([{ name: 'unnamed_out', type: integer }]);
    expect((await routine('one_out')).result.kind).toBe('scalar');
  });
});

describe('rows', () => {
  const bookColumns = [
    { name: 'id', type: integer },
    { name: 'title', type: expect.objectContaining({ display: 'character varying(10)', builtin: 'varchar' }) },
    { name: 'price', type: { ...numeric, display: 'numeric(6,2)' } },
  ];

  test('a table type has its columns that are not dropped, with their modifiers', async () => {
    const type = {
      sql: '"library"."book"',
      display: 'library.book',
      oid: await oid('library.book'),
      baseOid: await oid('library.book'),
      kind: 'composite',
      json: 'converted',
      textual: false,
      builtin: null,
      fields: bookColumns,
    };
    const book = { kind: 'composite', set: false, columns: bookColumns, named: true, type, display: 'library.book' };
    expect((await routine('a_book')).result).toStrictEqual(book);
    expect((await routine('books')).result).toStrictEqual({ ...book, set: true, display: 'SETOF library.book' });
    expect((await routine('out_row')).result).toStrictEqual(book);
  });

  test('a single composite column of `returns table` is expanded, as in PostgreSQL', async () => {
    const { result } = await routine('spread');
    expect(result.columns).toStrictEqual(bookColumns);
    expect(result).toMatchObject({ kind: 'composite', set: true, named: true, display: 'TABLE(b library.book)' });
    expect(await query('select id, title, price from library.spread()')).toStrictEqual([]);
  });

  test('views and partitions have row types too', async () => {
    expect((await routine('all_titles')).result).toMatchObject({
      columns: [
        { name: 'title', type: { display: 'character varying(10)' } },
        { name: 'at', type: timestamptz },
      ],
      named: true,
      display: 'SETOF library.titles',
    });
    const loan = [
      { name: 'at', type: date },
      { name: 'id', type: integer },
    ];
    expect((await routine('loans')).result).toMatchObject({ columns: loan, display: 'SETOF library.loan_2024' });
    expect((await routine('partitioned')).result).toMatchObject({ columns: loan, display: 'SETOF library.loan' });
  });

  test('`returns table` has its own columns, also when there is only one', async () => {
    expect((await routine('search')).result).toStrictEqual({
      kind: 'composite',
      set: true,
      columns: [
        { name: 'a', type: integer },
        { name: 'b', type: text },
      ],
      named: false,
      display: 'TABLE(a integer, b text)',
    });
    expect((await routine('one_column')).result).toStrictEqual({
      kind: 'composite',
      set: true,
      columns: [{ name: 't', type: text }],
      named: false,
      display: 'TABLE(t text)',
    });
  });

  test('several output parameters form a row; unnamed ones have the names of PostgreSQL', async () => {
    const mixed = await routine('mixed');
    expect(mixed.parameters).toStrictEqual([
      { ...input, name: 'a', position: 1, type: integer },
      { ...input, name: 'c', position: 2, type: integer, mode: 'inout' },
    ]);
    expect(mixed.outputs).toStrictEqual([]);
    expect(mixed.result).toStrictEqual({
      kind: 'composite',
      set: false,
      columns: [
        { name: 'b', type: text },
        { name: 'c', type: integer },
        { name: 'column3', type: boolean },
      ],
      named: false,
      display: 'record',
    });
    expect(await query('select b, c, column3 from library.mixed(1, 2)')).toStrictEqual([['b', '1', 't']]);
    expect((await routine('set_of_outs')).result).toMatchObject({
      kind: 'composite',
      set: true,
      named: false,
      display: 'SETOF record',
    });
  });

  test('a record without a definition has no known columns', async () => {
    const result = { kind: 'record', set: false, columns: [], named: false, display: 'record' };
    expect((await routine('any_row')).result).toStrictEqual(result);
    expect((await routine('any_rows')).result).toStrictEqual({ ...result, set: true, display: 'SETOF record' });
    expect((await routine('out_record')).result).toStrictEqual(result);
  });

  test('a record among other output parameters is a column', async () => {
    const { columns } = (await routine('record_among')).result;
    expect(columns[1]).toStrictEqual({
      name: 'r',
      type: {
        sql: '"pg_catalog"."record"',
        display: 'record',
        oid: 2249,
        baseOid: 2249,
        kind: 'pseudo',
        json: 'converted',
        textual: false,
        builtin: 'record',
      },
    });
  });
});

describe('procedures', () => {
  test('without output parameters: void', async () => {
    expect(await routine('do_it')).toStrictEqual({
      kind: 'procedure',
      schema: 'library',
      name: 'do_it',
      parameters: [{ ...input, name: 'a', position: 1, type: integer }],
      outputs: [],
      result: { kind: 'void', set: false, columns: [], named: false, display: 'void' },
      volatility: 'volatile',
      strict: false,
      language: 'sql',
      comment: null,
      catalogComment: null,
      signature: 'library.do_it(a integer)',
    });
  });

  test('with one: a row of one column', async () => {
    const { parameters, outputs, result } = await routine('do_inout');
    expect(parameters).toStrictEqual([{ ...input, name: 'a', position: 1, type: integer, mode: 'inout' }]);
    expect(outputs).toStrictEqual([]);
    expect(result).toStrictEqual({
      kind: 'composite',
      set: false,
      columns: [{ name: 'a', type: integer }],
      named: false,
      display: 'record',
    });
  });

  test('output-only parameters have the position of the next input', async ({ skip }) => {
    if (serverVersion() < 14) skip('PostgreSQL 13 has none');
    await create(`create procedure library.do_out(out x integer, a integer, out text, out z text,
      inout b integer default 2) language sql as $$select 1, 'u'::text, 'z'::text, 2$$`);

    const { parameters, outputs, result, signature } = await routine('do_out');

    expect(parameters).toStrictEqual([
      { ...input, name: 'a', position: 1, type: integer },
      { ...input, name: 'b', position: 2, type: integer, hasDefault: true, defaultExpression: '2', mode: 'inout' },
    ]);
    expect(outputs).toStrictEqual([
      { name: 'x', before: 1 },
      { name: null, before: 2 },
      { name: 'z', before: 2 },
    ]);
    expect(result.columns.map(({ name }) => name)).toStrictEqual(['x', 'column2', 'z', 'b']);
    expect(signature).toBe('library.do_out(a integer, b integer)');
  });
});

describe('parameters', () => {
  test('defaults are counted, never parsed', async () => {
    await create(`create function library.defaulted(a integer, b text default 'x, y => (z',
      c text[] default array['1,2', 'b'], d jsonb default '{"a": [1, 2]}', e timestamptz default now() at time zone 'utc',
      f integer default greatest(1, 2)) returns integer language sql as 'select 1'`);

    const { parameters } = await routine('defaulted');

    const optional = { ...input, hasDefault: true };
    expect(parameters).toStrictEqual([
      { ...input, name: 'a', position: 1, type: integer },
      { ...optional, name: 'b', position: 2, type: text, defaultExpression: `'x, y => (z'::text` },
      { ...optional, name: 'c', position: 3, type: texts, defaultExpression: `ARRAY['1,2'::text, 'b'::text]` },
      { ...optional, name: 'd', position: 4, type: jsonb, defaultExpression: `'{"a": [1, 2]}'::jsonb` },
      {
        ...optional,
        name: 'e',
        position: 5,
        type: timestamptz,
        defaultExpression: expect.stringMatching(/^\(+now\(\) AT TIME ZONE 'utc'::text\)+$|^timezone\(/),
      },
      { ...optional, name: 'f', position: 6, type: integer, defaultExpression: 'GREATEST(1, 2)' },
    ]);
  });

  test('output parameters in between do not affect the count', async () => {
    await create(`create function library.between(a integer, out o integer, b integer default 1, out p integer)
      language sql as 'select 1, 2'`);
    const { parameters } = await routine('between');
    expect(
      parameters.map(({ name, hasDefault, defaultExpression }) => [name, hasDefault, defaultExpression]),
    ).toStrictEqual([
      ['a', false, undefined],
      ['b', true, '1'],
    ]);
  });

  test('names may be missing, all or some', async () => {
    await create(`create function library.unnamed(integer, text) returns integer language sql as 'select 1';
      create function library.partly(integer, b text, integer) returns integer language sql as 'select 1'`);
    const names = async (name: string): Promise<unknown> => (await routine(name)).parameters.map((one) => one.name);
    expect(await names('unnamed')).toStrictEqual([null, null]);
    expect(await names('partly')).toStrictEqual([null, 'b', null]);
    expect((await routine('partly')).signature).toBe('library.partly(integer, b text, integer)');
  });

  test('a variadic parameter is an array', async () => {
    await create(`create function library.sum(start integer, variadic numbers integer[] default '{}')
      returns integer language sql as 'select 1'`);
    const { parameters, signature } = await routine('sum');
    expect(parameters[1]).toStrictEqual({
      name: 'numbers',
      position: 2,
      type: integers,
      hasDefault: true,
      defaultExpression: `'{}'::integer[]`,
      variadic: true,
      mode: 'in',
    });
    expect(signature).toBe('library.sum(start integer, VARIADIC numbers integer[])');
  });

  test('overloads are separate routines, ordered by their types', async () => {
    await create(`create schema overloads;
      create function overloads.f(a text) returns integer language sql as 'select 1';
      create function overloads.f(a integer, b text) returns integer language sql as 'select 1';
      create function overloads.f(a integer) returns integer language sql as 'select 1';
      create function overloads.f() returns integer language sql as 'select 1';
      create function overloads.e(z text) returns integer language sql as 'select 1'`);
    const signatures = (await read({ includeSchemas: ['overloads'] })).map((one) => one.signature);
    expect(signatures).toStrictEqual([
      'overloads.e(z text)',
      'overloads.f()',
      'overloads.f(a integer)',
      'overloads.f(a integer, b text)',
      'overloads.f(a text)',
    ]);
  });
});

describe('names', () => {
  test.each([
    ['plain_1', 'plain_1'],
    ['Upper', '"Upper"'],
    ['with space', '"with space"'],
    ['qu"ote', '"qu""ote"'],
    ["apo'strophe", '"apo\'strophe"'],
    ['back\\slash', '"back\\slash"'],
    ['ünïcode 😀', '"ünïcode 😀"'],
    ['a,b{c}', '"a,b{c}"'],
    ['%s$1', '"%s$1"'],
    ['n'.repeat(63), 'n'.repeat(63)],
  ])('%s is kept as it is, and quoted in the signature where it would be misread', async (name, label) => {
    const quoted = `"${name.replaceAll('"', '""')}"`;
    await create(`create schema ${quoted};
      create type ${quoted}.${quoted} as (${quoted} integer);
      create function ${quoted}.${quoted}(${quoted} ${quoted}.${quoted}) returns ${quoted}.${quoted}
        language sql as 'select $1'`);

    const [found] = await read({ includeSchemas: [name] });

    expect(found).toMatchObject({
      schema: name,
      name,
      parameters: [{ name, type: { sql: `${quoted}.${quoted}`, kind: 'composite' } }],
      result: { columns: [{ name, type: integer }] },
      signature: `${label}.${label}(${label} ${label}.${label})`,
    });
    expect(await query(`select '(5)'::${found!.parameters[0]!.type.sql}`)).toStrictEqual([['(5)']]);
  });
});

test('all results are frozen', async () => {
  const unfrozen: unknown[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (!Object.isFrozen(value)) unfrozen.push(value);
    for (const member of Object.values(value)) visit(member);
  };
  const routines = await read();
  visit(routines);
  expect(routines.length).toBeGreaterThan(20);
  expect(unfrozen).toStrictEqual([]);
});
