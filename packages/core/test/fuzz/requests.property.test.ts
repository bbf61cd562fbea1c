import { request } from 'node:http';
import { cases, useGateway } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codePoint } from '../support/code-point.ts';

const count = cases(5_000);
const patience = 10_000;
/** Requests in flight at a time. */
const width = 16;

const longName = 'n'.repeat(60);

const gateway = useGateway(
  `
  create schema "Odd ""Schema""";
  create type pair as (first_name text, second int);
  create type mood as enum ('sad', 'so "so"');
  create domain positive as int check (value > 0);
  create function no_parameters() returns text language sql immutable as $$ select 'x' $$;
  create function one_text(_a text) returns text language sql immutable as $$ select _a $$;
  create function two(_a int, _b text default 'b', _c date default null) returns text language sql volatile as $$ select concat_ws('|', _a, _b, _c) $$;
  create function many_types(_i int8 default 1, _n numeric default 1, _f float8 default 1, _b bool default true, _t timestamptz default null,
    _u uuid default null, _j jsonb default '{}', _ints int[] default '{}', _texts text[] default '{}', _r int4range default null,
    _m mood default null, _p positive default null, _x bytea default null, _jp jsonpath default null) returns jsonb language sql volatile
    as $$ select jsonb_build_array(_i, _n, _f, _b, _t, _u, _j, _ints, _texts, _r, _m, _p, _x, _jp) $$;
  create function many_types_get(_i int8 default 1, _n numeric default 1, _t timestamptz default null, _j json default '{}', _ints int[] default '{}',
    _texts text[] default '{}', _jsons json[] default '{}') returns text language sql immutable as $$ select concat_ws('|', _i, _n, _t, _j, _ints, _texts, _jsons) $$;
  create function over(_a int) returns int language sql immutable as $$ select 1 $$;
  create function over(_a text, _b text) returns int language sql immutable as $$ select 2 $$;
  create function over() returns int language sql immutable as $$ select 3 $$;
  create function unnamed(int, text default 'x', int default 1) returns text language sql volatile as $$ select $2 $$;
  create function variadic_texts(variadic _rest text[]) returns int language sql volatile as $$ select cardinality(_rest) $$;
  create function "quo""te;--'"("a""b" text default 'x', "c'd;--" text default null, "ü{}" int default 1) returns table ("x""y" text, "z'" int)
    language sql volatile as $$ select $1, $3 $$;
  create function "Odd ""Schema"""."${longName}"("${longName}_p" text default null) returns text language sql immutable as $$ select $1 $$;
  create function rows(_count int default 3) returns table (n int, t text) language sql stable as $$ select i, 'x' from generate_series(1, least(_count, 1000)) i $$;
  create function by_path(_id int, _rest text default 'r') returns text language sql immutable as $$ select concat_ws('|', _id, _rest) $$;
  create function headed(_v text default null) returns text language sql volatile as $$ select _v $$;
  create function composite_row() returns pair language sql immutable as $$ select 'x', 1 $$;
  create function record_set() returns setof record language sql immutable as $$ select 1, 'x' $$;
  create function raises(_code text default 'P0001') returns int language plpgsql volatile as $$ begin raise exception using errcode = _code, message = 'm'; end $$;
  create procedure proc(_a int, inout _b text default 'b') language plpgsql as $$ begin _b := _b || _a; end $$;
  create function as_query(_a int[], _b text default 'x') returns text language sql volatile as $$ select concat_ws('|', _a, _b) $$;
  do $$ declare routine regprocedure; begin
    for routine in select p.oid::regprocedure from pg_proc p join pg_namespace n on n.oid = pronamespace
      where nspname in ('public', 'Odd "Schema"') and prokind = 'f' and proname <> 'of_type' loop
      execute format('comment on function %s is %L', routine, 'HTTP');
    end loop;
  end $$;
  comment on function by_path(int, text) is 'HTTP GET /path/{id}/{rest?}';
  comment on function headed(text) is E'HTTP\\nX-Value: {v}\\nContent-Type: text/{v}';
  comment on function as_query(int[], text) is E'HTTP\\nparam_type query\\ntimeout 5';
  comment on procedure proc(int, text) is 'HTTP';
`,
  { poolSize: 4 },
);

interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

const nasty = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 12 }),
  fc.constantFrom(
    "'; drop table x; --",
    '"',
    '\\',
    '$1',
    '$$',
    '{',
    '}',
    '{}',
    '{"a":1}',
    '[1,2]',
    'null',
    'NULL',
    '',
    '\u0000',
    '\n',
    '\ud800',
    '1',
    '-1',
    '1.5',
    '99999999999999999999',
    'true',
    '2024-01-01',
    'infinity',
    'NaN',
    '/*',
    '--',
    '%',
    '%00',
    '\\x41',
    "E'\\x41'",
    '🎈',
    '__proto__',
    'constructor',
    'x'.repeat(300),
    '(',
    '("a",1)',
    '[1,5)',
    '$.a',
    'P0001',
    '57014',
    '42P01',
    '00000',
    '22P02',
  ),
);
const jsonValues = fc.oneof(
  fc.integer().map(String),
  nasty.map((text) => JSON.stringify(text)),
  fc.constantFrom(
    'null',
    'true',
    '1e400',
    '-0',
    '[]',
    '{}',
    '[1,null,"x"]',
    '[[1],[2]]',
    '{"a":{"b":[]}}',
    '1.00000000000000000000001',
    'nope',
    '"\\ud83d"',
    '"\\u0000"',
  ),
  fc.array(fc.integer().map(String), { maxLength: 3 }).map((list) => `[${list.join(',')}]`),
);

