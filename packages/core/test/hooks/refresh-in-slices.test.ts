import { setImmediate as turn } from 'node:timers/promises';
import { startGateway, type TestGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mapInSlices, runInSlices } from '../../src/catalog/slices.ts';
import type { Steps } from '../../src/catalog/steps.ts';

/** Blocks the event loop for longer than a slice. */
function work(): void {
  for (const end = performance.now() + 6; performance.now() < end;);
}

const count = 40;
const sql = Array.from(
  { length: count },
  (_, index) => `create function f${index}() returns int language sql stable as 'select ${index}';
    comment on function f${index}() is 'HTTP GET';`,
).join('\n');

/** A gateway whose refresh blocks the event loop once for each endpoint. */
async function start(created: (name: string) => void = work): Promise<TestGateway> {
  let isStarted = false;
  const gateway = await startGateway(sql, { endpointCreated: ({ name }) => (isStarted ? created(name) : undefined) });
  onTestFinished(() => gateway.close());
  isStarted = true;
  return gateway;
}

describe('work in slices', () => {
  function* steps(done: number[]): Steps<string> {
    for (const step of [1, 2, 3]) {
      work();
      done.push(step);
      yield;
    }
    return 'all';
  }

  test('the event loop turns between the steps, and the product is that of the work', async () => {
    const done: number[] = [];
    const running = runInSlices(steps(done));
    expect(done).toEqual([1]);
    await turn();
    expect(done.length).toBeLessThan(3);
    expect([await running, done]).toEqual(['all', [1, 2, 3]]);
  });

  test('items are mapped one after the other, asynchronous ones too', async () => {
    const done: string[] = [];
    const map = async (item: string): Promise<string> => {
      done.push(`${item} begins`);
      await turn();
      done.push(`${item} ends`);
      return item.toUpperCase();
    };
    expect(await mapInSlices(['a', 'b'], map)).toEqual(['A', 'B']);
    expect(done).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });

  test('an error ends the work', async () => {
    const fail = (item: number): number => {
      if (item === 2) throw new Error(`not ${item}`);
      return item;
    };
    await expect(mapInSlices([1, 2, 3], fail)).rejects.toThrow('not 2');
  });
});

test('requests are answered by the old endpoints while a refresh compiles the new ones', async () => {
  let seen = 0;
  const gateway = await start(() => {
    seen++;
    work();
  });
  await gateway.database.query(`comment on function f0() is null`);
  const refreshing = gateway.gateway.refresh();
  await expect.poll(() => seen, { interval: 1 }).toBeGreaterThan(0);
  // The server answers a path without an endpoint itself, so that the test does not depend on the speed of the database.
  expect((await gateway.send('GET /api/nothing')).status).toBe(404);
  expect(seen).toBeLessThan(count - 1);
  expect(gateway.gateway.endpoints).toHaveLength(count);
  await refreshing;
  expect(gateway.gateway.endpoints).toHaveLength(count - 1);
  expect((await gateway.send('GET /api/f0')).status).toBe(404);
});

test('two refreshes at once: the second one begins after the first, and sees later changes', async () => {
  const names: string[] = [];
  const gateway = await start((name) => void names.push(name));
  await gateway.database.query('drop function f39()');
  const first = gateway.gateway.refresh();
  await gateway.database.query('drop function f38()');
  await Promise.all([first, gateway.gateway.refresh(), gateway.gateway.refresh()]);
  expect(names.filter((name) => name === 'f0')).toHaveLength(2);
  expect(gateway.gateway.endpoints).toHaveLength(count - 2);
});

test('a refresh that fails halfway leaves the old endpoints', async () => {
  const gateway = await start((name) => {
    work();
    if (name === 'f20') throw new Error('no f20');
  });
  await gateway.database.query('drop function f1()');
  await expect(gateway.gateway.refresh()).rejects.toThrow('endpointCreated for public.f20() failed: no f20');
  expect(gateway.gateway.endpoints).toHaveLength(count);
  expect((await gateway.send('GET /api/f2')).body).toBe('2');
});

test('a gateway that is closed during a refresh ends it', async () => {
  let seen = 0;
  const gateway = await start(() => {
    seen++;
    work();
  });
  const ended = gateway.gateway.refresh().then(
    () => 'refreshed',
    () => 'failed',
  );
  await expect.poll(() => seen, { interval: 1 }).toBeGreaterThan(0);
  await gateway.gateway.close();
  expect(['refreshed', 'failed']).toContain(await ended);
});
