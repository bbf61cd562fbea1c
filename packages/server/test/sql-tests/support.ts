import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { freshDatabase, type TestDatabase } from '@pgway/testing';
import { onTestFinished } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

export interface TestRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Runs a query in the database, after the run. */
  readonly query: TestDatabase['query'];
}

export interface RunInput {
  /** Creates the database. */
  readonly sql: string;
  readonly files: Readonly<Record<string, string | Buffer>>;
  /** The targets of links, by the path of the link. */
  readonly links?: Readonly<Record<string, string>>;
  readonly configuration?: object;
  readonly args?: readonly string[];
  /** The user of the connection, with the password `secret`; absent: that of the test, a superuser. */
  readonly user?: string;
}

/** Runs `pgway test` in a folder with the files, over a database with this SQL. */
export async function runPgwayTest(input: RunInput): Promise<TestRun> {
  const { sql, files, links = {}, configuration = {}, args = [], user } = input;
  const database = await freshDatabase(sql);
  onTestFinished(() => database.drop());
  const url = new URL(database.connectionString);
  if (user !== undefined) {
    url.username = user;
    url.password = 'secret';
  }
  const folder = await folderWith({ 'pgway.json': { connectionString: url.href, ...configuration }, ...files });
  for (const [path, target] of Object.entries(links)) await symlink(target, join(folder, path));
  const streams = createTestProcess(folder);
  const code = await run(['test', ...args], {}, streams);
  const { stdout, stderr } = streams.text;
  return {
    code,
    stdout,
    stderr,
    query: (text) => database.query(text),
  };
}
