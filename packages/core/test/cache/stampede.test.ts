import { request as httpRequest } from 'node:http';
import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { until } from '../database/support.ts';

const gateway = useGateway(
  `
  create sequence calls;
  create function slow(a text) returns text language sql as
    $$ select format('%s #%s', a, nextval('calls')) from pg_sleep(0.3) $$;
  comment on function slow is 'HTTP GET
    cached';
  create function slow_failure(a int) returns int language plpgsql as
    $$ begin perform nextval('calls'); perform pg_sleep(0.2); raise 'not %', a; end $$;
  comment on function slow_failure is 'HTTP GET
    cached';
  create function by_a(a int, b int) returns text language plpgsql as
    $$ begin perform nextval('calls'); perform pg_sleep(0.2); return a / b; end $$;
  comment on function by_a is 'HTTP GET
    cached a';
  create function large(a int) returns table (id int, call bigint) language sql as
    $$ select g, c from generate_series(1, 5000) g, (select nextval('calls') as c, pg_sleep(0.2)) s $$;
  comment on function large is 'HTTP GET
    cached';
`,
  { poolSize: 4, acquireTimeout: 20 },
);

async function callsOf(act: () => Promise<unknown>): Promise<number> {
  const read = async (): Promise<number> =>
    Number((await gateway.database.query('select last_value - (not is_called)::int as n from calls'))[0]!['n']);
  const before = await read();
  await act();
  return (await read()) - before;
}

const running = async (): Promise<number> =>
  (
    await gateway.database.query(
      `select from pg_stat_activity where query like '%slow%' and state = 'active' and pid <> pg_backend_pid()`,
    )
  ).length;

/** A request whose client can disconnect. */
function leaving(path: string): { readonly leave: () => void } {
  const request = httpRequest(gateway.url + path, { agent: false }).on('error', () => undefined);
  request.end();
  return { leave: () => request.destroy() };
}

test('a thousand requests for one response make one call', async () => {
  const calls = await callsOf(async () => {
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => gateway.send('GET /api/slow?a=stampede')));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
    expect(answers[0]!.body).toMatch(/^stampede #\d+$/);
  });
  expect(calls).toBe(1);
});

test('when the first client disconnects, the others get the response of the same call', async () => {
  const calls = await callsOf(async () => {
    const first = leaving('/api/slow?a=left');
    await until('it runs', async () => (await running()) === 1);
    const others = Promise.all([gateway.send('GET /api/slow?a=left'), gateway.send('GET /api/slow?a=left')]);
    // They join the first request.
    await gateway.send('GET /api/slow');
    first.leave();
    for (const { status, body } of await others) expect([status, body.startsWith('left #')]).toEqual([200, true]);
  });
  expect(calls).toBe(1);
});

test('when all clients disconnect, the call is cancelled; the next request makes a new one', async () => {
  const all = [leaving('/api/slow?a=gone'), leaving('/api/slow?a=gone')];
  await until('it runs', async () => (await running()) === 1);
  for (const one of all) one.leave();
  const { status, body } = await gateway.send('GET /api/slow?a=gone');
  expect([status, body]).toEqual([200, expect.stringMatching(/^gone #/)]);
  await until('nothing runs', async () => (await running()) === 0);
});

test('all waiting requests get the failure, later ones do not', async () => {
  const calls = await callsOf(async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => gateway.send('GET /api/slow-failure?a=1')));
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.parse(body).title}`))).toEqual(
      new Set(['400 not 1']),
    );
  });
  expect(calls).toBe(1);
  expect(await callsOf(() => gateway.send('GET /api/slow-failure?a=1'))).toBe(1);
});

test('a failure is not shared between calls with other values and one key', async () => {
  const calls = await callsOf(async () => {
    const [bad, good, better] = await Promise.all([0, 1, 2].map((b) => gateway.send(`GET /api/by-a?a=6&b=${b}`)));
    expect([bad!.status, good!.status, better!.status]).toEqual([400, 200, 200]);
    // One of the two made the call, the other shares its response.
    expect(good!.body).toBe(better!.body);
  });
  expect(calls).toBe(2);
});

test('a response that is too large is not shared', async () => {
  const calls = await callsOf(async () => {
    const answers = await Promise.all([1, 2, 3].map(() => gateway.send('GET /api/large?a=1')));
    const first = answers.map(({ body }) => JSON.parse(body));
    expect(first.map((rows) => rows.length)).toEqual([5000, 5000, 5000]);
    expect(new Set(first.map((rows) => rows[0].call)).size).toBe(3);
  });
  expect(calls).toBe(3);
});
