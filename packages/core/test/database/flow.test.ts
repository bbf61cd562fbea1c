import { setTimeout as sleep } from 'node:timers/promises';
import { useDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { ask, backendOf, errorOf, named, open, rowsOf, startProxy, until } from './support.ts';

const db = useDatabase();

/** 300 MB, far more than all socket buffers together. */
const flood = `select repeat('x', 10000) from generate_series(1, 30000)`;

test('a paused sink stops the server; after resume, every row arrives', async () => {
  const proxy = await startProxy(db.connectionString);
  const database = open(proxy.connectionString);
  await backendOf(database);
  let rows = 0;
  let bytes = 0;
  let flowing = false;
  const asked = ask(database, [flood], {
    sink: {
      row: (chunk, offset) => {
        rows++;
        bytes += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).readInt32BE(offset);
        return flowing;
      },
    },
  });
  await until('rows have come', () => rows > 0);
  // The transfer stops when all buffers are full.
  let before = -1;
  await until('the flow stands still', async () => {
    const still = proxy.received === before;
    before = proxy.received;
    await sleep(100);
    return still;
  });
  expect(rows).toBeLessThan(200);
  expect(proxy.received).toBeLessThan(40_000_000);
  // Each resume passes the rows of one chunk.
  for (let n = 0; n < 5; n++) {
    const seen = rows;
    asked.handle.resume();
    await until('some more rows', () => rows > seen);
    expect(rows - seen).toBeLessThan(200);
  }
  flowing = true;
  asked.handle.resume();
  expect(await errorOf(asked)).toBe('done');
  expect([rows, bytes]).toEqual([30_000, 300_000_000]);
  expect(await database.query('select 1')).toEqual([['1']]);
});

test('a sink that pauses at the end of a chunk', async () => {
  const database = open(db);
  let rows = 0;
  let ends = 0;
  const asked = ask(database, [`select repeat('x', 10000) from generate_series(1, 2000)`], {
    sink: { row: () => ++rows > 0, chunkEnd: () => ++ends < 0 },
  });
  while ((await Promise.race([errorOf(asked), sleep(1)])) === undefined) asked.handle.resume();
  expect(await errorOf(asked)).toBe('done');
  expect(rows).toBe(2_000);
  expect(ends).toBeGreaterThan(100);
});

test('a slow sink does not block later calls', async () => {
  const database = open(db);
  const some = named(`select repeat('x', 1000) from generate_series(1, 2000)`);
  const quick = named('select 1');
  await ask(database, [[some], [quick]]).answer;
  let rows = 0;
  const slow = ask(database, [[some]], { mayShare: true, sink: { row: () => ++rows < 0, chunkEnd: () => false } });
  const others = Array.from({ length: 5 }, () => ask(database, [[quick]], { mayShare: true }));
  expect(await Promise.all(others.map((one) => rowsOf(one)))).toEqual(others.map(() => [['1']]));
  expect(await errorOf(slow)).toBe('done');
  expect(rows).toBe(2000);
});

test('no call joins a connection whose sink has paused', async () => {
  const database = open(db, { acquireTimeout: 200 });
  const quick = named('select 1');
  const large = named(flood);
  await until('it is open', async () => (await errorOf(ask(database, [[quick]]))) === 'done');
  let rows = 0;
  const slow = ask(database, [[large]], { mayShare: true, sink: { row: () => ++rows < 0 } });
  await until('rows have come', () => rows > 0);
  expect(await errorOf(ask(database, [[quick]], { mayShare: true }))).toBe('AcquireTimeout');
  slow.handle.cancel();
  expect(await errorOf(slow)).toBe('CallCancelled');
  // The connection is free when the server has answered the CancelRequest.
  await until('it is free', async () => (await errorOf(ask(database, [[quick]], { mayShare: true }))) === 'done');
});

test.each(['row', 'chunkEnd'] as const)('a sink whose %s throws closes only its own connection', async (member) => {
  const database = open(db, { poolSize: 2 });
  const other = ask(database, ['select pg_sleep(0.2)::text']);
  const broken = ask(database, ['select 1 from generate_series(1, 100000)'], {
    sink: {
      row: () => {
        if (member === 'row') throw new Error('no room');
        return true;
      },
      chunkEnd: () => {
        throw new Error('no room');
      },
    },
  });
  await expect(broken.answer).rejects.toThrow('no room');
  expect(await errorOf(other)).toBe('done');
  expect(await database.query('select 1')).toEqual([['1']]);
});
