import { crudSource, functionsSource } from '@pgway/core';
import { cases, startGateway, useGateway } from '@pgway/testing';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { json, plain, text } from './support.ts';

const sql = `
  create domain amount as numeric;
  create type part as (id bigint, price amount, n int, ids bigint[], more jsonb);
  create type whole as (the_part part, parts part[], total numeric(20, 2));
  create function value_of(_id bigint) returns bigint language sql immutable as $$ select _id $$;
  create function values_of() returns setof bigint language sql stable as $$ values (9007199254740993), (null), (-1) $$;
  create function array_of() returns numeric[] language sql immutable as $$ select '{{1.10,NULL},{NaN,-0.5}}'::numeric[] $$;
  create function rows_of() returns table (id bigint, n int, x float8, price amount, day date, doc jsonb)
    language sql stable as $$ values (9223372036854775807, 1, 1.5::float8, 'NaN'::amount, '2025-01-01'::date, '{"id": 1}'::jsonb), (null, null, null, 1e30, null, '12') $$;
  create function whole_of() returns whole language sql stable as
    $$ select row(row(1, 2.50, 3, '{4,NULL}', '{"id": 5}'), array[row(6, null, 7, null, '[8]')::part, null], 9.99)::whole $$;
  create function echo(_whole whole) returns whole language sql immutable as $$ select _whole $$;
  create procedure count_up(inout _n bigint, inout _all bigint[]) language sql as $$ select _n + 1, _all || _n $$;
`;
const names = ['value_of', 'values_of', 'array_of', 'rows_of', 'whole_of', 'echo'];
const published = (word: string): string =>
  [...names.map((name) => `function ${name}`), 'procedure count_up']
    .map((name) => `comment on ${name} is 'HTTP POST\nparam_type query\n${word}';`)
    .join('\n');

const rows = (first: string, second: string): string =>
  `[{"id":${first},"n":1,"x":1.5,"price":"NaN","day":"2025-01-01","doc":{"id": 1}},` +
  `{"id":null,"n":null,"x":null,"price":${second},"day":null,"doc":12}]`;
const numbers = rows('9223372036854775807', '1000000000000000000000000000000');
const texts = rows('"9223372036854775807"', '"1000000000000000000000000000000"');
const wholeText =
  '{"thePart":{"id":"1","price":"2.50","n":3,"ids":["4",null],"more":{"id": 5}},' +
  '"parts":[{"id":"6","price":null,"n":7,"ids":null,"more":[8]},null],"total":"9.99"}';
const parameter = 'IEEE754Compatible=true';

describe('large_numbers string', () => {
  const gateway = useGateway(sql + published('large_numbers string'));
  const post = async (path: string, accept?: string) =>
    plain(await gateway.send(`POST /api/${path}`, accept === undefined ? {} : { headers: { accept } }));

  test('rows, sets, arrays, composites, and output of procedures', async () => {
    expect(await post('rows-of')).toEqual(json(texts));
    expect(await post('values-of')).toEqual(json('["9007199254740993",null,"-1"]'));
    expect(await post('array-of')).toEqual(json('[["1.10",null],["NaN","-0.5"]]'));
    expect(await post('whole-of')).toEqual(json(wholeText));
    expect(await post('count-up?n=9007199254740993&all=1&all=2')).toEqual(
      json('{"n":"9007199254740994","all":["1","2","9007199254740993"]}'),
    );
  });

  test('a single number is the text of the response', async () => {
    expect(await post('value-of?id=9007199254740993')).toEqual(text('9007199254740993'));
  });

  test('NDJSON and CSV', async () => {
    const lines = await post('rows-of', 'application/x-ndjson');
    expect(lines.body).toBe(`${texts.slice(1, -1).replace('},{"id":null', '}\n{"id":null')}\n`);
    const csv = await post('rows-of', 'text/csv');
    expect(csv.body.split('\n')[1]).toBe('9223372036854775807,1,1.5,NaN,2025-01-01,"{""id"": 1}"');
  });
});

