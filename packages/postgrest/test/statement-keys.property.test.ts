import { cases, useGateway } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { build, context, request, Statements } from '../../core/test/crud/statement-keys.ts';
import { buildPostgrestQuery } from '../src/build-query.ts';
import { postgrest } from './support.ts';

const dialect = useGateway(
  `
  create extension citext;
  create table author (id int primary key, name text not null, "a"", b" citext, born date);
  create table book (id int primary key, "a""b" text, tag citext, author int references author, doc json, data jsonb, tags text[], during int4range, spot point, sold bool);
  `,
  postgrest({ crudTypes: 'all' }),
);

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

test('a statement has one key', async () => {
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
        paths: new Map(),
        context,
      };
      await build(statements, endpoint, async () => buildPostgrestQuery(input));
    },
  );
  await fc.assert(property, { numRuns: cases(20_000) });
  expect(statements.conflicts).toEqual([]);
  expect(statements.size).toBeGreaterThan(300);
});
