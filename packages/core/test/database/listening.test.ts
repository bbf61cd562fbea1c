import { useDatabase } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import { Listener } from '../../src/postgres/listener.ts';
import { createSessionOpener } from '../../src/postgres/session-opener.ts';
import type { Database, ChannelEvent } from '../../src/postgres/port.ts';
import { open, startProxy, until } from './support.ts';

const db = useDatabase();

function hearing(database: Database, channel: string): { readonly heard: ChannelEvent[]; readonly stop: () => void } {
  const heard: ChannelEvent[] = [];
  return { heard, stop: database.listen(channel, (one) => void heard.push(one)) };
}

const gap: ChannelEvent = { kind: 'gap' };
const notification = (payload: string): ChannelEvent => ({ kind: 'notification', payload });

/** Returns the backends that listen to this channel; a backend of an earlier test may still exist. */
async function listeners(channel: string): Promise<readonly number[]> {
  const rows = await db.query(`select pid from pg_stat_activity where query = $1 and datname = current_database()`, [
    `listen "${channel}"`,
  ]);
  return rows.map((row) => row['pid'] as number);
}

async function connections(): Promise<number> {
  const [row] = await db.query(
    `select count(*)::int as n from pg_stat_activity where application_name = 'pgway' and datname = current_database()`,
  );
  return row!['n'] as number;
}

test('receives notifications after the gap event', async () => {
  const { heard } = hearing(open(db), 'news');
  await until('it listens', () => heard.length === 1);
  await db.query(`select pg_notify('news', 'one'), pg_notify('other', 'not this'), pg_notify('news', 'zwei żółw 🐢')`);
  await db.query('notify news');
  await until('it has heard', () => heard.length === 4);
  expect(heard).toEqual([gap, notification('one'), notification('zwei żółw 🐢'), notification('')]);
});

test('listening uses no connection of the pool', async () => {
  const database = open(db, { poolSize: 1 });
  const { heard } = hearing(database, 'beside');
  await until('it listens', () => heard.length === 1);
  await database.query(`select pg_notify('beside', 'x')`);
  await until('it has heard', () => heard.length === 2);
  expect(heard[1]).toEqual(notification('x'));
});

test('channel names are quoted', async () => {
  for (const name of ['Two "words"; drop', "it's", 'select', 'ż'.repeat(31)]) {
    const { heard, stop } = hearing(open(db), name);
    await until('it listens', () => heard.length === 1);
    await db.query('select pg_notify($1, $2)', [name, 'x']);
    await until('it has heard', () => heard.length === 2);
    expect(heard).toEqual([gap, notification('x')]);
    stop();
  }
});

test('an invalid channel name throws at once', () => {
  const database = open(db);
  for (const name of ['', 'x'.repeat(64), 'ż'.repeat(32), 'a\0b']) {
    expect(() => database.listen(name, () => undefined)).toThrow(RangeError);
  }
});

describe('a listener that loses its connection', () => {
  test('by the server: listens again and emits a gap', async () => {
    const { heard } = hearing(open(db), 'killed');
    await until('it listens', () => heard.length === 1);
    const [pid] = await listeners('killed');
    await db.query('select pg_terminate_backend($1)', [pid]);
    await until('it listens again', () => heard.length === 2);
    await db.query(`select pg_notify('killed', 'after')`);
    await until('it has heard', () => heard.length === 3);
    expect(heard).toEqual([gap, gap, notification('after')]);
  });

  test('by a network outage: tries again and reports the error', async () => {
    const proxy = await startProxy(db.connectionString);
    const problems: string[] = [];
    const database = open(proxy.connectionString, { onConnectionError: ({ message }) => void problems.push(message) });
    const { heard } = hearing(database, 'away');
    await until('it listens', () => heard.length === 1);
    await proxy.off();
    await until('it has tried', () => problems.length >= 2);
    expect(problems[0]).toMatch(/^no connection to 127\.0\.0\.1:\d+: /);
    await proxy.on();
    await until('it listens again', () => heard.length === 2);
    expect(heard).toEqual([gap, gap]);
  });
});