describe('large_numbers negotiated', () => {
  const gateway = useGateway(
    `${sql}${published('large_numbers negotiated')}
    create table called (at int);
    create function slow_count() returns table (id bigint) language sql stable as $$ select 5::bigint $$;
    comment on function slow_count is 'HTTP GET
    large_numbers negotiated
    cached';`,
  );
  const post = async (path: string, accept: string) => {
    const { status, type, body, headers } = await gateway.send(`POST /api/${path}`, { headers: { accept } });
    return { status, type, body, vary: headers.get('vary') };
  };

  test.each([
    ['*/*', 'application/json', numbers],
    ['application/json', 'application/json', numbers],
    ['application/json;IEEE754Compatible=false', 'application/json', numbers],
    [`application/json;${parameter}`, `application/json;${parameter}`, texts],
    ['application/json; ieee754compatible="TRUE"', `application/json;${parameter}`, texts],
    [`image/png, application/json;${parameter};q=0.5, application/json;q=0.4`, `application/json;${parameter}`, texts],
    [`application/json, application/json;${parameter};q=0.4`, 'application/json', numbers],
    [`${parameter}, ;;;=`, 'application/json', numbers],
  ])('Accept: %s', async (accept, type, body) => {
    expect(await post('rows-of', accept)).toEqual({ status: 200, type, body, vary: 'accept' });
  });

  test('lines, composites and arrays', async () => {
    const lines = await post('values-of', `application/x-ndjson;${parameter}`);
    expect(lines).toMatchObject({
      type: `application/x-ndjson;${parameter}`,
      body: '"9007199254740993"\nnull\n"-1"\n',
    });
    const accept = `application/json;${parameter}`;
    expect(await post('whole-of', accept)).toMatchObject({ type: accept, body: wholeText, vary: 'accept' });
    expect(await post('array-of', accept)).toMatchObject({ body: '[["1.10",null],["NaN","-0.5"]]' });
    expect(await post('whole-of', '*/*')).toMatchObject({
      body: wholeText.replaceAll(/"(\d[\d.]*)"/g, '$1'),
      vary: 'accept',
    });
  });

  test('a single number has one form', async () => {
    const response = await post('value-of?id=5', `application/json;${parameter}`);
    expect(response).toEqual({ status: 200, type: 'text/plain; charset=utf-8', body: '5', vary: null });
  });

  test('the cache and shared calls keep the forms apart', async () => {
    const get = async (accept: string) => (await gateway.send('GET /api/slow-count', { headers: { accept } })).body;
    const accepts = ['*/*', `application/json;${parameter}`];
    const expected = ['[{"id":5}]', '[{"id":"5"}]'];
    const sent = Array.from({ length: 20 }, (_, index) => get(accepts[index % 2]!));
    expect(await Promise.all(sent)).toEqual(sent.map((_, index) => expected[index % 2]));
    expect(await Promise.all(accepts.map(get))).toEqual(expected);
  });
});

test('for all endpoints, with tables: the same row can be written', async () => {
  const gateway = await startGateway(
    `create table item (id bigint primary key, price numeric, tags int[]);
     comment on table item is 'HTTP';
     create function plain_id() returns table (id bigint) language sql stable as $$ select 1::bigint $$;
     comment on function plain_id is 'HTTP
     large_numbers number';`,
    { largeNumbers: 'string', routineSources: [functionsSource(), crudSource()] },
  );
  onTestFinished(() => gateway.close());
  const row = { id: '9007199254740993', price: '0.30000000000000000001', tags: [1] };
  const { status, body } = await gateway.send('PUT /api/item/returning', { body: row });
  expect([status, JSON.parse(body)]).toEqual([200, [row]]);
  expect(plain(await gateway.send('GET /api/item?id=9007199254740993'))).toEqual(json(JSON.stringify([row])));
  expect((await gateway.send('GET /api/plain-id')).body).toBe('[{"id":1}]');
});

describe('random values', () => {
  const gateway = useGateway(sql + published('large_numbers negotiated').replaceAll('param_type query', ''));
  const int8 = fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String));
  const numeric = fc.option(
    fc
      .tuple(fc.boolean(), fc.bigInt({ min: 1n, max: 10n ** 40n }), fc.stringMatching(/^\d{1,20}$/))
      .map(([isNegative, whole, fraction]) => `${isNegative ? '-' : ''}${whole}.${fraction}`),
  );
  const document = fc.option(fc.constantFrom({ id: 1, 'a b': [2, '3'] }, [1.5], ['text, "4"'], 7), {
    nil: undefined,
  });
  const part = fc.option(
    fc.record({ id: int8, price: numeric, n: fc.option(fc.integer()), ids: fc.option(fc.array(int8)), more: document }),
  );
  const whole = fc.record({ thePart: part, parts: fc.option(fc.array(part)), total: fc.constantFrom(null, '-1.25') });

  test('large numbers become strings, and nothing else changes', async () => {
    await fc.assert(
      fc.asyncProperty(whole, async (value) => {
        const send = async (accept: string) =>
          (await gateway.send('POST /api/echo', { headers: { accept }, body: { whole: value } })).body;
        const [strings, plainNumbers] = [await send(`application/json;${parameter}`), await send('*/*')];
        const withNull = (one: typeof value.thePart) => one && { ...one, more: one.more ?? null };
        expect(JSON.parse(strings)).toEqual({
          thePart: withNull(value.thePart),
          parts: value.parts?.map(withNull) ?? null,
          total: value.total,
        });
        // The digits are the same: only the quotes of these keys differ.
        const unquoted = strings
          .replaceAll(/("(?:id|price|total)":)"(-?[\d.]+)"/g, '$1$2')
          .replaceAll(/"ids":\[[^\]]*\]/g, (list) => list.replaceAll(/"(-?\d+)"/g, '$1'));
        expect(unquoted).toBe(plainNumbers);
      }),
      { numRuns: cases(150) },
    );
  });
});
