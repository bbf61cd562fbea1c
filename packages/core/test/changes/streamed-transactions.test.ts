import { serverVersion } from '@pgway/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { changesAsText, openSession, openTestReader, useLogicalServer } from './support.ts';

// The smallest value: PostgreSQL streams a transaction from some hundred rows on.
const server = useLogicalServer({ logical_decoding_work_mem: '64kB' });

beforeAll(async () => {
  await server.query(`
    create publication pgway_changes for all tables;
    create table film (id integer primary key, title text);
    create table actor (id integer primary key);
  `);
});

/** Inserts so many rows that PostgreSQL streams them before the commit. */
const insertMany = (first: number): string =>
  `insert into film select n, repeat('x', 100) from generate_series(${first}, ${first} + 1999) n`;

/** The numbers of streamed transactions and of those that were decoded at their commits. */
async function decoded(): Promise<Record<string, unknown>> {
  const [row] = await server.query(
    `select count(*) filter (where stream_txns > 0)::int as "streamed" from pg_stat_replication_slots`,
  );
  return row!;
}

describe('a transaction that arrives before its commit', () => {
  test('is delivered with its commit, in order and whole', async () => {
    const reader = await openTestReader(server);
    const [session, other] = [await openSession(server), await openSession(server)];
    await session.query(`begin; ${insertMany(1)}; insert into actor values (1)`);
    await other.query(`begin; ${insertMany(3001)}`);
    await session.query(`update film set id = 2500 where id = 2; ${insertMany(6001)}`);
    await other.query(`delete from film where id = 3001; commit`);
    await session.query('delete from film where id = 1; commit');
    const [first, second, ...rest] = (await reader.caughtUp()).map(changesAsText);
    expect(rest).toEqual([]);
    expect(first).toEqual([...inserts(3001), 'delete film ["3001"]']);
    expect(second).toEqual([
      ...inserts(1),
      'insert actor ["1"]',
      'update film ["2500"] was ["2"]',
      ...inserts(6001),
      'delete film ["1"]',
    ]);
    await server.query('truncate film, actor');
  });

  test('loses what it rolls back', async () => {
    const reader = await openTestReader(server);
    const session = await openSession(server);
    await session.query(`
      begin; ${insertMany(1)};
      savepoint a; ${insertMany(3001)}; savepoint b; insert into film values (9001); rollback to a;
      insert into film values (9002); savepoint c; ${insertMany(6001)}; release c;
      commit`);
    await session.query(`begin; ${insertMany(20_001)}; rollback`);
    await session.query('insert into actor values (1)');
    expect((await reader.caughtUp()).map(changesAsText)).toEqual([
      [...inserts(1), 'insert film ["9002"]', ...inserts(6001)],
      ['insert actor ["1"]'],
    ]);
    await server.query('truncate film, actor');
  });

  test('has its truncations and definitions only when they were committed', async () => {
    const reader = await openTestReader(server);
    const session = await openSession(server);
    await session.query('insert into film values (-1); insert into actor values (-1)');
    await session.query(
      `begin; ${insertMany(1)}; savepoint s; truncate actor; ${insertMany(3001)}; rollback to s; commit`,
    );
    await session.query(`begin; alter table film add column note text; ${insertMany(6001)}; rollback`);
    await session.query(`begin; alter table film add column note text; ${insertMany(9001)}; truncate actor; commit`);
    await session.query('insert into film values (20001)');
    const transactions = await reader.caughtUp();
    const names = transactions.map(({ truncated, redefined }) => ({
      truncated: truncated.map(({ name }) => name),
      redefined: redefined.map(({ name }) => name),
    }));
    expect(names.slice(-3)).toEqual([
      { truncated: [], redefined: [] },
      { truncated: ['actor'], redefined: ['film'] },
      { truncated: [], redefined: [] },
    ]);
    await server.query('truncate film, actor');
  });

  test('drops its keys at the limit, and keeps nothing of them', async () => {
    const reader = await openTestReader(server, { maxKeys: 3000 });
    const session = await openSession(server);
    await session.query(`begin; ${insertMany(1)}; ${insertMany(3001)}; commit; insert into actor values (1)`);
    expect(
      (await reader.caughtUp()).map(({ tooMany, changes, relations }) => [
        tooMany,
        changes.length,
        relations.map(({ name }) => name),
      ]),
    ).toEqual([
      [true, 0, ['film']],
      [false, 1, ['actor']],
    ]);
    await server.query('truncate film, actor');
  });

  test('drops its keys when all that are open have too many together', async () => {
    const reader = await openTestReader(server, { maxKeys: 3000 });
    const sessions = await Promise.all(Array.from({ length: 7 }, () => openSession(server)));
    for (const [index, session] of sessions.entries()) {
      await session.query(`begin; ${insertMany(1 + index * 10_000)}`);
      if (index === 0) await session.query(`insert into film select generate_series(9001, 9100)`);
    }
    for (const session of sessions) await session.query('commit');
    const transactions = await reader.caughtUp();
    const kept = transactions.filter(({ tooMany }) => !tooMany);
    expect(kept).toHaveLength(serverVersion() >= 14 ? sessions.length - 1 : sessions.length);
    for (const { changes } of kept) expect([2000, 2100]).toContain(changes.length);
    await server.query('truncate film, actor');
  });
});

function inserts(first: number): readonly string[] {
  return Array.from({ length: 2000 }, (_, index) => `insert film ["${first + index}"]`);
}

describe('PostgreSQL', () => {
  test.skipIf(serverVersion() < 14)('streams the transactions of these tests', async () => {
    const reader = await openTestReader(server);
    await server.query(`begin; ${insertMany(1)}; commit`);
    await reader.caughtUp();
    await expect.poll(decoded).toEqual({ streamed: 1 });
    await server.query('truncate film, actor');
  });
});
