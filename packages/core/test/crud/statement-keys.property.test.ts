import { cases, useGateway } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { QueryBuilder } from '../../src/ports/ports.ts';
import { buildSelect } from '../../src/tables/select-query.ts';
import { buildDelete, buildUpdate, createInsertBuilder } from '../../src/tables/write-queries.ts';
import { build, context, request, Statements } from './statement-keys.ts';
import { tables } from './support.ts';

const own = useGateway(
  `
  create extension citext;
  create table author (id int primary key, name text not null, "a"", b" citext, born date);
  create table book (id int primary key, "a""b" text, tag citext, author int references author, doc json, data jsonb, tags text[], during int4range, spot point, sold bool);
  `,
  tables({ listing: true }),
);

const builders: Readonly<Record<string, QueryBuilder>> = {
  select: buildSelect,
  updateReturning: buildUpdate,
  deleteReturning: buildDelete,
  insert: createInsertBuilder(null),
  insertOnConflictDoUpdate: createInsertBuilder('update'),
};

const value = fc.constantFrom(
  '1',
  '',
  'null',
  'eq.1',
  'eq.',
  'neq.',
  'neq.1',
  'not.neq.1',
  'gt.1',
  'lte.1',
  'not.lt.1',
  'in.(1,2)',
  'not.in.(1)',
  'is.null',
  'is.not_null',
  'not.is.null',
  'is.true',
  'like.*a',
  'ilike.a*',
  'not.like.a',
);
const order = fc.constantFrom('id', 'id.desc', 'tag.desc,sold.nullsfirst', 'tag.desc.nullslast,id.desc', 'sold,tag');
const listing = fc.record(
  {
    order,
    limit: fc.constantFrom('1', '2'),
    offset: fc.constantFrom('0', '3'),
    after: fc.constantFrom('{"1"}', '{"1","2"}', '{NULL,"2"}', '{"1",NULL,"2"}', '{"1","2","3"}'),
  },
  { requiredKeys: [] },
);
const names = ['id', 'a"b', 'tag', 'author', 'doc', 'data', 'tags', 'during', 'spot', 'sold'] as const;
const headers = fc.record(
  {
    prefer: fc.constantFrom('count=exact', 'return=representation', 'count=exact, return=representation'),
    'if-match': fc.constantFrom('*', '"1"'),
  },
  { requiredKeys: [] },
);

test('endpoints for rows', async () => {
  const statements = new Statements();
  const endpoints = own.gateway.endpoints.filter(({ name, table }) => name === 'book' && table!.operation in builders);
  expect(endpoints).toHaveLength(Object.keys(builders).length);
  const columns = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 4 });
  const property = fc.asyncProperty(
    fc.constantFrom(...endpoints),
    columns,
    listing,
    headers,
    async (endpoint, filters, page, given) => {
      const isSelect = endpoint.table!.operation === 'select';
      const values = new Map<string, string>(Object.entries(isSelect ? { ...filters, ...page } : filters));
      const parameters = endpoint.parameters.filter(({ name }) => values.has(name));
      const texts = parameters.map(({ name, repeatable }) => {
        const text = values.get(name)!;
        return repeatable === true && name !== 'after' ? JSON.stringify([text]) : text;
      });
      const input = {
        endpoint,
        parameters,
        values: texts,
        request: request('', given),
        body: null,
        paths: new Map(),
        context,
      };
      await build(statements, endpoint, async () => builders[endpoint.table!.operation]!(input));
    },
  );
  await fc.assert(property, { numRuns: cases(20_000) });
  expect(statements.conflicts).toEqual([]);
  expect(statements.size).toBeGreaterThan(200);
});
