import { randomBytes } from 'node:crypto';
import type { TestDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createDatabase, installWatch, listen } from '../support/install.ts';
import { createTestProcess } from '../support/process-context.ts';

const triggers = (database: TestDatabase): Promise<readonly unknown[]> =>
  database.query(
    'select evtname as name, evtevent as event, evtfoid::regproc::text as function from pg_event_trigger order by 1',
  );

test('is installed twice, moved to another schema, and removed; a second channel has its own triggers', async () => {
  const database = await createDatabase();
  await installWatch(database, '--yes');
  await installWatch(database, '--yes');
  await installWatch({ ...database, connectionString: database.connectionString, channel: 'other' }, '--yes', 'tools');
  expect(await triggers(database)).toEqual([
    { name: 'pgway_watch_other_ddl', event: 'ddl_command_end', function: 'tools.pgway_watch_other' },
    { name: 'pgway_watch_other_drop', event: 'sql_drop', function: 'tools.pgway_watch_other' },
    { name: 'pgway_watch_reload_ddl', event: 'ddl_command_end', function: 'pgway.pgway_watch_reload' },
    { name: 'pgway_watch_reload_drop', event: 'sql_drop', function: 'pgway.pgway_watch_reload' },
  ]);

  await installWatch(database, '--yes', 'tools');
  const functions = `select p.oid::regproc::text as name from pg_proc p where proname like 'pgway%' order by 1`;
  expect(await database.query(functions)).toEqual([
    { name: 'tools.pgway_watch_other' },
    { name: 'tools.pgway_watch_reload' },
  ]);

  const { code, stdout } = await installWatch(database, '--uninstall', '--yes');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      /^removed: changes of the database \w+ no longer notify the channel reload\n$/,
    ) as string,
  });
  await installWatch({ connectionString: database.connectionString, channel: 'other' }, '--uninstall', '--yes');
  expect(await triggers(database)).toEqual([]);
  expect(await database.query(functions)).toEqual([]);
  expect(await installWatch(database, '--uninstall', '--yes')).toMatchObject({ code: 0, stderr: '' });
});

const hostile = [`it's "quoted"; drop table kept; --`, "$pgway$ $pgway1$ \\ \\' %s {}", 'ü'.repeat(31), '\u001b[2J'];

test.each(hostile)('channel and schema %j', async (name) => {
  const database = await createDatabase('create table kept ()');
  const printed = await installWatch({ connectionString: database.connectionString, channel: name }, '--print', name);
  expect(
    await installWatch({ connectionString: database.connectionString, channel: name }, '--yes', name),
  ).toMatchObject({
    code: 0,
    stderr: '',
  });
  const commands = await listen(database, name);
  expect(await commands('alter table kept add column id int')).toEqual(['ALTER TABLE']);
  // The printed script replaces what was installed.
  await commands(printed.stdout);
  expect(await commands('set standard_conforming_strings = off; alter table kept add column id2 int')).toEqual([
    'ALTER TABLE',
  ]);
  expect(await database.query('select count(*)::int from pg_event_trigger')).toEqual([{ count: 2 }]);
});

test('a function that another user has put there is not used', async () => {
  const role = `planter_${randomBytes(4).toString('hex')}`;
  const database = await createDatabase(`
    create role ${role}; create schema pgway authorization ${role};
    set role ${role};
    create function pgway.pgway_watch_reload() returns event_trigger language plpgsql as $$ begin end $$;
    reset role;
  `);
  onTestFinished(() => database.query(`drop owned by ${role} cascade; drop role ${role}`).then(() => undefined));

  await installWatch(database, '--yes');

  expect(
    await database.query(
      `select proowner::regrole::text = current_user as own from pg_proc where proname = 'pgway_watch_reload'`,
    ),
  ).toEqual([{ own: true }]);
  await expect(
    database.query(
      `set role ${role}; create or replace function pgway.pgway_watch_reload() returns event_trigger language plpgsql as $$ begin end $$`,
    ),
  ).rejects.toThrow('must be owner');
  await database.query('reset role');
});