const percent = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, ''));
/** Method, path and known keys of each endpoint. */
const endpoints: readonly (readonly [string, string, readonly string[]])[] = [
  ['GET', '/api/no-parameters', []],
  ['GET', '/api/one-text', ['a']],
  ['POST', '/api/two', ['a', '_b', 'c']],
  ['POST', '/api/many-types', ['i', 'n', 'f', 'b', 't', 'u', 'j', 'ints', 'texts', 'r', 'm', 'p', 'x', 'jp']],
  ['GET', '/api/many-types-get', ['i', 'n', 't', 'j', 'ints', 'texts', 'jsons']],
  ['GET', '/api/over', ['a', 'b']],
  ['POST', '/api/unnamed', ['$1', '$2', '$3']],
  ['POST', '/api/variadic-texts', ['rest']],
  ['POST', '/api/quote;--', ['a"b', "c'd;--", 'ü{}']],
  ['GET', `/api/odd-schema/${longName}`, [`${longName}P`, `${longName}_p`]],
  ['GET', '/api/rows', ['count']],
  ['GET', '/path/1', ['rest']],
  ['GET', '/path/1/x', []],
  ['POST', '/api/headed', ['v']],
  ['GET', '/api/composite-row', []],
  ['GET', '/api/record-set', []],
  ['POST', '/api/raises', ['code']],
  ['POST', '/api/proc', ['a', 'b']],
  ['POST', '/api/as-query', ['a', 'b']],
];
const allKeys = endpoints.flatMap(([, , keys]) => keys);

type Pair = readonly [string, string];

/** Mostly keys that the endpoint knows, now and then another one or nonsense. */
function pairsOf(keys: readonly string[], values: fc.Arbitrary<string>): fc.Arbitrary<readonly Pair[]> {
  const strange = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...allKeys), nasty), values), { maxLength: 3 });
  const fitting = fc.tuple(...keys.map((key) => fc.option(fc.tuple(fc.constant(key), values), { freq: 3 })));
  return fc.oneof(
    { weight: 5, arbitrary: fitting.map((list) => list.filter((pair) => pair !== null)) },
    { weight: 1, arbitrary: strange },
  );
}

const queryOf = (pairs: readonly Pair[]): string =>
  pairs.map(([key, value]) => `${percent(key)}=${percent(value)}`).join('&');
