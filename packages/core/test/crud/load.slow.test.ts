import { crudSource, functionsSource } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { connectDatabase } from '../../src/postgres/connect-database.ts';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import type { Database } from '../../src/postgres/port.ts';
import { ask, refusal, tables } from './support.ts';

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

test('32 clients that upsert one key 10,000 times lose no update', async () => {
  const gateway = await startGateway(
    `
    create table counter (id int primary key, last int not null, times int not null default 1);
    create function count_up() returns trigger language plpgsql as $$ begin new.times := old.times + 1; return new; end $$;
    create trigger t before update on counter for each row execute function count_up();
  `,
    { ...tables(), poolSize: 8 },
  );
  const statuses = new Map<number, number>();
  const seen: number[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    for (let index = next++; index < 10_000; index = next++) {
      const returning = index % 2 === 0;
      // A client sends its requests one by one.
      const { status, body } = await gateway.send(
        `PUT /api/counter/on-conflict-do-update${returning ? '/returning' : ''}`,
        {
          body: { id: 1, last: index },
        },
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 200) seen.push((JSON.parse(body) as readonly { times: number }[])[0]!.times);
    }
  };
  await Promise.all(range(32).map(client));
  expect([...statuses]).toEqual(
    expect.arrayContaining([
      [200, 5_000],
      [204, 5_000],
    ]),
  );
  expect(statuses.size).toBe(2);
  expect(await gateway.database.query('select times from counter')).toEqual([{ times: 10_000 }]);
  // Each response had another state.
  expect(new Set(seen).size).toBe(5_000);
  await gateway.close();
});

test('the oldest statements are evicted past 200 sets of columns, and past 500 on a connection', async () => {
  const names = range(10).map((index) => `c${index}`);
  const gateway = await startGateway(
    `create table many (id int primary key, ${names.map((name) => `${name} int`).join(', ')});
     create view kept as select count(*)::int as n from pg_prepared_statements;
     create view names as select max(substring(name from '\\d+')::int) as newest from pg_prepared_statements where name ~ '^pgway_\\d+$'`,
    { ...tables(), poolSize: 1, acquireTimeout: 60 },
  );
  const kept = async (): Promise<number> =>
    ((await ask(gateway, 'GET /api/kept')) as [number, { n: number }[]])[1][0]!.n;
  const sets = range(700).map((bits) => names.filter((_, index) => ((bits + 1) >> index) % 2 === 1));
  let id = 0;
  /** Repeats the request until its statement is prepared. */
  const putOften = async (columns: readonly string[]): Promise<void> => {
    for (const value of range(3)) {
      const body = Object.fromEntries(columns.map((name) => [name, value]));
      expect(await ask(gateway, 'PUT /api/many', { id: id++, ...body })).toEqual([204, null]);
    }
  };
  for (const start of range(35)) {
    // Within the limit of 200.
    await Promise.all(sets.slice(start * 20, start * 20 + 20).map(putOften));
  }
  expect(await gateway.database.query('select count(*)::int as n from many')).toEqual([{ n: 2_100 }]);
  const before = await kept();
  expect(before).toBeGreaterThan(400);
  expect(before).toBeLessThanOrEqual(501);
  // The last set of columns still has its statement, the first one is prepared again.
  const newest = async (): Promise<unknown> => (await ask(gateway, 'GET /api/names'))[1];
  await newest();
  await newest();
  const last = await newest();
  await putOften(sets.at(-1)!);
  expect(await newest()).toEqual(last);
  await putOften(['c0']);
  expect(await newest()).not.toEqual(last);
  await gateway.close();
});

test('conditions that do not repeat leave no prepared statements; repeated ones stay', async () => {
  const names = range(40).map((index) => `c${index}`);
  const gateway = await startGateway(
    `create table wide (id int primary key, ${names.map((name) => `${name} int`).join(', ')});
     comment on table wide is 'listing';
     create function search(${range(10)
       .map((index) => `_p${index} int default 0`)
       .join(', ')}) returns int language sql stable as 'select 1';
     create function kept() returns setof text language sql volatile as
       $$ select statement from pg_prepared_statements where statement ~ '"(wide|search)"' $$;
     comment on function kept() is 'HTTP GET';`,
    { ...tables(), routineSources: [crudSource(), functionsSource()], poolSize: 1 },
  );
  const kept = async (): Promise<unknown> => (await ask(gateway, 'GET /api/kept'))[1];
  for (const number of range(300)) {
    const chosen = names.filter((_, index) => ((number + 1) >> (index % 10)) % 2 === 1).slice(0, 30);
    const conditions = chosen.map((name) => `${name}=${number % 2 === 0 ? '' : 'gt.'}${number}`).join('&');
    const given = range(10).filter((index) => ((number + 1) >> index) % 2 === 1);
    const [listed, deleted, called] = await Promise.all([
      gateway.send(`GET /api/wide?${conditions}&order=${chosen.join()}`),
      gateway.send(`DELETE /api/wide?${chosen.map((name) => `${name}=1`).join('&')}`),
      gateway.send(`GET /api/search?${given.map((index) => `p${index}=1`).join('&')}`),
    ]);
    expect([listed.status, deleted.status, called.status]).toEqual([200, 204, 200]);
  }
  expect(await kept()).toEqual([]);
  for (const _ of range(3)) {
    expect(await ask(gateway, 'GET /api/wide?c1=1')).toEqual([200, []]);
  }
  expect(await kept()).toEqual([expect.stringContaining('"r"."c1" operator(pg_catalog.=) $1')]);
  await gateway.close();
});