test('an error in the trigger is a warning, and the command succeeds', async () => {
  const database = await createDatabase();
  await installWatch(database, '--yes');
  await database.query(
    `create function pgway.fail(text, text) returns void language plpgsql as $$ begin raise 'failed'; end $$`,
  );
  const commands = await listen(database, 'reload');
  const [body] = (await database.query(`select prosrc from pg_proc where proname = 'pgway_watch_reload'`)) as readonly {
    prosrc: string;
  }[];
  const broken = body!.prosrc.replace('pg_notify', 'pgway.fail');
  await commands(
    `create or replace function pgway.pgway_watch_reload() returns event_trigger language plpgsql as $b$${broken}$b$`,
  );

  expect(await commands('create table made ()')).toEqual(['notice: pgway is not notified of CREATE TABLE: failed']);
  expect(await database.query('select from made')).toEqual([]);
});

describe('without the means', () => {
  test('a user who may not create event triggers gets the reason, and nothing is changed', async () => {
    const role = `modest_${randomBytes(4).toString('hex')}`;
    const database = await createDatabase(`create role ${role} login password 'x'`);
    onTestFinished(() => database.query(`drop owned by ${role}; drop role ${role}`).then(() => undefined));
    await database.query(
      `do $$ begin execute format('grant create on database %I to ${role}', current_database()); end $$`,
    );
    const url = new URL(database.connectionString);
    url.username = role;
    url.password = 'x';

    const { code, stdout, stderr } = await installWatch({ connectionString: url.href }, '--yes');

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      new RegExp(
        `^pgway: nothing was changed in the database \\w+: permission denied to create event trigger "pgway_watch_reload_ddl" \\(42501\\); event triggers need a superuser, .* and ${role} may not create them: pass --connectionString of another user, or hand over the output of --print\\n$`,
      ),
    );
    expect(await database.query(`select from pg_namespace where nspname = 'pgway'`)).toEqual([]);
  });

  test('without a terminal, --yes is needed', async () => {
    const database = await createDatabase();

    expect(await installWatch(database)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'pgway: install: needs a confirmation; run it in a terminal, pass --yes to run the statements, or --print to print them only\n',
    });
  });

  test('a terminal shows the statements, and asks', async () => {
    const database = await createDatabase();

    const refused = await installWatch({ connectionString: database.connectionString, answer: 'no' });
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /^begin;\ncreate schema if not exists "pgway";\n[^]*\ncommit;\nRun them in the database \w+ as \w+\? \[y\/N\] [^]*nothing was changed\n$/,
    );
    expect(await triggers(database)).toEqual([]);
    expect((await installWatch({ connectionString: database.connectionString, answer: 'y' })).code).toBe(0);
    expect(await triggers(database)).toHaveLength(2);
  });
});

test('pgway --watch prints a change at once, without polling', async () => {
  const database = await createDatabase(
    `create function first() returns int language sql stable as 'select 1'; comment on function first is 'HTTP'`,
  );
  await installWatch(database, '--yes');
  const process = createTestProcess(
    await folderWith({
      'pgway.json': {
        connectionString: database.connectionString,
        port: 0,
        gateway: { refreshOnNotify: 'reload', commentsMode: 'parseAll' },
      },
    }),
  );
  const ended = run(['--watch'], {}, process);
  onTestFinished(async () => {
    process.sendStop('forced');
    expect(await ended).toBe(0);
  });
  await Promise.race([process.until('Press Ctrl-C'), ended]);

  await database.query(`create function second() returns int language sql stable as 'select 2'`);
  await process.until('added GET /api/second');
  await database.query('drop function second()');
  await process.until('removed GET /api/second');

  // The function of the triggers is no endpoint.
  expect(process.text.stdout).not.toContain('pgway-watch');
});
