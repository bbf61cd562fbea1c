import { useDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { GroupMember } from '../../src/changes/change-group.ts';
import type { ChangeMessage } from '../../src/ports/changes.ts';
import { asLines, column, queryOf, requestOf, startEngine, subscribe } from './engine-support.ts';

const database = useDatabase(`
  create table film (id integer primary key, title text);
  create publication pgway_changes for table film;
`);

beforeEach(() => database.query('delete from film'));

const columns = [column('id', 'number'), column('title', 'string')];
const film = queryOf('film', columns);

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: database.connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

function snapshotOf(filter: string): NonNullable<ReturnType<typeof requestOf>['snapshot']> {
  return { sql: `select "r"."id", "r"."title" from "film" as "r" where ${filter} order by 1`, values: [] };
}

test('without subscribers, transactions do not pile up', async () => {
  const { engine } = await startEngine(database);
  await expect.poll(() => engine.statistics()).toMatchObject({ cuts: 1, cutAgeMs: null });
  await database.query(`
    do $$ begin for n in 1..1100 loop insert into film values (n, 'n'); commit; end loop; end $$`);

  await expect.poll(() => engine.statistics().cuts).toBeGreaterThan(1);
  const { messages } = await subscribe(engine, requestOf(film));
  await database.query(`insert into film values (2000, 'Last')`);
  await expect.poll(() => asLines(messages)).toEqual(['begin', 'insert {"id":2000,"title":"Last"}']);
});

describe('a snapshot that PostgreSQL refuses', () => {
  test('fails its own subscriber only, and not the others of the group', async () => {
    const { engine } = await startEngine(database);
    const refused = subscribe(engine, requestOf(film, { snapshot: snapshotOf('1 / 0 = 1') }));
    const others = Promise.all([
      subscribe(engine, requestOf(film)),
      subscribe(engine, requestOf(film, { snapshot: snapshotOf('true') })),
    ]);

    await expect(refused).rejects.toMatchObject({ diagnostics: { code: '22012' } });
    const [plain, other] = await others;
    await database.query(`insert into film values (1, 'One')`);
    await expect.poll(() => asLines(plain.messages)).toEqual(['begin', 'insert {"id":1,"title":"One"}']);
    await expect.poll(() => asLines(other.messages)).toEqual(['rows ', 'insert {"id":1,"title":"One"}']);
    expect([plain.ends, other.ends]).toEqual([[], []]);
  });

  test('after a gap, ends its own stream only', async () => {
    const { engine } = await startEngine(database, { maxKeys: 3 });
    const fails = `1 / (select 20 - count(*) from "film") >= 0`;
    const plain = await subscribe(engine, requestOf(film));
    const refused = await subscribe(engine, requestOf(film, { snapshot: snapshotOf(fails) }));
    await database.query(`insert into film select n, 'n' from generate_series(1, 20) as n`);

    await expect.poll(() => refused.ends).toEqual(['closing']);
    expect(asLines(refused.messages)).toEqual(['rows ', 'gap too-many-changes']);
    await database.query(`insert into film values (21, 'x')`);
    await expect
      .poll(() => asLines(plain.messages))
      .toEqual(['begin', 'gap too-many-changes', 'insert {"id":21,"title":"x"}']);
    expect(plain.ends).toEqual([]);
  });
});

test('a subscriber that joins while the last one leaves keeps the group', async () => {
  const { engine } = await startEngine(database, { windowMs: 500, replay: { ageMs: 0, bytes: 1024 } });
  const first = await subscribe(engine, requestOf(film));
  const joining = subscribe(engine, requestOf(film));
  await database.query('select 1');
  first.subscription.cancel();
  const second = await joining;
  const { cuts } = engine.statistics();
  await expect.poll(() => engine.statistics().cuts).toBeGreaterThan(cuts);

  await database.query(`insert into film values (1, 'One')`);
  await expect.poll(() => asLines(second.messages)).toEqual(['begin', 'insert {"id":1,"title":"One"}']);
});

test('subscribers whose first rows take long do not hold up the changes of others, nor their joins', async () => {
  const { engine } = await startEngine(database, { lookupTimeoutMs: 20_000 });
  const client = await connect();
  await client.query('select pg_advisory_lock(4711)');
  await database.query(`insert into film values (0, 'Zero')`);
  const fast = await subscribe(engine, requestOf(film));
  // Each is another group with another snapshot.
  const slow = Array.from({ length: 12 }, (_, n) => {
    const snapshot = snapshotOf(`pg_advisory_xact_lock_shared(4711 + 0 * ${n}) is not null`);
    return subscribe(engine, requestOf(queryOf('film', columns, { filter: `${n} = ${n}` }), { snapshot }));
  });
  await expect.poll(() => engine.statistics().groups).toBe(13);
  await database.query(`insert into film values (1, 'One')`);
  await expect.poll(() => asLines(fast.messages)).toEqual(['begin', 'insert {"id":1,"title":"One"}']);
  const second = await subscribe(engine, requestOf(queryOf('film', columns, { filter: 'id > 1' })));
  await database.query(`insert into film values (2, 'Two')`);
  await expect.poll(() => asLines(fast.messages)[2]).toBe('insert {"id":2,"title":"Two"}');
  await expect.poll(() => asLines(second.messages)).toEqual(['begin', 'insert {"id":2,"title":"Two"}']);
  await client.query('select pg_advisory_unlock(4711)');

  for (const { messages } of await Promise.all(slow)) expect(asLines(messages)[0]).toMatch(/^rows {"id":0/);
});

test('subscribers whose rows take long after a gap do not hold up the changes of others', async () => {
  const { engine } = await startEngine(database, { lookupTimeoutMs: 20_000, maxKeys: 3 });
  const fast = await subscribe(engine, requestOf(film));
  const slow = await Promise.all(
    Array.from({ length: 12 }, (_, n) => {
      const snapshot = snapshotOf(`pg_advisory_xact_lock_shared(4715 + 0 * ${n}) is not null`);
      return subscribe(engine, requestOf(queryOf('film', columns, { filter: `${n} = ${n}` }), { snapshot }));
    }),
  );
  const client = await connect();
  await client.query('select pg_advisory_lock(4715)');
  await database.query(`insert into film select n, 'n' from generate_series(1, 9) as n`);
  await expect.poll(() => asLines(fast.messages)).toEqual(['begin', 'gap too-many-changes']);
  await database.query(`update film set title = 'm'`);
  for (const { messages } of slow)
    await expect.poll(() => asLines(messages)).toEqual(['rows ', 'gap too-many-changes', 'gap too-many-changes']);
  for (const id of [10, 11]) {
    await database.query(`insert into film values (${id}, 'x')`);
    await expect.poll(() => asLines(fast.messages).at(-1)).toBe(`insert {"id":${id},"title":"x"}`);
  }
  await client.query('select pg_advisory_unlock(4715)');

  for (const { messages } of slow) {
    await expect.poll(() => asLines(messages).join()).toContain('{"id":11,"title":"x"}');
    const [again, ...later] = asLines(messages).slice(3);
    expect(again).toMatch(/^reset \{"id":1,"title":"m"\} /);
    // The rows of each snapshot continue without loss or repetition.
    expect([again, ...later].join().match(/"id":1[01]/g)).toEqual(['"id":10', '"id":11']);
  }
});

test('a slow lookup does not hold up other subscribers', async () => {
  const { engine } = await startEngine(database, { lookupTimeoutMs: 20_000 });
  const filter = `pg_advisory_xact_lock_shared(4712) is not null`;
  const slow = await subscribe(engine, requestOf(queryOf('film', columns, { filter })));
  const fast = await subscribe(engine, requestOf(film));
  const client = await connect();
  await client.query('select pg_advisory_lock(4712)');
  await database.query(`insert into film values (1, 'One')`);
  await expect.poll(() => asLines(fast.messages)).toEqual(['begin', 'insert {"id":1,"title":"One"}']);
  await database.query(`insert into film values (2, 'Two')`);
  await expect.poll(() => asLines(fast.messages)[2]).toBe('insert {"id":2,"title":"Two"}');
  expect(asLines(slow.messages)).toEqual(['begin']);
  await client.query('select pg_advisory_unlock(4712)');

  await expect
    .poll(() => asLines(slow.messages))
    .toEqual(['begin', 'insert {"id":1,"title":"One"}', 'gap lookup-timeout']);
});

describe('lookups that share a transaction', () => {
  test('do not wait long for one that becomes slow', async () => {
    const { engine } = await startEngine(database, { lookupTimeoutMs: 20_000 });
    const filter = `pg_advisory_xact_lock_shared(4713) is not null`;
    const slow = await subscribe(engine, requestOf(queryOf('film', columns, { filter })));
    const fast = await subscribe(engine, requestOf(film));
    const lines = ['begin'];
    // The first lookup of each has a transaction of its own.
    for (const id of [1, 2]) {
      await database.query(`insert into film values (${id}, 'quick')`);
      lines.push(`insert {"id":${id},"title":"quick"}`);
      for (const { messages } of [slow, fast]) await expect.poll(() => asLines(messages)).toEqual(lines);
    }
    const client = await connect();
    await client.query('select pg_advisory_lock(4713)');
    for (const id of [3, 4]) {
      await database.query(`insert into film values (${id}, 'slow')`);
      await expect
        .poll(() => asLines(fast.messages).at(-1), { timeout: 15_000 })
        .toBe(`insert {"id":${id},"title":"slow"}`);
    }
    expect(asLines(slow.messages)).toEqual(lines);
    await client.query('select pg_advisory_unlock(4713)');

    await expect
      .poll(() => asLines(slow.messages))
      .toEqual([...lines, 'insert {"id":3,"title":"slow"}', 'gap lookup-timeout']);
  });

  test('do not fail with one of them', async () => {
    const { engine } = await startEngine(database);
    const failing = await subscribe(engine, requestOf(queryOf('film', columns, { filter: '1 / (id - 3) <= 1' })));
    const other = await subscribe(engine, requestOf(film));
    const lines = ['begin'];
    for (const id of [1, 2]) {
      await database.query(`insert into film values (${id}, 'x')`);
      lines.push(`insert {"id":${id},"title":"x"}`);
      for (const { messages } of [failing, other]) await expect.poll(() => asLines(messages)).toEqual(lines);
    }
    await database.query(`insert into film values (3, 'x')`);
    await expect.poll(() => asLines(other.messages)).toEqual([...lines, 'insert {"id":3,"title":"x"}']);

    await expect.poll(() => asLines(failing.messages)).toEqual([...lines, 'gap lookup-failed']);
  });
});

test('rows whose JSON has more bytes than the limit are a gap, and no snapshot', async () => {
  const { engine } = await startEngine(database, { replay: { ageMs: 60_000, bytes: 2_000 } });
  const { messages } = await subscribe(engine, requestOf(film));
  // A character of JSON has up to six times the bytes of that in PostgreSQL.
  await database.query(`insert into film values (1, repeat(chr(1), 1000))`);
  await expect.poll(() => asLines(messages)).toEqual(['begin', 'gap too-many-changes']);
  await expect(subscribe(engine, requestOf(film, { snapshot: snapshotOf('true') }))).rejects.toMatchObject({
    detail: expect.stringContaining('too large'),
  });
  await database.query(`insert into film values (2, repeat('x', 1000))`);
  await expect.poll(() => asLines(messages)[2]).toBe(`insert {"id":2,"title":"${'x'.repeat(1_000)}"}`);
});

test('the changes of a slow lookup precede the gap of a lost connection', async () => {
  const { engine } = await startEngine(database, { lookupTimeoutMs: 20_000 });
  const filter = `pg_advisory_xact_lock_shared(4711) is not null`;
  const slow = await subscribe(engine, requestOf(queryOf('film', columns, { filter })));
  const fast = await subscribe(engine, requestOf(film));
  const client = await connect();
  await client.query('select pg_advisory_lock(4711)');
  await database.query(`insert into film values (1, 'One')`);
  await expect
    .poll(() =>
      database.query(`
        select from pg_locks join pg_database on pg_database.oid = database
        where locktype = 'advisory' and not granted and datname = current_database()`),
    )
    .toHaveLength(1);
  await database.query(`
    select pg_terminate_backend(active_pid) from pg_replication_slots where database = current_database()`);
  await expect.poll(() => asLines(fast.messages), { timeout: 20_000 }).toContain('gap connection-lost');
  await client.query('select pg_advisory_unlock(4711)');

  await expect
    .poll(() => asLines(slow.messages), { timeout: 20_000 })
    .toEqual(['begin', 'insert {"id":1,"title":"One"}', 'gap connection-lost']);
});

test('streams learn that the log is not read, and again when it is', async () => {
  let open: Promise<void> = Promise.resolve();
  const { engine } = await startEngine(database, { canOpen: () => open });
  const plain = await subscribe(engine, requestOf(film));
  const withRows = await subscribe(engine, requestOf(film, { snapshot: snapshotOf('true') }));
  let mayOpen: () => void = () => undefined;
  open = new Promise((resolve) => (mayOpen = resolve));
  await database.query(`
    select pg_terminate_backend(active_pid) from pg_replication_slots where database = current_database()`);
  const lost = 'gap connection-lost';
  await expect.poll(() => asLines(plain.messages)).toEqual(['begin', lost]);
  expect(asLines(withRows.messages)).toEqual(['rows ', lost]);
  expect(engine.statistics()).toMatchObject({ isOpen: false, gaps: { 'connection-lost': 2 } });
  await database.query(`insert into film values (1, 'One')`);
  mayOpen();

  await expect.poll(() => asLines(plain.messages)).toEqual(['begin', lost, lost]);
  await expect.poll(() => asLines(withRows.messages)).toEqual(['rows ', lost, lost, 'reset {"id":1,"title":"One"}']);
  const ids = plain.messages.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(3);
  const resumed = await subscribe(engine, requestOf(film, { lastEventId: ids[1]! }));
  expect(asLines(resumed.messages)).toEqual([lost]);
  await database.query(`insert into film values (2, 'Two')`);
  for (const { messages } of [plain, withRows, resumed])
    await expect.poll(() => asLines(messages).at(-1)).toBe('insert {"id":2,"title":"Two"}');
});

describe('a client that was cut off after a gap', () => {
  test('gets the rows of its snapshot again when it has not got all of them', async () => {
    const { engine } = await startEngine(database, { maxKeys: 3 });
    const snapshot = snapshotOf('"r"."id" > 4');
    const { messages, subscription } = await subscribe(engine, requestOf(film, { snapshot }));
    await database.query(`insert into film select n, 'n' from generate_series(1, 5) as n`);
    await expect.poll(() => asLines(messages)).toEqual(['rows ', 'gap too-many-changes', 'reset {"id":5,"title":"n"}']);

    const resume = (lastEventId: string) => subscribe(engine, requestOf(film, { snapshot, lastEventId }));
    const cutOff = await resume(messages[1]!.id);
    expect(asLines(cutOff.messages)).toEqual(['gap too-many-changes', 'reset {"id":5,"title":"n"}']);
    const complete = await resume(messages[2]!.id);
    expect([complete.messages, complete.subscription.lastId >= messages[2]!.id]).toEqual([[], true]);
    const plain = await subscribe(engine, requestOf(film, { lastEventId: messages[1]!.id }));
    expect(asLines(plain.messages)).toEqual(['gap too-many-changes']);
    subscription.cancel();
  });

  test('messages wait for the rows of each gap before them', () => {
    const received: string[] = [];
    const listener = { message: ({ id }: { readonly id: string }) => received.push(id), ended: () => undefined };
    const member = new GroupMember(listener, { snapshot: null, lastEventId: '0' });
    const [first, gap, second, last] = ['1', '2', '3', '4'].map((id) => ({ kind: 'begin', id }) as const);
    const holdOfFirst = member.hold();
    member.send(gap!);
    const holdOfSecond = member.hold();
    member.send(last!);
    holdOfSecond.release(second!);
    expect([received, member.lastId, member.isHeld]).toEqual([[], '0', true]);
    holdOfFirst.release(first!);
    expect([received, member.lastId, member.isHeld]).toEqual([['1', '2', '3', '4'], '4', false]);
  });

  test('gets no changes of rows that it waits for when its stream ends', () => {
    const received: string[] = [];
    const listener = {
      message: ({ kind, id }: ChangeMessage) => received.push(`${kind} ${id}`),
      ended: (reason: string) => received.push(reason),
    };
    const member = new GroupMember(listener, { snapshot: snapshotOf('true'), lastEventId: '0' });
    const hold = member.hold();
    member.send({ kind: 'changes', id: '1', changes: [] });
    member.send({ kind: 'gap', id: '0', reason: 'schema-changed' });
    member.end('schema-changed');
    hold.release({ kind: 'rows', id: '2', rows: [], isReset: true });
    expect([received, member.lastId]).toEqual([['gap 0', 'schema-changed'], '0']);
  });
});
