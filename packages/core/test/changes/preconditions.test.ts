import { freshDatabase, serverVersion, type TestDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { explainReaderError } from '../../src/changes/preconditions/explain-reader-error.ts';
import { findObstacles } from '../../src/changes/preconditions/find-obstacles.ts';
import type { TableName } from '../../src/catalog/table-name.ts';
import { type LogFacts, readLogFacts } from '../../src/changes/preconditions/log-facts.ts';
import { openSingleConnection } from '../../src/gateway/single-connection.ts';
import { DatabaseError } from '../../src/postgres/port.ts';

async function createDatabase(sql: string): Promise<TestDatabase> {
  const database = await freshDatabase(sql);
  onTestFinished(() => database.drop());
  return database;
}

async function readFacts({ connectionString }: TestDatabase, ...names: string[]): Promise<LogFacts> {
  const database = openSingleConnection({ connectionString, applicationName: 'test' });
  const tables = names.map((name): TableName => ({ schema: 'public', name }));
  try {
    return await readLogFacts(database, tables);
  } finally {
    await database.close();
  }
}

/** `severity code table: message`. */
async function obstacles(database: TestDatabase, ...names: string[]): Promise<readonly string[]> {
  const found = findObstacles(await readFacts(database, ...names), { isReading: true });
  return found.map(({ severity, code, table, message }) => `${severity} ${code} ${table?.name ?? '*'}: ${message}`);
}

const film = 'create table film (id int primary key, tenant int not null default 1);';
const publish = (list: string, options = 'publish_via_partition_root = true'): string =>
  `create publication pgway_changes for table ${list} with (${options});`;

test('a published table with a key has no obstacles', async () => {
  const database = await createDatabase(`${film} ${publish('film')}`);

  expect(await obstacles(database, 'film')).toEqual([]);
  expect(findObstacles(await readFacts(database, 'film'), { isReading: false })).toEqual([]);
});

test('without a publication, it is the only obstacle', async () => {
  const database = await createDatabase(film);

  expect(await obstacles(database, 'film')).toEqual([
    'error no-publication *: the database has no publication pgway_changes; run: pgway install changes public.film',
  ]);
});

test('what is wrong with the server', async () => {
  const facts = await readFacts(await createDatabase(`${film} ${publish('film')}`), 'film');
  const server: Partial<LogFacts> = {
    isStandby: true,
    walLevel: 'replica',
    user: 'App',
    mayReplicate: false,
    standbyNames: 'any 1 (one, *)',
    senders: 0,
    usedSenders: 0,
    slots: 12,
    usedSlots: 12,
  };
  const messages = (isReading: boolean): readonly string[] =>
    findObstacles({ ...facts, ...server }, { isReading }).map(({ code, message }) => `${code}: ${message}`);

  expect(messages(false)).toEqual([
    'standby: the server is a standby; let changes.connectionString lead to the primary',
    'wal-level: wal_level is replica; run: alter system set wal_level = logical; and restart PostgreSQL',
    'no-replication: the user App may not read the log; run: alter role "App" replication',
    "synchronous-standby: synchronous_standby_names is 'any 1 (one, *)', so that commits would wait for the reader of changes in place of a standby; run: alter system set synchronous_standby_names = '<names of the standbys>'; and reload PostgreSQL",
    'max-wal-senders: all 0 of max_wal_senders are in use; run: alter system set max_wal_senders = 10; and restart PostgreSQL',
    'max-replication-slots: all 12 of max_replication_slots are in use; run: alter system set max_replication_slots = 17; and restart PostgreSQL',
  ]);
  expect(messages(true).map((message) => message.split(':')[0])).toEqual([
    'standby',
    'wal-level',
    'no-replication',
    'synchronous-standby',
  ]);
});

test('what is wrong with the publication and its tables', async () => {
  const database = await createDatabase(`${film}
    create table other (id int primary key); create table bare (id int); create table off (id int primary key);
    alter table off replica identity nothing;
    create table parted (id int primary key) partition by range (id);
    create table parted_1 partition of parted for values from (1) to (9);
    create view seen as select * from film;
    ${publish('film, bare, off, parted', "publish = 'insert, update'")}`);

  expect(await obstacles(database, 'film', 'other', 'bare', 'off', 'parted', 'seen', 'none')).toEqual([
    "error operations *: the publication pgway_changes does not have delete, truncate; run: alter publication pgway_changes set (publish = 'insert, update, delete, truncate')",
    'error not-published other: the publication pgway_changes does not have the table public.other; run: pgway install changes public.other',
    'error no-identity bare: public.bare has no replica identity; once it is published, PostgreSQL refuses every UPDATE and DELETE of it (55000); run: alter table public.bare add primary key (<columns>)',
    'error no-identity off: public.off has no replica identity; once it is published, PostgreSQL refuses every UPDATE and DELETE of it (55000); run: alter table public.off replica identity default',
    'error via-root parted: the publication pgway_changes has changes of partitions, and not of public.parted; run: alter publication pgway_changes set (publish_via_partition_root = true)',
    'error not-logged seen: public.seen is a view, whose changes PostgreSQL does not log; name the table that has the rows; then run: pgway install changes',
    'error no-table none: there is no table public.none; then run: pgway install changes',
  ]);
});

test.runIf(serverVersion() >= 15)('columns and rows that the publication leaves out', async () => {
  const database = await createDatabase(`${film}
    create table whole (id int primary key); alter table whole replica identity full;
    create table part (id int primary key, tenant int not null);
    create unique index part_changes on part (id, tenant);
    ${publish('film where (id > 1), whole (id), part (id)')}
    alter table part replica identity using index part_changes;`);

  expect(await obstacles(database, 'film', 'whole', 'part')).toEqual([
    'error row-filter film: the publication pgway_changes has only some rows of public.film: (id > 1); run: pgway install changes public.film',
    'error columns whole: the publication pgway_changes does not have all columns of the replica identity of public.whole, so that PostgreSQL refuses every UPDATE and DELETE of it (42P10); run: pgway install changes public.whole',
    'error columns part: the publication pgway_changes does not have tenant of the replica identity of public.part, so that PostgreSQL refuses every UPDATE and DELETE of it (42P10); run: pgway install changes public.part',
  ]);
  // What is said is what PostgreSQL does.
  await database.query('insert into part values (1, 1)');
  await expect(database.query('update part set tenant = 2')).rejects.toMatchObject({ code: '42P10' });
});

test('a key whose equality is not leakproof, below policies', async () => {
  const types = [
    'int',
    'bigint',
    'uuid',
    'text',
    'varchar(9)',
    'date',
    'timestamptz',
    'bytea',
    'numeric',
    'mood',
    'int4range',
    'age',
    'name',
  ];
  const tables = types.map(
    (type, index) =>
      `create table t${index} (id ${type} primary key); alter table t${index} enable row level security;`,
  );
  const names = types.map((_, index) => `t${index}`);
  const database = await createDatabase(`create type mood as enum ('ok'); create domain age as numeric;
    ${tables.join('\n')} create table free (id numeric primary key);
    ${publish([...names, 'free'].join(', '))}`);
  const found = findObstacles(await readFacts(database, ...names, 'free'), { isReading: true });

  expect(
    found.map(({ severity, code, table }) => `${severity} ${code} ${types[Number(table!.name.slice(1))]}`),
  ).toEqual(['numeric', 'mood', 'int4range', 'age'].map((type) => `warning slow-key ${type}`));
  expect(found[0]!.message).toBe(
    'the equality of id of public.t8 is not leakproof, so that each read of changed rows below its policies reads the whole table; use a key of type integer, bigint, uuid or text',
  );
});

test('errors of the connection that reads the log', () => {
  const refused = (code: string, message: string): string =>
    explainReaderError(new DatabaseError({ severity: 'FATAL', code, message } as never, 0, 'execute', null));

  expect(refused('08P01', 'unsupported startup parameter: replication')).toBe(
    'unsupported startup parameter: replication (the connection leads to a pooler, which does not support replication; set changes.connectionString to a connection string of the server itself)',
  );
  expect(refused('57P03', 'the database system is starting up')).toBe('the database system is starting up');
  expect(explainReaderError(new Error('connect ECONNREFUSED'))).toBe('connect ECONNREFUSED');
});