test('a silent server is dropped, and another connection listens', async () => {
  const proxy = await startProxy(db.connectionString);
  const heard: ChannelEvent[] = [];
  const listener = new Listener({
    open: createSessionOpener(parseConnectionString(proxy.connectionString), {}),
    heartbeatMs: 100,
    onConnectionError: () => undefined,
  });
  const stop = listener.listen('silent', (one) => void heard.push(one));
  await until('it listens', () => heard.length === 1);
  const received = proxy.received;
  await until('it is asked and answers', () => proxy.received > received);
  // On a busy machine, an earlier heartbeat may have timed out, too.
  const [before, ended] = [heard.length, proxy.ended];
  proxy.swallow();
  await until('it is given up', () => proxy.ended > ended);
  proxy.release();
  await until('it listens again', () => heard.length > before);
  stop();
  expect(heard).toEqual(heard.map(() => gap));
});

test('stop and close end the connection, also one that was never opened', async () => {
  const database = open(db);
  const { heard, stop } = hearing(database, 'stopped');
  await until('it listens', () => heard.length === 1);
  stop();
  await until('it is gone', async () => (await listeners('stopped')).length === 0);
  const again = hearing(database, 'closed');
  await until('it listens', () => again.heard.length === 1);
  await database.close();
  await until('it is gone', async () => (await listeners('closed')).length === 0);
  const late = hearing(database, 'late');
  late.stop();
  const quick = open(db);
  hearing(quick, 'quick');
  await quick.close();
  await until('it is gone', async () => (await listeners('quick')).length === 0);
  expect([heard, late.heard]).toEqual([[gap], []]);
});

describe('several channels', () => {
  test('share one connection, and each receives its own notifications', async () => {
    const database = open(db);
    const one = hearing(database, 'first');
    const other = hearing(database, 'second');
    await until('both listen', () => one.heard.length === 1 && other.heard.length === 1);
    const third = hearing(database, 'third');
    await until('a later one listens', () => third.heard.length === 1);
    await db.query(`select pg_notify('first', 'a'), pg_notify('second', 'b'), pg_notify('third', 'c')`);
    await until('they have heard', () => one.heard.length + other.heard.length + third.heard.length === 6);
    expect([one.heard[1], other.heard[1], third.heard[1]].map((heard) => heard)).toEqual(
      ['a', 'b', 'c'].map(notification),
    );
    await expect.poll(connections).toBe(1);
  });

  test('two listeners of one channel both receive, and each can stop', async () => {
    const database = open(db);
    const one = hearing(database, 'both');
    await until('it listens', () => one.heard.length === 1);
    const other = hearing(database, 'both');
    await until('the other one is told that it listens', () => other.heard.length === 1);
    one.stop();
    await db.query(`select pg_notify('both', 'x')`);
    await until('it has heard', () => other.heard.length === 2);
    expect([one.heard, other.heard]).toEqual([[gap], [gap, notification('x')]]);
  });

  test('a stopped channel receives nothing, and can be listened to again', async () => {
    const database = open(db);
    const one = hearing(database, 'on');
    const other = hearing(database, 'off');
    await until('both listen', () => one.heard.length === 1 && other.heard.length === 1);
    other.stop();
    const again = hearing(database, 'off');
    await until('it listens again', () => again.heard.length === 1);
    again.stop();
    await db.query(`select pg_notify('off', 'x'), pg_notify('on', 'y')`);
    await until('it has heard', () => one.heard.length === 2);
    expect([other.heard, again.heard]).toEqual([[gap], [gap]]);
  });

  test('a lost connection is a gap in each of them', async () => {
    const database = open(db);
    const one = hearing(database, 'lost_1');
    const other = hearing(database, 'lost_2');
    await until('both listen', () => one.heard.length === 1 && other.heard.length === 1);
    for (const pid of await listeners('lost_2')) await db.query('select pg_terminate_backend($1)', [pid]);
    await until('both listen again', () => one.heard.length === 2 && other.heard.length === 2);
    expect([one.heard, other.heard]).toEqual([
      [gap, gap],
      [gap, gap],
    ]);
    await expect.poll(connections).toBe(1);
  });

  test('a listener that starts during an outage gets its gap event after the reconnect', async () => {
    const proxy = await startProxy(db.connectionString);
    const problems: Error[] = [];
    const database = open(proxy.connectionString, { onConnectionError: (error) => void problems.push(error) });
    const one = hearing(database, 'away');
    await until('it listens', () => one.heard.length === 1);
    await proxy.off();
    await until('it has tried', () => problems.length > 0);
    const other = hearing(database, 'away');
    await until('it has tried again', () => problems.length > 1);
    expect(other.heard).toEqual([]);
    await proxy.on();
    await until('both listen', () => other.heard.length === 1 && one.heard.length === 2);
    expect([one.heard, other.heard]).toEqual([[gap, gap], [gap]]);
  });
});
