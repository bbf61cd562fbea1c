import { cases, useGateway } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Endpoint } from '@pgway/core';
import { createReadTargets } from '../../src/tables/read-targets.ts';
import { buildSelect } from '../../src/tables/select-query.ts';
import { context, request } from './statement-keys.ts';
import { tables } from './support.ts';

/* What a listing selects is compiled once for requests of one shape. A request has the statements and values that it would have without others. */

const own = useGateway(
  `
  create table author (id int primary key, name text not null);
  create table book (id int primary key, title text, author int references author, data jsonb);
  `,
  tables({ listing: true, listingLimits: { maxLimit: 50, defaultLimit: 10 } }),
);

const value = fc.constantFrom('1', '2', 'a*b', '"a,b"', '{1,2}', '(1,2)', 'null', 'true', '');
const list = fc.constantFrom('(1,2)', '(3)', '("a,b",c)', '()');
const state = fc.constantFrom('null', 'not_null');
const field = fc.constantFrom('id', 'title', 'data->>a', 'author');
const condition = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(field, fc.constantFrom('eq', 'not.eq', 'gt', 'like', 'eq(any)'), value, value) },
  fc.tuple(field, fc.constantFrom('in', 'not.in'), list, list),
  fc.tuple(field, fc.constant('is'), state, state),
);
const operator = fc.constantFrom('eq', 'not.eq', 'ilike');
/** Texts of one parameter in two requests. */
type Both = readonly [first: string, second: string];
const group = fc.array(condition, { minLength: 1, maxLength: 3 }).map((all): Both => {
  const text = (index: 2 | 3): string => `(${all.map((each) => `${each[0]}.${each[1]}.${each[index]}`).join(',')})`;
  return [text(2), text(3)];
});
const filter = fc
  .tuple(operator, value, value)
  .map(([word, ...both]): Both => [`${word}.${both[0]}`, `${word}.${both[1]}`]);
const count = fc.constantFrom('0', '1', '7', '49', '50', '51', '60');
const same = (...texts: readonly string[]): fc.Arbitrary<Both> =>
  fc.constantFrom(...texts).map((text): Both => [text, text]);
const given = fc.record(
  {
    select: same('id,author(name)', 'id,author!inner(name)', 'title::text,author(id)', 'data->a'),
    or: group,
    and: group,
    'author.name': filter,
    'author.limit': fc.tuple(count, count),
    'author.offset': fc.tuple(count, count),
    'author.order': same('name', 'name.desc'),
    'data->>a': filter,
  },
  { requiredKeys: ['select'] },
);

/** Returns the statements of a request, or its error. */
async function build(
  endpoint: Endpoint,
  texts: ReadonlyMap<string, string>,
  prefer: string | undefined,
): Promise<unknown> {
  const parameters = endpoint.parameters.filter(({ name }) => texts.has(name));
  const paths = [...texts].filter(([name]) => parameters.every((parameter) => parameter.name !== name));
  const values = parameters.map(({ name, repeatable }) =>
    repeatable === true ? JSON.stringify([texts.get(name)!]) : texts.get(name)!,
  );
  try {
    const { sql, headerQuery, columns, ...query } = await buildSelect({
      endpoint,
      parameters,
      values,
      request: request('', prefer === undefined ? {} : { prefer }),
      body: null,
      paths: new Map(paths.map(([name, text]) => [name, [text]])),
      context,
    });
    const textOf = (text: string | (() => string)): string => (typeof text === 'string' ? text : text());
    const head = headerQuery === undefined ? null : { ...headerQuery, sql: textOf(headerQuery.sql) };
    return { query: { ...query, toError: null }, sql: textOf(sql), head, columns };
  } catch (error) {
    return `${String(error)} ${JSON.stringify(error)}`;
  }
}

test('a listing after others of its shape has its own statements and values', async () => {
  const book = own.gateway.endpoints.find(({ name, table }) => name === 'book' && table!.operation === 'select')!;
  let compared = 0;
  const property = fc.asyncProperty(given, fc.constantFrom(undefined, 'count=exact'), async (all, prefer) => {
    const texts = (index: 0 | 1): ReadonlyMap<string, string> =>
      new Map(Object.entries(all).map(([name, both]) => [name, both[index]]));
    await build(book, texts(0), prefer);
    const compiled = await build(book, texts(1), prefer);
    // Endpoints that are loaded again have nothing that was compiled for others.
    const others = own.gateway.endpoints.map((endpoint) => ({ ...endpoint }));
    createReadTargets(others);
    const fresh = others.find(({ id }) => id === book.id)!;
    expect(compiled).toEqual(await build(fresh, texts(1), prefer));
    if (typeof compiled === 'object') compared++;
  });
  await fc.assert(property, { numRuns: cases(5_000) });
  expect(compared).toBeGreaterThan(50);
});
