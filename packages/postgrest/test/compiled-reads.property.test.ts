import type { Query } from '@pgway/core';
import { cases, useGateway } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { context, request } from '../../core/test/crud/statement-keys.ts';
import { buildPostgrestQuery } from '../src/build-query.ts';
import { postgrest } from './support.ts';

/* The statement of a shape is compiled once. A request has the statement and the values that it would have without others before it. */

const dialect = useGateway(
  `
  create extension citext;
  create table author (id int primary key, name text not null, tag citext);
  create table book (id int primary key, "a.b" text, author int references author, doc json, data jsonb, tags text[], during int4range, sold bool);
  `,
  postgrest({ crudTypes: ['select'], listingLimits: { maxLimit: 50, defaultLimit: 50 } }),
);

const value = fc.oneof(
  fc.constantFrom(
    '',
    '1',
    'a*b',
    '(1,2)',
    '("a,b",c)',
    '(a',
    'null',
    'not_null',
    'true',
    '{a,b}',
    '[1,2)',
    'eq.1',
    '.',
    ',',
    '"',
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ maxLength: 8 }),
);
const prefix = fc.constantFrom(
  ...'eq. not.eq. neq. isdistinct. gt. lte(any). in. not.in. is. like. ilike(any). match. cs. sl.'.split(' '),
  ...'fts. fts(english). fts(german). not. unknown. is(any).'.split(' '),
  '',
);
const name = fc.constantFrom(
  'id',
  'author',
  'author.name',
  'author.tag',
  '"a.b"',
  'doc->a',
  'data->>1',
  'tags',
  'sold',
  'unknown',
  'a.limit',
);
/** Parameters with the values of two requests. */
const filter = fc
  .tuple(name, prefix, value, value)
  .map(([key, word, ...both]) => both.map((text) => `${key}=${encode(word + text)}`));
const member = fc.tuple(fc.constantFrom('id', 'data->a', 'sold', '"a.b"'), prefix, value, value);
const group = fc
  .tuple(fc.constantFrom('and', 'or', 'not.or', 'author.or'), member, member)
  .map(([key, first, second]) =>
    [2, 3].map(
      (index) =>
        `${key}=${encode(`(${[first, second].map((each) => `${each[0]}.${each[1]}${each[index]!}`).join(',')})`)}`,
    ),
  );
const number = fc.constantFrom('0', '1', '2', '10', '49', '50', '51', '007', '-1', '1e2', '');
const page = fc
  .tuple(fc.constantFrom('limit', 'offset', 'author.limit', 'author.offset', 'below.limit'), number, number)
  .map(([key, ...both]) => both.map((text) => `${key}=${text}`));
const select = fc
  .constantFrom(
    'select=id,author(name)',
    'select=id,author!inner(name,tag)',
    'select=*',
    'select=id,below:author(id)',
    'order=id',
    'order=author(name)',
  )
  .map((text) => [text, text]);

function encode(text: string): string {
  return encodeURIComponent(text);
}

interface Built {
  readonly text: string;
  readonly key: unknown;
  readonly values: unknown;
  readonly sources: unknown;
}

/** Returns the statement of a request, or its error. */
async function build(query: string, headers: Readonly<Record<string, string>>): Promise<Built | string> {
  const endpoint = dialect.gateway.endpoints.find((each) => each.name === 'book')!;
  const input = {
    endpoint,
    parameters: [],
    values: [],
    request: request(query, headers),
    body: null,
    paths: new Map(),
    context,
  };
  try {
    const { sql, statementKey, values, valueSources } = (await buildPostgrestQuery(input)) as Query;
    return { text: typeof sql === 'string' ? sql : sql(), key: statementKey, values, sources: valueSources };
  } catch (error) {
    return JSON.stringify(error) + String((error as Error).message);
  }
}

test('a request after others of its shape has its own statement and values', async () => {
  let compared = 0;
  const property = fc.asyncProperty(
    fc.array(fc.oneof(filter, group, page, select), { maxLength: 4 }),
    fc.constantFrom(
      {},
      { prefer: 'count=exact' },
      { accept: 'text/csv' },
      { accept: 'application/vnd.pgrst.array+json;nulls=stripped' },
    ),
    async (parameters, headers) => {
      const [first, second] = [0, 1].map((index) => parameters.map((both) => both[index]!).join('&')) as [
        string,
        string,
      ];
      await build(first, headers);
      const compiled = await build(second, headers);
      // A request for a range is compiled for itself; this one is for all rows.
      expect(compiled).toEqual(await build(second, { ...headers, range: '0-' }));
      if (typeof compiled === 'object') compared++;
    },
  );
  await fc.assert(property, { numRuns: cases(10_000) });
  expect(compared).toBeGreaterThan(300);
});
