import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build, serverConnectionString, useDatabase } from '@pgway/testing';
import { beforeAll, expect, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { bin } from '../support/program.ts';

const database = useDatabase('');

beforeAll(build);

test.each([
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s drops the scratch database', async (signal, exitCode) => {
  const sql = `select pg_sleep(600) -- ${signal}`;
  const folder = await folderWith({ 'a.sql': sql });
  const argv = ['--diff', join(folder, 'a.sql'), '-c', database.connectionString];
  const child = spawn(process.execPath, [bin, ...argv, '--scratch', serverConnectionString()], { stdio: 'ignore' });
  const scratch = async (): Promise<string | undefined> => {
    const [row] = await database.query('select datname as name from pg_stat_activity where query = $1', [sql]);
    return row?.['name'] as string | undefined;
  };
  await expect.poll(scratch).toMatch(/^pgscout_scratch_/);
  const name = await scratch();
  child.kill(signal);
  expect(await once(child, 'close')).toEqual([exitCode, null]);
  expect(await database.query('select from pg_database where datname = $1', [name])).toEqual([]);
});
