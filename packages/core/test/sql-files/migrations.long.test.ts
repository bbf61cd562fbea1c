import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createGateway, sqlFilesSource } from '@pgway/core';
import { freshDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createFolder } from './folder.ts';

/** Requests without a pause while the schema below their files changes: a response is the one before or after a change, never a mixture. */

const files = {
  'rows.sql': '-- HTTP GET\nselect * from film order by id',
  'column.sql': '-- HTTP GET\nselect amount from film order by id',
  'named.sql': '-- HTTP GET\nselect id, amount from film where id >= :least order by id',
  'one.sql': '-- HTTP GET\n-- single\nselect id, amount, film as whole from film where id = :id',
  'compared.sql': '-- HTTP GET\nselect id from film where amount = :amount order by id',
  'several.sql':
    '-- HTTP GET\n-- result rows\nselect * from film order by id;\n-- result amounts\nselect amount from film order by id;\n-- result first\n-- single\nselect * from film order by id',
  'added.sql':
    '-- HTTP POST\nwith noted as (insert into note (film) select id from film returning film) select id, amount from film join noted on film = id order by id',
  'computed.sql':
    '-- HTTP GET\n-- param most = select max(amount) from film\nselect id, :most::text as most from film order by id',
};
type Name = keyof typeof files;

const requests: Readonly<Record<Name, string>> = {
  'rows.sql': 'GET /api/rows',
  'column.sql': 'GET /api/column',
  'named.sql': 'GET /api/named?least=1',
  'one.sql': 'GET /api/one?id=2',
  'compared.sql': 'GET /api/compared?amount=2',
  'several.sql': 'GET /api/several',
  'added.sql': 'POST /api/added',
  'computed.sql': 'GET /api/computed',
};

const numbers = `create table film (id int primary key, amount int); insert into film values (1, 1), (2, 2), (3, 2)`;
const texts = `create table film (id text primary key, extra boolean, amount text); insert into film values ('1', true, '1'), ('2', true, '2'), ('3', null, '2')`;

/** Each change is one transaction. */
const changes: readonly string[] = [
  'alter table film alter amount type text using amount::text',
  'alter table film alter amount type int using amount::int',
  'alter table film alter amount type int[] using array[amount]',
  'alter table film alter amount type numeric(9, 2) using amount[1], alter id type bigint',
  'alter table film alter amount type int, alter id type int',
  'alter table film rename amount to price',
  'alter table film rename price to amount',
  'alter table film add extra json default \'{"a": 1}\'',
  'alter table film drop extra',
  `drop table film; ${texts}`,
  `drop table film; ${numbers}`,
  'alter table film rename id to other; alter table film rename amount to id; alter table film rename other to amount',
  'alter table film rename id to other; alter table film rename amount to id; alter table film rename other to amount',
  'drop table film',
  numbers,
  `alter table film rename to old; create view film as select id, amount::text || '!' as amount from old`,
  'drop view film; alter table old rename to film',
  'create type money_of as (value int); alter table film alter amount type money_of using row(amount)::money_of',
  'alter type money_of rename attribute value to number',
  'alter table film alter amount type int using (amount).number; drop type money_of',
];

const names = Object.keys(files) as Name[];

async function start(connectionString: string, folder: string) {
  const gateway = await createGateway({
    connectionString,
    poolSize: 3,
    routineSources: [sqlFilesSource({ files: '*.sql', folder })],
  });
  const ask = async (name: Name): Promise<unknown> => {
    const [method, url] = requests[name].split(' ');
    const response = await gateway.fetch(new Request(`http://localhost${url}`, { method: method! }));
    await setImmediate();
    if (response === undefined) return 'no endpoint';
    const text = await response.text();
    // The order of members is not compared.
    return response.status === 200 ? (JSON.parse(text) as unknown) : `${response.status} ${text}`;
  };
  return { gateway, ask };
}

type Ask = Awaited<ReturnType<typeof start>>['ask'];

async function askAll(ask: Ask): Promise<ReadonlyMap<Name, unknown>> {
  const answers = new Map<Name, unknown>();
  for (const name of names) answers.set(name, await ask(name));
  return answers;
}

