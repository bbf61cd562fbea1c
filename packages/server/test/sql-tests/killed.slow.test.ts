/** The built program: a run that is killed, and the embedded PostgreSQL. */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, freshDatabase } from '@pgway/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { bin, start } from '../support/program.ts';

beforeAll(build);

const sql = `
  create table note (id int primary key);
  create function add_note(_id int) returns void language sql as 'insert into note values (_id)';
  comment on function add_note is 'HTTP';
`;
const file = `-- POST /api/add-note
-- {"id": 1}
-- expect 204
insert into note values (2);
-- test first
select true;
-- test second
select pg_sleep(600);
`;

test.each(['SIGKILL', 'SIGTERM'] as const)('a run that ends by %s leaves nothing', async (signal) => {
  const database = await freshDatabase(sql);
  onTestFinished(() => database.drop());
  const sessions = async (): Promise<number> => {
    const rows = await database.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'pgway test'`,
    );
    return rows.length;
  };
  const { connectionString } = database;
  const folder = await folderWith({ 'pgway.json': { connectionString }, 'a.test.sql': file });
  const program = start(folder, [process.execPath, bin, 'test']);
  await program.until(/ok {5}first/);
  await expect
    .poll(() =>
      database.query(
        `select from pg_stat_activity where datname = current_database() and query like 'select pg_sleep(600%' and state = 'active'`,
      ),
    )
    .toHaveLength(1);

  program.child.kill(signal);

  expect(await program.ended).toBe(signal === 'SIGKILL' ? 'SIGKILL' : 1);
  // The server notices the lost connection at the end of the statement; a cancelled one ends at once.
  await database.query(
    `select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'pgway test'`,
  );
  await expect.poll(sessions).toBe(0);
  expect(await database.query('select * from note')).toEqual([]);
});

test('the example library is tested in the embedded PostgreSQL', async () => {
  const folder = await folderWith();
  const library = fileURLToPath(new URL('../../../../examples/library/tests', import.meta.url));
  await cp(library, join(folder, 'tests'), { recursive: true });

  const program = start(folder, [process.execPath, bin, 'test', '--coverage']);

  expect(await program.ended).toBe(0);
  expect(program.text.stdout).toMatch(/^coverage: \d+ of \d+ endpoints, 0 of 0 policies\n9 tests, 0 failed\n$/m);
});