const bodyOf = (pairs: readonly Pair[]): string =>
  `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
const plainValues = fc.oneof(nasty, fc.integer().map(String), fc.constantFrom('1', '2024-01-01', 'x'));

const pathCharacters: readonly string[] = Array.from('abc/%-._~!$&\'()*+,;=:@{}"');
const rawPath = fc.string({ unit: fc.constantFrom(...pathCharacters), maxLength: 12 }).map((path) => `/${path}`);
const otherPaths = fc.oneof(
  fc.tuple(fc.constantFrom(...endpoints), nasty).map(([[, path], more]) => `${path}/${percent(more)}`),
  nasty.map((id) => `/path/${percent(id)}`),
  rawPath,
);
const headers = fc
  .tuple(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('application/json', 'application/json; charset=utf-8', 'a/x+json', '') },
      { weight: 1, arbitrary: fc.constantFrom('text/plain', 'multipart/form-data', 'x') },
    ),
    fc.dictionary(
      fc.constantFrom(
        'accept',
        'x-odd',
        'cookie',
        'authorization',
        'if-none-match',
        'origin',
        'x-forwarded-for',
        'traceparent',
      ),
      fc.constantFrom('x', '"', '*/*', 'text/csv', 'application/x-ndjson', "'; --", 'Basic !!!', 'é'),
      { maxKeys: 2 },
    ),
  )
  .map(([type, others]) => (type === '' ? others : { 'content-type': type, ...others }));

const methods = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS');

const requests: fc.Arbitrary<FuzzRequest> = fc.constantFrom(...endpoints).chain(([method, path, keys]) =>
  fc.record({
    method: fc.oneof({ weight: 9, arbitrary: fc.constant(method) }, { weight: 1, arbitrary: methods }),
    path: fc
      .oneof({ weight: 9, arbitrary: fc.constant(path) }, { weight: 1, arbitrary: otherPaths })
      .chain((chosen) =>
        method === 'GET' || path === '/api/as-query'
          ? pairsOf(keys, plainValues).map((pairs) => (pairs.length === 0 ? chosen : `${chosen}?${queryOf(pairs)}`))
          : fc.constant(chosen),
      ),
    headers,
    body: fc.oneof(
      { weight: 12, arbitrary: method === 'GET' ? fc.constant(null) : pairsOf(keys, jsonValues).map(bodyOf) },
      { weight: 1, arbitrary: nasty },
      { weight: 1, arbitrary: jsonValues },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
  }),
);

interface FuzzAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

function send({ method, path, headers: sent, body }: FuzzRequest): Promise<FuzzAnswer> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const length: Record<string, string> = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = request(
      { hostname, port, method, path, headers: { ...sent, ...length }, agent: false, timeout: patience },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            type: incoming.headers['content-type'] ?? '',
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer: a hang')));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** A 500 is fair when the database, or the endpoint's own header template, says so. */
function isFair({ status, type, body }: FuzzAnswer, { method }: FuzzRequest): boolean {
  if (status < 500 || method === 'HEAD') return true;
  if (type !== 'application/problem+json') return false;
  const problem = JSON.parse(body) as { readonly code?: string; readonly type: string };
  return typeof problem.code === 'string' || problem.type.endsWith('invalid-response-header');
}

test(
  `${count} random requests: no error of our own, no hang, no leak, no statement but the planned ones`,
  async () => {
    const sample = fc.sample(requests, count);
    const unfair: unknown[] = [];
    const seen = new Map<number, number>();
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let index = next++; index < sample.length; index = next++) {
        const one = sample[index]!;
        try {
          const answer = await send(one);
          seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
          if (!isFair(answer, one)) unfair.push({ request: one, answer });
        } catch (error) {
          unfair.push({ request: one, error });
        }
      }
    };
    await Promise.all(Array.from({ length: width }, worker));

    expect(unfair.slice(0, 5)).toEqual([]);
    // The guard proves that it looked: calls that went well, refusals, and paths that are not there. Rarer statuses may be absent by chance.
    for (const status of [200, 400, 404, 405, 415])
      expect(seen.get(status) ?? 0, `answers of ${status}`).toBeGreaterThan(0);

    // Nothing runs any more, nothing is left open, and there are no more connections than the pool may have.
    const sessions = await gateway.database.query(
      `select state, query, (xact_start is not null) as open from pg_stat_activity
     where datname = current_database() and application_name = 'pgway'`,
    );
    expect(sessions.length).toBeLessThanOrEqual(4);
    expect(sessions.filter(({ state, open }) => state !== 'idle' || open)).toEqual([]);

    // The last statement of every connection is a planned call: no text of a request, and values as parameters only.
    for (const { query } of sessions) expect(query).toMatch(planned);
    expect(sessions.length).toBeGreaterThan(0);

    // The gateway still serves.
    const { status, body } = await gateway.send('GET /api/no-parameters');
    expect({ status, body }).toEqual({ status: 200, body: 'x' });
  },
  60_000 + count * 20,
);

/** The calls that the plan can make, and the settings that ride with them. */
const planned = new RegExp(
  String.raw`^(select|call)\b[^;]*("public"|"Odd ""Schema""")\.|^select pg_catalog\.(set_config\(|pg_backend_pid\(\), )|^select \$1::"`,
);

test('every statement that a connection has prepared is a planned call', async () => {
  // One connection tells of itself: a routine that lists what was prepared on the connection that it runs on.
  const { startGateway } = await import('@pgway/testing');
  const own = await startGateway(
    `
    create function one_text(_a text) returns text language sql immutable as $$ select _a $$;
    comment on function one_text(text) is 'HTTP';
    create function two(_a int default 1, _b text default 'b') returns text language sql volatile as $$ select _b $$;
    comment on function two(int, text) is E'HTTP\\ntimeout 5';
    create function prepared() returns setof text language sql volatile as $$ select statement from pg_prepared_statements order by 1 $$;
    comment on function prepared() is 'HTTP GET';
  `,
    { poolSize: 1 },
  );
  try {
    const values = fc.sample(fc.tuple(nasty, nasty), 100);
    for (const [key, value] of values) {
      await own.send(`GET /api/one-text?a=${percent(value)}`);
      await own.send(`GET /api/one-text?${percent(key)}=${percent(value)}`);
      await own.send('POST /api/two', { body: { b: value } });
      await own.send('POST /api/two', { body: { [key]: value } });
      await own.send('POST /api/two', { body: { a: 1, b: value } });
    }
    const statements = JSON.parse((await own.send('GET /api/prepared')).body) as readonly string[];
    // One per routine and choice of omitted defaults, the setting of a timeout, and the clock of trials of plans.
    expect(statements.length).toBeLessThanOrEqual(8);
    expect(statements.filter((statement) => !planned.test(statement) && !statement.includes('"prepared"'))).toEqual([]);
    for (const [key, value] of values) {
      for (const sent of [key, value].filter((text) => text.length > 5 && text !== 'constructor')) {
        expect(statements.some((statement) => statement.includes(sent))).toBe(false);
      }
    }
  } finally {
    await own.close();
  }
});
