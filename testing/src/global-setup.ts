import { mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startPostgres } from '@pgway/embedded';
import type { TestProject } from 'vitest/node';
import { packageOfRun } from './postgres-packages.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server of this run. Use {@link freshDatabase}, not this database itself. */
    readonly postgres: { readonly connectionString: string; readonly version: string; readonly major: number };
  }
}

const DIRECTORY_PREFIX = 'pgway-tests-';
const DAY = 86_400_000;

let finish: () => Promise<void> = async () => undefined;

/**
 * One PostgreSQL server for the whole run. `PGWAY_TEST_POSTGRES=13` … `18` chooses the major version (default 18);
 * `PGWAY_TEST_DATABASE=postgres://…` takes a server that runs already (a superuser is needed).
 */
export async function setup(project: TestProject): Promise<void> {
  const outside = process.env['PGWAY_TEST_DATABASE'];
  const connectionString = outside !== undefined && outside !== '' ? outside : await startServer();
  const { version, major } = await versionOf(connectionString);
  project.provide('postgres', { connectionString, version, major });
  console.log(`tests run on PostgreSQL ${version}${outside ? ' (PGWAY_TEST_DATABASE)' : ''}`);
}

export async function teardown(): Promise<void> {
  await finish();
}

async function startServer(): Promise<string> {
  const packageDirectory = await packageOfRun();
  const parent = await realpath(tmpdir());
  await removeAbandoned(parent);
  const directory = await mkdtemp(join(parent, DIRECTORY_PREFIX));
  const server = await startPostgres({
    dataDirectory: directory,
    durable: false,
    settings: { max_connections: '200' },
    ...(packageDirectory === undefined ? {} : { packageDirectory }),
  });
  finish = async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
  return server.connectionString;
}

/** A run that was killed could not remove its directory; no run lasts a day. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const name of (await readdir(parent)).filter((entry) => entry.startsWith(DIRECTORY_PREFIX))) {
    const path = join(parent, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
    if (mtimeMs < Date.now() - DAY) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function versionOf(connectionString: string): Promise<{ version: string; major: number }> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ version: string; number: string }>(
      `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number`,
    );
    const { version, number } = rows[0]!;
    return { version, major: Math.trunc(Number(number) / 10_000) };
  } finally {
    await client.end();
  }
}