test.each(changes.map((change, index) => [change, index] as const))('%s', async (change, index) => {
  const folder = await createFolder(files);
  const earlier = changes.slice(0, index).map((one) => `${one};`);
  const database = await freshDatabase(`${numbers}; create table note (film text); ${earlier.join('\n')}`);
  onTestFinished(() => database.drop());
  const { gateway, ask } = await start(database.connectionString, folder);
  let isDone = false;
  onTestFinished(async () => {
    isDone = true;
    await gateway.close();
  });
  const before = await askAll(ask);
  const seen: [name: Name, answer: unknown, wasRefreshed: boolean][] = [];
  let isRefreshed = false;
  const client = async (turn: number): Promise<void> => {
    for (let next = turn; !isDone; next++) {
      const name = names[next % names.length]!;
      const wasRefreshed = isRefreshed;
      seen.push([name, await ask(name), wasRefreshed]);
    }
  };
  const clients = names.map((_, turn) => client(turn));
  const untilMore = async (count: number): Promise<void> => {
    const least = seen.length + count;
    await expect.poll(() => seen.length).toBeGreaterThan(least);
  };
  await untilMore(names.length);
  await database.query(change);
  await untilMore(3 * names.length);
  await gateway.refresh();
  isRefreshed = true;
  await untilMore(2 * names.length);
  isDone = true;
  await Promise.all(clients);
  const after = await askAll(ask);
  const mixed = seen.flatMap(([name, answer, wasRefreshed]) => {
    const allowed = wasRefreshed ? [after.get(name)] : [before.get(name), after.get(name)];
    return allowed.some((one) => isDeepStrictEqual(one, answer)) ? [] : [JSON.stringify({ name, answer, allowed })];
  });
  expect([...new Set(mixed)]).toEqual([]);
});

/** Each state has all endpoints: one that a reload finds without its table comes back with the next reload only. */
const quick: readonly string[] = [
  'alter table film alter amount type text using amount::text',
  'alter table film alter amount type int[] using array[amount::int]',
  'alter table film add extra json default \'{"a": 1}\'',
  'alter table film alter amount type int using amount[1]',
  'alter table film drop extra',
  `drop table film; ${texts}`,
  `drop table film; ${numbers}`,
  'alter table film alter amount type numeric(9, 2), alter id type bigint',
];

/** Returns the answers before the first change and after each one. */
async function answersOfStates(): Promise<readonly ReadonlyMap<Name, unknown>[]> {
  const database = await freshDatabase(`${numbers}; create table note (film text)`);
  onTestFinished(() => database.drop());
  const { gateway, ask } = await start(database.connectionString, await createFolder(files));
  onTestFinished(() => gateway.close());
  const states = [await askAll(ask)];
  for (const change of quick) {
    await database.query(change);
    await gateway.refresh();
    states.push(await askAll(ask));
  }
  return states;
}

test.each([0, 1, names.length])(
  'changes in fast succession, %d responses apart, without a refresh from outside',
  async (apart) => {
    const states = await answersOfStates();
    const database = await freshDatabase(`${numbers}; create table note (film text)`);
    onTestFinished(() => database.drop());
    const { gateway, ask } = await start(database.connectionString, await createFolder(files));
    let isDone = false;
    onTestFinished(async () => {
      isDone = true;
      await gateway.close();
    });
    const wrong = new Set<string>();
    let count = 0;
    let begun = 0;
    const client = async (turn: number): Promise<void> => {
      for (let next = turn; !isDone; next++) {
        const name = names[next % names.length]!;
        const answer = await ask(name);
        count++;
        const allowed = states.slice(0, begun + 1).map((state) => state.get(name));
        if (!allowed.some((one) => isDeepStrictEqual(one, answer))) wrong.add(JSON.stringify({ name, answer, begun }));
      }
    };
    const clients = names.map((_, turn) => client(turn));
    for (const change of quick) {
      const least = count + apart;
      begun++;
      await database.query(change);
      await expect.poll(() => count).toBeGreaterThanOrEqual(least);
    }
    isDone = true;
    await Promise.all(clients);
    expect([...wrong]).toEqual([]);
    expect(await askAll(ask)).toEqual(states.at(-1));
  },
);

test('a function that is dropped and created by separate statements has its endpoint again, though a request came between', async () => {
  const database = await freshDatabase(`
    create function greeting() returns text language sql stable as $$ select 'hello' $$;
    comment on function greeting is 'HTTP';
  `);
  onTestFinished(() => database.drop());
  const gateway = await createGateway({ connectionString: database.connectionString });
  onTestFinished(() => gateway.close());
  /** Null: there is no such endpoint. */
  const ask = async (): Promise<string | null> =>
    (await gateway.fetch(new Request('http://localhost/api/greeting')))?.text() ?? null;
  expect(await ask()).toBe('hello');
  await database.query('drop function greeting()');
  expect(await ask()).toBe(null);
  await database.query(`create function greeting() returns int language sql stable as $$ select 7 $$`);
  await database.query(`comment on function greeting is 'HTTP'`);
  await expect.poll(ask).toBe('7');
});
