import { installIdempotency } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { problem, problemOf } from './support.ts';

/** `retry_strategy`: calls that PostgreSQL has rolled back run again. */

/** A function that inserts a row, and fails until the sequence has counted so many calls. */
const failing = (name: string, lines: string, code = '40001'): string => `
  create sequence ${name}_calls;
  create function ${name}(_failures int) returns text language plpgsql as $$
  begin
    insert into effect values ('${name}');
    if nextval('${name}_calls') <= _failures then raise exception 'rolled back' using errcode = '${code}'; end if;
    return 'done';
  end $$;
  comment on function ${name} is 'HTTP POST
${lines}';`;

const sql = `
  create table effect (name text);
  ${failing('counted', 'retry_strategy 3')}
  ${failing('named', '@retry = quick', '40P01')}
  ${failing('plain', 'Retry later.')}
  ${failing('other_code', 'retry_strategy 3', '23505')}
  ${failing('batched', 'retry_strategy 3')}
  ${failing('keyed', 'retry_strategy 3\nidempotent')}
  ${failing('patient', 'retry_strategy patient')}
  ${failing('hosted', 'retry_strategy 3')}
  create sequence streamed_calls;
  create function checked(_n int) returns int language plpgsql as $$
  begin
    if _n = 200000 then raise exception 'late' using errcode = '40001'; end if;
    return _n;
  end $$;
  create function streamed() returns setof text language sql stable as $$
    select nextval('streamed_calls')::text union all select repeat('x', 20) || checked(n) from generate_series(1, 200000) as n $$;
  comment on function streamed is 'HTTP POST
retry_strategy 3';
  create sequence cached_calls;
  create function cached() returns text language plpgsql stable as $$
  begin
    if nextval('cached_calls') = 1 then raise exception 'rolled back' using errcode = '40001'; end if;
    return 'cached';
  end $$;
  comment on function cached is 'HTTP GET
cached
retry_strategy 1';
  create table counter (n int);
  insert into counter values (0);
  create function increase() returns int language sql volatile as $$ update counter set n = n + 1 returning n $$;
  comment on function increase is 'HTTP POST
retry_strategy 2';
  do $$ begin
    execute format('alter database %I set default_transaction_isolation to ''repeatable read''', current_database());
  end $$;
`;

const options = {
  batchPath: '/api/batch',
  retryStrategies: { quick: { delays: [0, 0, 0] }, patient: { delays: [60] } },
} as const;
const gateway = useGateway(sql, options);

const post = (name: string, failures: number, headers: Record<string, string> = {}) =>
  gateway.send(`POST /api/${name.replace('_', '-')}`, { body: { failures }, headers });
const effects = async (name: string): Promise<unknown> =>
  gateway.database.query('select count(*)::int from effect where name = $1', [name]);
const calls = async (name: string): Promise<unknown> =>
  gateway.database.query(`select last_value::int as calls from ${name}_calls`);
const repetitions = (name: string): readonly unknown[] =>
  gateway.observations.flatMap((seen) =>
    seen.kind === 'call-repeated' && seen.endpoint.name === name ? [`${seen.code} ${seen.repetition}`] : [],
  );

test.each([
  ['counted', '40001'],
  ['named', '40P01'],
])('%s: a call that fails with %s runs again, and takes effect once', async (name, code) => {
  expect(await post(name, 3)).toMatchObject({ status: 200, body: 'done' });
  expect(await effects(name)).toEqual([{ count: 1 }]);
  expect(repetitions(name)).toEqual([`${code} 1`, `${code} 2`, `${code} 3`]);
});

test('the last failure is the response', async () => {
  const before = repetitions('counted').length;
  expect(problem(await post('counted', 1_000))).toEqual(problemOf(409, { code: '40001' }));
  expect(repetitions('counted').length).toBe(before + 3);
});

