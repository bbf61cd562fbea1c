import { beforeAll, describe, expect, test } from 'vitest';
import { changesAsText, openTestReader, useLogicalServer } from './support.ts';

const server = useLogicalServer();

beforeAll(async () => {
  await server.query(`
    create table film (id integer primary key, title text, rating numeric);
    create table actor (first text, last text, born date, primary key (last, first));
    create publication pgway_changes for table film, actor;
  `);
});

describe('the keys of committed transactions', () => {
  test('a transaction has its changes in order, with the keys alone', async () => {
    const reader = await openTestReader(server);
    await server.query(`
      begin;
      insert into film values (1, 'One', 1.5), (2, 'Two', 2.5);
      update film set title = 'First' where id = 1;
      update film set id = 3 where id = 2;
      delete from film where id = 1;
      insert into actor values ('Ann', 'Lee', '1970-01-31');
      commit;
    `);
    const [transaction, ...others] = await reader.caughtUp();
    expect(others).toEqual([]);
    expect(transaction).toMatchObject({
      xid: expect.any(Number),
      commitLsn: expect.any(BigInt),
      commitTime: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      tooMany: false,
      truncated: [],
      redefined: [],
    });
    expect(changesAsText(transaction!)).toEqual([
      'insert film ["1"]',
      'insert film ["2"]',
      'update film ["1"]',
      'update film ["3"] was ["2"]',
      'delete film ["1"]',
      'insert actor ["Ann","Lee"]',
    ]);
    expect(transaction!.relations).toEqual([
      { id: expect.any(Number), schema: 'public', name: 'film', keyColumns: ['id'] },
      { id: expect.any(Number), schema: 'public', name: 'actor', keyColumns: ['first', 'last'] },
    ]);
    await server.query('delete from film; delete from actor');
  });
});