test('a request has at most 32 conditions, and is ordered by at most 32 columns', async () => {
  const names = range(40).map((index) => `c${index}`);
  const gateway = await startGateway(
    `create table wide (id int primary key, ${names.map((name) => `${name} int`).join(', ')});
     create table listed (like wide including all); comment on table listed is 'listing';`,
    tables(),
  );
  const query = (count: number): string =>
    names
      .slice(0, count)
      .map((name) => `${name}=1`)
      .join('&');
  const tooMany = refusal(400, { type: 'urn:pgway:problem:too-many-conditions', detail: /33/ });
  for (const line of ['GET /api/wide', 'GET /api/listed', 'DELETE /api/wide/returning']) {
    expect(await ask(gateway, `${line}?${query(32)}`)).toEqual([200, []]);
    expect(await ask(gateway, `${line}?${query(33)}`)).toEqual(tooMany);
  }
  const repeated = range(33).map((index) => `c1=neq.${index}`);
  expect(await ask(gateway, `GET /api/listed?${repeated.slice(1).join('&')}`)).toEqual([200, []]);
  expect(await ask(gateway, `GET /api/listed?${repeated.join('&')}`)).toEqual(tooMany);
  expect(await ask(gateway, `GET /api/listed?order=${names.slice(0, 32).join()}`)).toEqual([200, []]);
  expect(await ask(gateway, `GET /api/listed?order=${names.slice(0, 33).join()}`)).toEqual(tooMany);
  await gateway.close();
});

test('requests succeed during a refresh', async () => {
  const gateway = await startGateway(
    `create table item (id int primary key, note text); insert into item values (1, 'x');`,
    tables({ listing: true }),
  );
  let done = false;
  const statuses = new Set<number>();
  const client = async (): Promise<void> => {
    while (!done) {
      const answers = await Promise.all([
        gateway.send('GET /api/item?id=1'),
        gateway.send('POST /api/item/returning', { body: { id: 1, note: 'y' } }),
        gateway.send('GET /api/item?order=note', { headers: { prefer: 'count=exact' } }),
      ]);
      for (const { status } of answers) statuses.add(status);
    }
  };
  const clients = range(4).map(client);
  for (const round of range(5)) {
    await gateway.database.query(`alter table item add column more_${round} int`);
    await gateway.gateway.refresh();
  }
  done = true;
  await Promise.all(clients);
  expect([...statuses]).toEqual([200]);
  expect(await ask(gateway, 'GET /api/item?more4=')).toMatchObject([200, [{ id: 1, more0: null, more4: null }]]);
  await gateway.close();
});

test('two thousand tables and as many views are read by three statements', async () => {
  const gateway = await startGateway(
    `do $$ begin for i in 1..2000 loop
       execute format('create table t%s (id int primary key, name text not null, price numeric default 1, made timestamptz, tags text[])', i);
       execute format('create view v%s as select id, name, upper(name) as loud from t%s', i, i);
       execute format('comment on constraint t%s_pkey on t%s is ''Taken.''', i, i);
     end loop; end $$`,
    { ...tables(), includeNames: ['t1', 'v10'] },
  );
  const database = connectDatabase(parseConnectionString(gateway.database.connectionString), {
    poolSize: 1,
    acquireTimeout: 10_000,
    statementTimeout: 60_000,
    shareConnections: false,
    planCacheMode: 'auto',
    pooler: 'session',
    preparedStatements: true,
    onNotice: () => undefined,
    onConnectionError: () => undefined,
  });
  let statements = 0;
  const counting: Database = {
    ...database,
    run: (call) => {
      // The first of the two statements sets the `search_path`.
      statements += call.steps.length - 1;
      return database.run(call);
    },
  };
  const routines = await crudSource().read(counting, {});
  await database.close();
  expect(routines.length).toBe(2000 * 11 + 2000 * 11);
  // Tables, foreign keys, and the columns that views show.
  expect(statements).toBe(3);
  await gateway.close();
});