test('other errors, and endpoints without the line, fail at once', async () => {
  expect((await post('plain', 1)).status).toBe(409);
  expect(await calls('plain')).toEqual([{ calls: 1 }]);
  expect((await post('other_code', 1)).status).toBe(409);
  expect(await calls('other_code')).toEqual([{ calls: 1 }]);
});

test('a real conflict of two transactions', async () => {
  const other = new Client({ connectionString: gateway.database.connectionString });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query('begin; update counter set n = n + 1');
  const response = gateway.send('POST /api/increase');
  const waiting =
    'select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = $1';
  await expect.poll(() => gateway.database.query(waiting, ['Lock'])).toEqual([{ count: 1 }]);
  await other.query('commit');
  expect(await response).toMatchObject({ status: 200, body: '2' });
  expect(repetitions('increase')).toEqual(['40001 1']);
});

test('a batch is one transaction, which the client repeats as a whole', async () => {
  const body = [{ method: 'POST', path: '/api/batched', body: { failures: 1 } }];
  expect((await gateway.send('POST /api/batch', { body })).status).toBe(409);
  expect(await calls('batched')).toEqual([{ calls: 1 }]);
});

test('a response that has begun is not repeated', async () => {
  await expect(gateway.send('POST /api/streamed')).rejects.toThrow('terminated');
  expect(await calls('streamed')).toEqual([{ calls: 1 }]);
});

test('a response of a repeated call is cached', async () => {
  expect(await gateway.send('GET /api/cached')).toMatchObject({ status: 200, body: 'cached' });
  expect(await gateway.send('GET /api/cached')).toMatchObject({ status: 200, body: 'cached' });
  expect(await calls('cached')).toEqual([{ calls: 2 }]);
});

test('a client that disconnects during a wait gets no further call', async () => {
  const abort = new AbortController();
  const response = fetch(`${gateway.url}/api/patient`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"failures": 1}',
    signal: abort.signal,
  });
  await expect.poll(() => repetitions('patient')).toEqual(['40001 1']);
  abort.abort();
  await expect(response).rejects.toThrow('abort');
  expect(await calls('patient')).toEqual([{ calls: 1 }]);
});

describe('with idempotency keys', () => {
  const keyed = useGateway(`${sql} ${installIdempotency({ schema: 'pgway', roles: [] }).join(';\n')}`, options);

  test('the key of a call that was rolled back is free for the next one', async () => {
    const send = () => keyed.send('POST /api/keyed', { body: { failures: 2 }, headers: { 'idempotency-key': '"a"' } });
    const first = await send();
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null]);
    const second = await send();
    expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(await keyed.database.query(`select count(*)::int from effect where name = 'keyed'`)).toEqual([{ count: 1 }]);
  });
});

test.each([
  [
    'create procedure f() language sql as $$ select 1 $$; comment on procedure f is',
    'retry_strategy 2',
    'error',
    /a procedure may have committed/,
  ],
  [
    'create function f() returns int language sql as $$ select 1 $$; comment on function f is',
    'retry_strategy 2\nupload',
    'error',
    /the body of an upload can be read only once/,
  ],
  [
    'create function f() returns int language sql as $$ select 1 $$; comment on function f is',
    'retry_strategy 11',
    'warning',
    /from 1 to 10 or a strategy, not "11"; the strategies are "quick", "patient"/,
  ],
  [
    'create function f() returns int language sql as $$ select 1 $$; comment on function f is',
    'retry quik',
    'warning',
    /did you mean "quick"\?/,
  ],
])('%s %s: %s', async (object, lines, severity, message) => {
  const started = await startGateway(`${object} 'HTTP POST\n${lines}'`, { ...options, logAnnotationSetInfo: false });
  onTestFinished(() => started.close());
  const reports = started.observations.flatMap((seen) => (seen.kind === 'diagnostic' ? [seen.diagnostic] : []));
  expect(reports).toContainEqual(
    expect.objectContaining({ severity, message: expect.stringMatching(message), line: 2 }),
  );
});
