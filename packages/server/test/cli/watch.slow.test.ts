import { freshDatabase, type TestDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

/** A server with `--watch` over a fresh database. `changes` returns the lines since the start. */
async function watch(configuration: object = {}): Promise<{
  readonly database: TestDatabase;
  readonly until: (text: string) => Promise<void>;
  readonly changes: () => readonly string[];
}> {
  const database = await freshDatabase(`
    create function first() returns int language sql stable as 'select 1'; comment on function first is 'HTTP';
    create table book (id int primary key, title text);
  `);
  onTestFinished(() => database.drop());
  const { connectionString } = database;
  const streams = createTestProcess(
    await folderWith({ 'pgway.json': { connectionString, port: 0, ...configuration } }),
  );
  const ended = run(['--watch'], {}, streams);
  onTestFinished(async () => {
    streams.sendStop('forced');
    expect(await ended).toBe(0);
  });
  await Promise.race([streams.until('Press Ctrl-C'), ended]);
  const changes = (): readonly string[] =>
    streams.text.stdout.split('\n').filter((line) => /^(?:added|changed|removed) /.test(line));
  return { database, until: (text) => streams.until(text), changes };
}

test.each([{}, { gateway: { refreshOnNotify: 'reload' } }])(
  'endpoints that are added, changed and removed are printed, with the configuration %j',
  async (configuration) => {
    const { database, until, changes } = await watch(configuration);
    const change = (sql: string): Promise<unknown> => database.query(`${sql}; notify reload`);

    await change(
      `create function second() returns int language sql stable as 'select 2'; comment on function second is 'HTTP'`,
    );
    await until('added GET /api/second');
    await change(`comment on function first is 'HTTP POST'`);
    await until('changed POST /api/first');
    await change('drop function second()');
    await until('removed GET /api/second');

    expect(changes()).toEqual([
      'added GET /api/second (public.second())',
      'changed POST /api/first (public.first())',
      'removed GET /api/second (public.second())',
    ]);
  },
);

test('changes of tables are found, and temporary tables are no change', async () => {
  const { database, until, changes } = await watch({ crud: { enabled: true, commentsMode: 'parseAll' } });

  await database.query('create temporary table scratch (id int)');
  await database.query('alter table book add column pages int');
  await until('changed GET /api/book ');
  await database.query('drop table book');
  await until('removed GET /api/book ');

  expect(changes().filter((line) => line.includes('scratch'))).toEqual([]);
});
