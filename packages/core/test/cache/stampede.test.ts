import { request as httpRequest } from 'node:http';
import { type HeldLock, holdLock, useGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../database/support.ts';

/** The requests that are about to be executed, or answered from the cache. */
let arrived = 0;

const gateway = useGateway(
  `
  create sequence calls;
  create function wait() returns void language sql as $$ select pg_advisory_xact_lock_shared(1) $$;
  create function slow(a text) returns text language sql as
    $$ select format('%s #%s', a, nextval('calls')) from wait() $$;
  comment on function slow is 'HTTP GET
    cached';
  create function slow_failure(a int) returns int language plpgsql as
    $$ begin perform nextval('calls'); perform wait(); raise 'not %', a; end $$;
  comment on function slow_failure is 'HTTP GET
    cached';
  create function by_a(a int, b int) returns text language plpgsql as
    $$ begin perform nextval('calls'); perform wait(); return a / b; end $$;
  comment on function by_a is 'HTTP GET
    cached a';
  create function large(a int) returns table (id int, call bigint) language sql as
    $$ select g, c from generate_series(1, 5000) g, (select nextval('calls') as c, wait()) s $$;
  comment on function large is 'HTTP GET
    cached';
`,
  { poolSize: 4, acquireTimeout: 20, commandCallback: () => void arrived++ },
);

/** Makes calls wait until the lock is released. */
async function holdCalls(): Promise<HeldLock> {
  const lock = await holdLock(gateway.database.connectionString, 1);
  onTestFinished(() => lock.release());
  arrived = 0;
  return lock;
}

const untilArrived = (count: number): Promise<void> => until(`${count} requests have arrived`, () => arrived === count);
const untilWaiting = (lock: HeldLock, count: number): Promise<void> =>
  until(`${count} calls run`, async () => (await lock.waiting()) === count);

async function callsOf(act: () => Promise<unknown>): Promise<number> {
  const read = async (): Promise<number> =>
    Number((await gateway.database.query('select last_value - (not is_called)::int as n from calls'))[0]!['n']);
  const before = await read();
  await act();
  return (await read()) - before;
}

/** A request whose client can disconnect. */
function leaving(path: string): { readonly leave: () => void } {
  const request = httpRequest(gateway.url + path, { agent: false }).on('error', () => undefined);
  request.end();
  return { leave: () => request.destroy() };
}

test('a thousand requests for one response make one call', async () => {
  const calls = await callsOf(async () => {
    const lock = await holdCalls();
    const requests = Array.from({ length: 1_000 }, () => gateway.send('GET /api/slow?a=stampede'));
    await untilArrived(1_000);
    await lock.release();
    const answers = await Promise.all(requests);
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
    expect(answers[0]!.body).toMatch(/^stampede #\d+$/);
  });
  expect(calls).toBe(1);
});

test('when the first client disconnects, the others get the response of the same call', async () => {
  const calls = await callsOf(async () => {
    const lock = await holdCalls();
    const first = leaving('/api/slow?a=left');
    await untilWaiting(lock, 1);
    const others = [gateway.send('GET /api/slow?a=left'), gateway.send('GET /api/slow?a=left')];
    await untilArrived(3);
    first.leave();
    // The server has read the end of the first connection when it answers on a later one.
    await gateway.send('GET /api/nothing');
    await lock.release();
    for (const { status, body } of await Promise.all(others)) {
      expect([status, body.startsWith('left #')]).toEqual([200, true]);
    }
  });
  expect(calls).toBe(1);
});

test('when all clients disconnect, the call is cancelled; the next request makes a new one', async () => {
  const lock = await holdCalls();
  const all = [leaving('/api/slow?a=gone'), leaving('/api/slow?a=gone')];
  await untilWaiting(lock, 1);
  await untilArrived(2);
  for (const one of all) one.leave();
  await untilWaiting(lock, 0);
  await lock.release();
  const { status, body } = await gateway.send('GET /api/slow?a=gone');
  expect([status, body]).toEqual([200, expect.stringMatching(/^gone #/)]);
});

test('all waiting requests get the failure, later ones do not', async () => {
  const calls = await callsOf(async () => {
    const lock = await holdCalls();
    const requests = Array.from({ length: 20 }, () => gateway.send('GET /api/slow-failure?a=1'));
    await untilArrived(20);
    await lock.release();
    const answers = await Promise.all(requests);
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.parse(body).title}`))).toEqual(
      new Set(['400 not 1']),
    );
  });
  expect(calls).toBe(1);
  expect(await callsOf(() => gateway.send('GET /api/slow-failure?a=1'))).toBe(1);
});

test('a failure is not shared between calls with other values and one key', async () => {
  const calls = await callsOf(async () => {
    const lock = await holdCalls();
    const first = gateway.send('GET /api/by-a?a=6&b=0');
    await untilWaiting(lock, 1);
    const others = [1, 2].map((b) => gateway.send(`GET /api/by-a?a=6&b=${b}`));
    await untilArrived(3);
    await lock.release();
    const [bad, good, better] = await Promise.all([first, ...others]);
    expect([bad!.status, good!.status, better!.status]).toEqual([400, 200, 200]);
    // One of the two made the call, the other shares its response.
    expect(good!.body).toBe(better!.body);
  });
  expect(calls).toBe(2);
});

test('a response that is too large is not shared', async () => {
  const calls = await callsOf(async () => {
    const lock = await holdCalls();
    const requests = [1, 2, 3].map(() => gateway.send('GET /api/large?a=1'));
    await untilArrived(3);
    await lock.release();
    const answers = await Promise.all(requests);
    const first = answers.map(({ body }) => JSON.parse(body));
    expect(first.map((rows) => rows.length)).toEqual([5000, 5000, 5000]);
    expect(new Set(first.map((rows) => rows[0].call)).size).toBe(3);
  });
  expect(calls).toBe(3);
});
