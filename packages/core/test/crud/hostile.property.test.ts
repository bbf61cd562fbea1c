import { cases, startGateway } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tables } from './support.ts';
import { codePoint } from '../support/code-point.ts';

const nasty = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 14 }),
  fc.constantFrom(
    "'; drop table item; --",
    '"',
    '""',
    '"r"."id" = 1 or 1=1',
    '\\',
    '$1',
    '$$x$$',
    'id) values (1); --',
    '/* comment */',
    'null',
    '',
    '1',
    '2024-01-01',
    'gt.1',
    'not.in.(1,2)',
    'in.("a\\"b",\'c)',
    'is.null; select 1',
    "like.%'",
    'id.desc nulls first, (select 1)',
    '"id".desc',
    'a"b.asc',
    '{1,2}',
    '99999999999999999999',
    '__proto__',
    'constructor',
  ),
);
const keys = ['id', 'a"b', "c'd; --", 'n', 'tags', 'order', 'limit', 'offset', 'after', 'doc'];
const key = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...keys) }, { weight: 1, arbitrary: nasty });
const id = fc.tuple(fc.constant('id'), fc.integer({ min: 1, max: 400 }).map(String));
const strange = fc.array(fc.tuple(key, nasty), { maxLength: 5 });
/** Sometimes valid values, so that some statements succeed. */
const pairs: fc.Arbitrary<readonly (readonly [string, string])[]> = fc.oneof(
  strange,
  fc.tuple(id, strange).map(([one, others]) => [one, ...others]),
  fc.tuple(id, fc.tuple(fc.constant('a"b'), nasty)),
);
const request = fc.record({
  target: fc.constantFrom(
    ['GET', ''],
    ['GET', ''],
    ['POST', ''],
    ['POST', '/returning'],
    ['DELETE', ''],
    ['DELETE', '/returning'],
    ['PUT', ''],
    ['PUT', '/returning'],
    ['PUT', '/on-conflict-do-nothing'],
    ['PUT', '/on-conflict-do-update/returning'],
  ),
  pairs,
  ifMatch: fc.option(fc.constantFrom('*', '"1"', '"\'; drop table item"', '}', 'x'), { freq: 4 }),
  prefer: fc.option(fc.constantFrom('count=exact', "count=exact; '"), { freq: 4 }),
});

const percent = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, ''));

/** The permitted tokens of a statement: SQL keywords, quoted catalog names, placeholders, punctuation. */
const names = [
  'public',
  'item',
  'r',
  'id',
  'a"b',
  "c'd; --",
  'n',
  'tags',
  'doc',
  'pg_catalog',
  'int4',
  'text',
  'numeric',
  '_text',
  'json',
];
const quotedNames = names.map((name) => `"${name.replaceAll('"', '""')}"`);
const words =
  'select from where and or not is null as insert into values update set delete returning on conflict do nothing excluded order by desc nulls first last limit offset any in case when count min end then operator true false unknown xmin nullif pg_catalog int8 jsonb text to_json set_config';
const literals = [`'"'`, `'0'`, `'count=exact'`];
const allowed = new Set([...words.split(' '), ...quotedNames, ...literals]);

/** Returns the tokens of a statement that are not permitted. */
function strangePieces(sql: string): readonly string[] {
  const pieces = sql.match(/"(?:[^"]|"")*"|'(?:[^']|'')*'|\$\d+|[\p{L}_][\p{L}\p{N}_]*|\d+|[^\s]/gu) ?? [];
  return pieces.filter((piece) => !allowed.has(piece) && !/^(?:\$\d+|[().,:=<>|[\]*~]|100|1)$/.test(piece));
}

test('no byte of a request becomes SQL text', async () => {
  const heard = new Set<string>();
  const gateway = await startGateway(
    `create table item (id int primary key, "a""b" text, "c'd; --" text, n numeric, tags text[], doc json);
     create function prepared() returns setof text language sql volatile as
       $$ select statement from pg_prepared_statements order by 1 $$;
     comment on function prepared() is 'HTTP GET';`,
    {
      ...tables({ listing: true }),
      sourcesCreated: async (sources) => {
        const { functionsSource } = await import('@pgway/core');
        sources.push(functionsSource());
      },
      poolSize: 1,
      commandCallback: ({ sql, endpoint }) => void (endpoint.table !== null && heard.add(sql)),
    },
  );
  await gateway.database.query(`insert into item (id, n) select i, i from generate_series(1, 20) i`);
  const statuses = new Map<number, number>();
  const unfair: unknown[] = [];
  await fc.assert(
    fc.asyncProperty(request, async ({ target: [method, suffix], pairs: given, ifMatch, prefer }) => {
      const query = given.map(([name, value]) => `${percent(name)}=${percent(value)}`).join('&');
      const body = `{${[...new Map(given)].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
      const inQuery = method === 'GET' || method === 'DELETE';
      const answer = await gateway.send(`${method} /api/item${suffix}${inQuery ? `?${query}` : ''}`, {
        headers: {
          ...(ifMatch === null ? {} : { 'if-match': ifMatch }),
          ...(prefer === null ? {} : { prefer }),
          ...(inQuery ? {} : { 'content-type': 'application/json' }),
        },
        ...(inQuery ? {} : { body }),
      });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status >= 500) unfair.push([method, suffix, given, ifMatch, answer.body]);
    }),
    { numRuns: cases(3_000) },
  );
  expect(unfair.slice(0, 3)).toEqual([]);
  for (const status of [200, 204, 400, 404, 412])
    expect(statuses.get(status) ?? 0, `answers of ${status}`).toBeGreaterThan(0);

  const prepared = (JSON.parse((await gateway.send('GET /api/prepared')).body) as readonly string[]).filter(
    (sql) => !sql.includes('"prepared"'),
  );
  expect(prepared.length).toBeGreaterThan(15);
  const judged = [...heard, ...prepared].map((sql) => ({ sql, pieces: strangePieces(sql) }));
  expect(judged.filter(({ pieces }) => pieces.length > 0)).toEqual([]);
  expect(await gateway.database.query(`select count(*)::int as n from pg_class where relname = 'item'`)).toEqual([
    { n: 1 },
  ]);
  await gateway.close();
}, 120_000);
