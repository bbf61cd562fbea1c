import { serverVersion } from '@pgway/testing';
import { expect, test } from 'vitest';
import { createDatabase, installChanges } from '../support/install.ts';

/** Column lists exist since PostgreSQL 15. */
const withLists = serverVersion() >= 15;
const keys = (list: string): string => (withLists ? ` (${list})` : '');

const schema = `create schema app; set search_path to app;
  create table film (id int primary key, title text, secret text);
  create table rental (film int, customer int, note text, primary key (customer, film));
  create table whole (id int primary key, note text); alter table whole replica identity full;
  create table routed (id int primary key, tenant int not null, note text);
  create unique index routed_changes on routed (id, tenant); alter table routed replica identity using index routed_changes;
  create table visit (id int, day date, note text, primary key (day, id)) partition by range (day);
  create table visit_2026 partition of visit for values from ('2026-01-01') to ('2027-01-01');
  insert into film values (1, 'one'), (2, 'two'); insert into rental values (1, 1); insert into whole values (1);
  insert into routed values (1, 1); insert into visit values (1, '2026-05-05');`;

const tables = ['app.film', 'app.rental', 'app.whole', 'app.routed', 'app.visit'];
const list = `app.film${keys('id')}, app.rental${keys('customer, film')}, app.whole, app.routed${keys('id, tenant')}, app.visit${keys('day, id')}`;

test('the publication has the columns of the replica identity alone, and the writes of the application work', async () => {
  const database = await createDatabase(schema);

  const printed = await installChanges(database, ...tables, '--print');
  expect(printed).toEqual({
    code: 0,
    stdout: `begin;\ncreate publication pgway_changes for table ${list} with (publish_via_partition_root = true);\ncomment on publication pgway_changes is 'Keys of changed rows for pgway: pgway install changes.';\ncommit;\n`,
    stderr: '',
  });
  expect(await database.query('select pubname from pg_publication')).toEqual([]);
  const installed = await installChanges(database, ...tables, '--yes');
  expect(installed).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      /^installed: the publication pgway_changes of the database \w+ has app\.film, app\.rental, app\.whole, app\.routed, app\.visit\n$/,
    ) as string,
    stderr: '',
  });
  expect(await database.query('select tablename from pg_publication_tables order by 1')).toEqual(
    ['film', 'rental', 'routed', 'visit', 'whole'].map((tablename) => ({ tablename })),
  );
  for (const name of tables) {
    await database.query(`update ${name} set note = 'new'`.replace(/film set note/, 'film set title'));
    await database.query(`delete from ${name}`);
  }
  expect(await installChanges(database, ...tables, '--print')).toEqual({
    code: 0,
    stdout: 'begin;\ncommit;\n',
    stderr: '',
  });
});

test('tables are added, and follow their replica identity', async () => {
  const database = await createDatabase(schema);
  await installChanges(database, 'app.film', '--yes');
  await database.query('alter table app.film replica identity full');

  const again = await installChanges(database, 'app.film', 'app.rental', '--print');

  expect(again.stdout.split('\n').slice(1, -2)).toEqual([
    ...(withLists
      ? ['alter publication pgway_changes drop table app.film;', 'alter publication pgway_changes add table app.film;']
      : []),
    `alter publication pgway_changes add table app.rental${keys('customer, film')};`,
  ]);
  expect((await installChanges(database, 'app.film', 'app.rental', '--yes')).code).toBe(0);
  await database.query(`update app.film set title = 'new'; delete from app.rental`);
  expect(await installChanges(database, 'app.film', '--uninstall', '--yes')).toMatchObject({ code: 0 });
  expect(await database.query('select tablename from pg_publication_tables')).toEqual([{ tablename: 'rental' }]);
  expect(await installChanges(database, '--uninstall', '--yes')).toMatchObject({ code: 0 });
  expect(await database.query('select pubname from pg_publication')).toEqual([]);
});

test('a publication of another form is mended', async () => {
  const database = await createDatabase(schema);
  await database.query(`create publication pgway_changes for table app.visit with (publish = 'insert')`);

  const { stdout } = await installChanges(database, 'app.visit', '--print');

  expect(stdout.split('\n')[1]).toBe(
    `alter publication pgway_changes set (publish = 'insert, update, delete, truncate', publish_via_partition_root = true);`,
  );
  expect((await installChanges(database, 'app.visit', '--yes')).code).toBe(0);
  await database.query(`update app.visit set note = 'new'; delete from app.visit`);
  expect((await installChanges(database, 'app.visit', '--print')).stdout).toBe('begin;\ncommit;\n');
});

test('tables whose UPDATE and DELETE would fail are refused, with the statement that mends them', async () => {
  const database = await createDatabase(`create table bare (note text); insert into bare values ('a');
    create table off (id int primary key); alter table off replica identity nothing;
    create table coded (code text not null unique);
    create unlogged table fast (id int primary key); create view seen as select * from off;
    create table parted (id int, day date) partition by range (day);
    create table parted_1 partition of parted for values from ('2026-01-01') to ('2027-01-01');`);
  const words = ['bare', 'off', 'coded', 'fast', 'seen', 'parted', 'parted_1', 'none'];

  const refused = await installChanges(database, ...words, '--yes');

  const fails =
    'has no replica identity; once it is published, PostgreSQL refuses every UPDATE and DELETE of it (55000)';
  expect(refused).toEqual({
    code: 1,
    stdout: '',
    stderr: [
      `public.bare ${fails}; first run: alter table public.bare add primary key (<columns>)`,
      `public.off ${fails}; first run: alter table public.off replica identity default`,
      `public.coded ${fails}; first run: alter table public.coded replica identity using index coded_code_key`,
      'public.fast is unlogged, so that PostgreSQL does not log its changes; first run: alter table public.fast set logged',
      'public.seen is a view, whose changes PostgreSQL does not log; name the table that has the rows',
      `public.parted_1 ${fails}; first run: alter table public.parted_1 add primary key (<columns>)`,
      'public.parted_1 is a partition; name the partitioned table public.parted',
      'there is no table public.none',
      'nothing was changed',
    ]
      .map((line) => `pgway: install changes: ${line}\n`)
      .join(''),
  });
  expect(await database.query('select pubname from pg_publication')).toEqual([]);
  expect(await database.query(`update bare set note = 'b' returning note`)).toEqual([{ note: 'b' }]);
});

test('without names, the tables are those whose changes endpoints stream', async () => {
  const database = await createDatabase(`${schema}
    create view films as select id, title from film;
    comment on view films is E'HTTP\\nchanges\\nchanges gap on rental';`);

  const installed = await installChanges(database, '--yes');

  expect(installed.stdout).toMatch(/ has app\.film, app\.rental\n$/);
  const empty = await createDatabase();
  expect(await installChanges(empty, '--yes')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'pgway: install changes: no comment has the annotation changes or cached until changes of; add such a line, or name tables: pgway install changes app.film\n',
  });
});
