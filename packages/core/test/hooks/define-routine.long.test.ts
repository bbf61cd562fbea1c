import { defineRoutine, functionsSource, Problem, StartError } from '@pgway/core';
import { serverVersion, startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

const sql = `
  create schema shop;
  create domain shop.sku as text check (value ~ '^[a-z]+$');
  create type shop.color as enum ('red', 'blue');
  create table shop.article (sku shop.sku primary key, color shop.color not null, price numeric not null, tags text[]);
  insert into shop.article values ('chair', 'red', 10.50, '{wood,new}'), ('table', 'blue', 99, null);
`;

describe('a routine whose query the host writes', () => {
  const articles = defineRoutine({
    schema: 'shop',
    name: 'articles',
    comment: 'HTTP GET /articles',
    parameters: { color: { type: 'shop.color', optional: true }, at_most: { type: 'numeric', optional: true } },
    returns: { rows: { sku: 'shop.sku', color: 'shop.color', price: 'numeric', tags: 'text[]' } },
    volatility: 'stable',
    query: `select sku, color, price, tags from shop.article
            where ($1::shop.color is null or color = $1) and ($2::numeric is null or price <= $2) order by sku`,
  });
  const count = defineRoutine({
    name: 'article_count',
    returns: 'int8',
    volatility: 'stable',
    query: 'select count(*) from shop.article',
  });
  const skus = defineRoutine({
    name: 'skus',
    returns: { values: 'text' },
    volatility: 'stable',
    query: 'select sku::text from shop.article order by 1',
  });
  const one = defineRoutine({
    name: 'article',
    comment: 'HTTP GET /article/{sku}',
    parameters: { sku: 'shop.sku' },
    returns: { row: { sku: 'text', price: 'numeric' } },
    volatility: 'stable',
    query: ({ values }) => ({ sql: 'select sku::text, price from shop.article where sku = $1', values }),
  });
  const reprice = defineRoutine({
    name: 'reprice',
    parameters: { sku: 'shop.sku', price: 'numeric' },
    query: 'update shop.article set price = $2 where sku = $1',
  });
  const gateway = useGateway(sql, { routineSources: [functionsSource(), articles, count, skus, one, reprice] });

  test.each([
    [
      'GET /articles',
      200,
      '[{"sku":"chair","color":"red","price":10.50,"tags":["wood","new"]},{"sku":"table","color":"blue","price":99,"tags":null}]',
    ],
    ['GET /articles?color=blue', 200, '[{"sku":"table","color":"blue","price":99,"tags":null}]'],
    ['GET /articles?atMost=50', 200, '[{"sku":"chair","color":"red","price":10.50,"tags":["wood","new"]}]'],
    ['GET /api/article-count', 200, '2'],
    ['GET /api/skus', 200, '["chair","table"]'],
    ['GET /article/chair', 200, '{"sku":"chair","price":10.50}'],
  ])('%s', async (line, status, body) => {
    const answer = await gateway.send(line);
    expect([answer.status, answer.body]).toEqual([status, body]);
  });

  test('a call without a result changes data', async () => {
    const answer = await gateway.send('POST /api/reprice', { body: { sku: 'table', price: 98.5 } });
    expect([answer.status, answer.body]).toEqual([204, '']);
    expect((await gateway.send('GET /article/table')).body).toBe('{"sku":"table","price":98.5}');
    await gateway.send('POST /api/reprice', { body: { sku: 'table', price: 99 } });
  });

  test.each([
    ['GET /articles?color=green', 400, 'invalid-parameter'],
    ['GET /articles?size=1', 400, 'unknown-parameter'],
    ['POST /api/reprice', 400, 'missing-parameter'],
  ])('%s is refused as for a function of the database', async (line, status, code) => {
    const answer = await gateway.send(line, line.startsWith('POST') ? { body: { sku: 'table' } } : {});
    expect([answer.status, (JSON.parse(answer.body) as { type: string }).type]).toEqual([
      status,
      `urn:pgway:problem:${code}`,
    ]);
  });

  test('a statement that leaves the session as it is shares its connection; a function of the host may not', () => {
    const uses = gateway.gateway.endpoints.map(({ id, sessionEffects }) => [id, sessionEffects?.alters ?? false]);
    expect(Object.fromEntries(uses)).toMatchObject({
      'public.article_count()': false,
      'public.article(sku shop.sku)': true,
    });
  });
});

test('the statement of a query text is prepared once', async () => {
  const statements = defineRoutine({
    name: 'statements',
    returns: { values: 'text' },
    query: `select name from pg_catalog.pg_prepared_statements where statement like '%the mark of this one%'`,
    comment: 'HTTP\nconnection_reset off',
  });
  const gateway = await startGateway('select', { routineSources: [statements] });
  const bodies = [];
  for (let call = 0; call < 3; call++) bodies.push((await gateway.send('POST /api/statements')).body);
  await gateway.close();
  expect(bodies[0]).toMatch(/^\["pgway_\d+"\]$/);
  expect(new Set(bodies).size).toBe(1);
});

test('routines with one name and the same types keep their queries', async () => {
  const define = (parameter: string, path: string, query: string) =>
    defineRoutine({
      name: 'search',
      comment: `HTTP GET ${path}`,
      parameters: { [parameter]: 'text' },
      returns: 'text',
      volatility: 'stable',
      query,
    });
  const sources = [
    define('title', '/by-title', `select 'title ' || $1`),
    define('author', '/by-author', `select 'author ' || $1`),
    define('author', '/by-name', `select 'name ' || $1`),
  ];
  const gateway = await startGateway('select', { routineSources: sources });
  const lines = ['GET /by-title?title=a', 'GET /by-author?author=b', 'GET /by-name?author=c'];
  const bodies = await Promise.all(lines.map(async (line) => (await gateway.send(line)).body));
  await gateway.close();
  expect(bodies).toEqual(['title a', 'author b', 'name c']);
});

test.each([
  [
    'int5',
    /^the routine public\.wrong: there is no type "int5"; a type outside pg_catalog needs its schema, such as public\.int5$/,
  ],
  ['shop.nothing', /^the routine public\.wrong: there is no type "shop\.nothing"; create it, or correct the name$/],
  ['record', /^the routine public\.wrong: "record" is a pseudo-type; use a type that values can have$/],
  ['int4; drop table x', /^the routine public\.wrong: /],
])('the type %s stops the start', async (type, message) => {
  const wrong = defineRoutine({ name: 'wrong', parameters: { a: type }, query: 'select $1' });
  const start = startGateway('create schema shop', { routineSources: [wrong] });
  await expect(start).rejects.toThrow(StartError);
  await expect(start).rejects.toThrow(message);
});

test('a problem of the host is the answer, with a code and a type of its own', async () => {
  const gateway = await startGateway(sql, {
    routineSources: [
      defineRoutine({
        name: 'order',
        parameters: { sku: 'text' },
        query: ({ values: [sku] }) => {
          throw new Problem('out-of-stock', {
            status: 409,
            title: 'The article is out of stock',
            detail: `There is no ${String(sku)} left.`,
            members: { sku },
            headers: ['retry-after', '3600'],
          });
        },
      }),
    ],
  });
  const answer = await gateway.send('POST /api/order', { body: { sku: 'chair' } });
  expect([answer.status, answer.type, answer.headers.get('retry-after'), JSON.parse(answer.body)]).toEqual([
    409,
    'application/problem+json',
    '3600',
    {
      type: 'urn:problem:out-of-stock',
      title: 'The article is out of stock',
      status: 409,
      detail: 'There is no chair left.',
      sku: 'chair',
    },
  ]);
  await gateway.close();
});

test.each([
  [
    'Out of stock',
    { status: 409, title: 'x' },
    'new Problem("Out of stock"): the code must be in kebab case, such as "out-of-stock"',
  ],
  [
    'out-of-stock',
    { status: 200, title: 'x' },
    'new Problem("out-of-stock"): a code of your own needs a status from 400 to 599',
  ],
  ['out-of-stock', { status: 409, title: '' }, 'new Problem("out-of-stock"): a code of your own needs a title'],
])('a problem %j with %j is a mistake of the host', (code, details, message) => {
  expect(() => new Problem(code, details)).toThrow(new TypeError(message));
});

test.each<[unknown, string]>([
  [undefined, 'defineRoutine: options: must be an object of options, not undefined'],
  [{ name: 'people' }, 'defineRoutine "people": query: is missing; it must be text that is not empty or a function'],
  [
    { name: 'people', query: 'select 1', return: 'int4' },
    'defineRoutine "people": return: unknown option; did you mean returns?',
  ],
  [
    { name: 'people', query: 'select 1', volatility: 'stabel' },
    'defineRoutine "people": volatility: must be one of "volatile", "stable", "immutable", not "stabel"; did you mean "stable"?',
  ],
  [
    { name: 'people', query: 'select 1', parameters: { age: { typ: 'int4' } } },
    `defineRoutine "people": parameters.age.type: is missing; it must be text that is not empty
defineRoutine "people": parameters.age.typ: unknown option; did you mean parameters.age.type?`,
  ],
  [
    { name: 'people', query: 'select 1', parameters: ['int4'] },
    'defineRoutine "people": parameters: must be an object, not a list',
  ],
  [
    { name: 'people', query: 'select 1', returns: { row: 'int4' } },
    'defineRoutine "people": returns.row: must be an object, not "int4"',
  ],
  [
    { name: 'people', query: 'select 1', returns: { row: { id: 'int4' }, values: 'int4' } },
    'defineRoutine "people": returns: must have exactly one of values, row and rows',
  ],
  [
    { name: 'people', query: 'select 1', returns: { rows: {} } },
    'defineRoutine "people": returns.rows: has no columns; name them, or use void for a query without a result',
  ],
])('an invalid definition %j is refused', (definition, message) => {
  expect(() => defineRoutine(definition as never)).toThrow(new StartError(message));
});

test.runIf(serverVersion() >= 13)('types of other versions resolve as well', async () => {
  const source = defineRoutine({
    name: 'now',
    returns: 'timestamptz',
    volatility: 'stable',
    query: `select '2020-01-02 03:04:05+00'::timestamptz`,
  });
  const gateway = await startGateway('', { routineSources: [source] });
  expect((await gateway.send('GET /api/now')).body).toMatch(/^"?2020-01-0/);
  await gateway.close();
});
