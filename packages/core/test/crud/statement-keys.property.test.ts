import type { Endpoint } from '@pgway/core';
import { cases, useGateway } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Problem } from '../../src/http/problem.ts';
import type { Query, QueryBuilder } from '../../src/ports/ports.ts';
import { buildPostgrestQuery } from '../../src/tables/postgrest/build-query.ts';
import { buildSelect } from '../../src/tables/select-query.ts';
import { buildDelete, buildUpdate, createInsertBuilder } from '../../src/tables/write-queries.ts';
import { postgrest } from '../postgrest/support.ts';
import { tables } from './support.ts';

/* A statement is prepared once for its key: statements with one key have one text, and a text has one key. */

const objects = `
  create extension citext;
  create table author (id int primary key, name text not null, "a"", b" citext, born date);
  create table book (id int primary key, "a""b" text, tag citext, author int references author, doc json, data jsonb, tags text[], during int4range, spot point, sold bool);
`;
const own = useGateway(objects, tables({ listing: true }));
const dialect = useGateway(objects, postgrest({ crudTypes: 'all' }));

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

const request = (query: string, given: Readonly<Record<string, string>>, method = 'GET'): never =>
  ({ query, method, header: (name: string) => given[name] }) as never;

/** The statements of endpoints. */
class Statements {
  readonly #texts = new Map<string, string>();
  readonly #keys = new Map<string, string>();
  /** Keys with several texts, and texts with several keys. */
  readonly conflicts: string[] = [];

  get size(): number {
    return this.#texts.size;
  }

  add(endpoint: Endpoint, query: Query): void {
    for (const statement of [query, query.headerQuery]) {
      if (statement === undefined) continue;
      const text = typeof statement.sql === 'string' ? statement.sql : statement.sql();
      const key = `${endpoint.id} ${statement.statementKey!}`;
      this.#keep(this.#texts, key, text);
      this.#keep(this.#keys, `${endpoint.id} ${text}`, key);
    }
  }

  #keep(values: Map<string, string>, name: string, value: string): void {
    const known = values.get(name) ?? value;
    if (known !== value) this.conflicts.push(`${name}: ${known} and ${value}`);
    values.set(name, value);
  }
}

/** Adds the query that is built; a refused request has none. */
async function build(statements: Statements, endpoint: Endpoint, query: () => Query | Promise<Query>): Promise<void> {
  try {
    statements.add(endpoint, await query());
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

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
      const input = { endpoint, parameters, values: texts, request: request('', given), body: null };
      await build(statements, endpoint, async () => builders[endpoint.table!.operation]!(input));
    },
  );
  await fc.assert(property, { numRuns: cases(20_000) });
  expect(statements.conflicts).toEqual([]);
  expect(statements.size).toBeGreaterThan(200);
});

const field = fc.constantFrom(
  'id',
  '"a\\"b"',
  'tag',
  'doc',
  'doc->a',
  'doc->>a',
  'data->a->1',
  'data->>1',
  'tags',
  'during',
  'sold',
);
const operation = fc.constantFrom(
  'eq.1',
  'neq.1',
  'not.eq.1',
  'isdistinct.1',
  'gt.1',
  'lte(any).{1}',
  'lte(all).{1}',
  'in.(1,2)',
  'is.null',
  'is.true',
  'like.a*',
  'ilike(any).{a}',
  'match.a',
  'imatch.a',
  'cs.{}',
  'cd.{}',
  'ov.{}',
  'sl.[1,2)',
  'adj.[1,2)',
  'fts.a',
  'fts(english).a',
  'plfts.a',
);
const filter = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(field, operation).map(([left, right]) => `${left}=${right}`) },
  fc
    .tuple(fc.constantFrom('and', 'or', 'not.or'), field, operation, field, operation)
    .map(([word, left, first, right, second]) => `${word}=(${left}.${first},${right}.${second})`),
);
const other = fc.constantFrom(
  'select=id',
  'select=id,x:"a\\"b"',
  'select=id,tag::text',
  'select=',
  'select=*,author(name)',
  'select=id,author!inner(name)',
  'select=...author(name)',
  'select=count',
  'select=doc->a,data->>b',
  'select=id,author(id,book(id))',
  'author.name=eq.1',
  'author=is.null',
  'order=id',
  'order=id.desc',
  'order=tag.nullsfirst,id',
  'order=data->a',
  'order=author(name)',
  'limit=1',
  'limit=2',
  'offset=1',
  'offset=0',
  'on_conflict=id',
  'on_conflict=tag',
  'columns=id,tag',
  'columns=tag',
);
const preference = fc.constantFrom(
  'count=exact',
  'count=planned',
  'count=estimated',
  'return=representation',
  'return=headers-only',
  'resolution=merge-duplicates',
  'resolution=ignore-duplicates',
  'missing=default',
  'handling=strict',
  'max-affected=1',
);
const accept = fc.constantFrom(
  'application/json',
  'text/csv',
  'application/vnd.pgrst.object+json',
  'application/vnd.pgrst.array+json;nulls=stripped',
  'application/vnd.pgrst.object+json;nulls=stripped',
);
const body = fc.constantFrom('{}', '{"id":1}', '{"id":1,"tag":"a"}', '[{"id":1},{"tag":"a"}]', '[]', '{"sold":true}');

test('the dialect of PostgREST', async () => {
  const statements = new Statements();
  const endpoints = dialect.gateway.endpoints.filter(({ name }) => name === 'book');
  const methods = new Set(endpoints.map(({ method }) => method));
  expect([...methods].toSorted()).toEqual(['DELETE', 'GET', 'PATCH', 'POST', 'PUT']);
  const property = fc.asyncProperty(
    fc.constantFrom(...endpoints),
    fc.array(filter, { maxLength: 3 }),
    fc.uniqueArray(other, { maxLength: 4, selector: (text) => text.split('=')[0] }),
    fc.record({ prefer: fc.uniqueArray(preference, { maxLength: 3 }), accept, body }),
    async (endpoint, filters, others, { prefer, accept: type, body: text }) => {
      const query = [...filters, ...others].join('&').replaceAll('+', '%2B');
      const given = {
        accept: type,
        'content-type': 'application/json',
        ...(prefer.length > 0 ? { prefer: prefer.join(', ') } : {}),
      };
      const input = {
        endpoint,
        parameters: [],
        values: [],
        request: request(query, given, endpoint.method),
        body: text,
      };
      await build(statements, endpoint, async () => buildPostgrestQuery(input));
    },
  );
  await fc.assert(property, { numRuns: cases(20_000) });
  expect(statements.conflicts).toEqual([]);
  expect(statements.size).toBeGreaterThan(300);
});
