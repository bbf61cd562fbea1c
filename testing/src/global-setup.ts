import { mkdtemp, readdir, realpath, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startPostgres } from '@pgway/embedded';
import type { TestProject } from 'vitest/node';
import { packageOfRun } from './postgres-packages.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server of this run. Use {@link freshDatabase}, not this database itself. */
    readonly postgres: {
      readonly connectionString: string;
      readonly version: string;
      readonly major: number;
      /** The database that {@link freshDatabase} copies. */
      readonly template: string;
    };
    /** A folder of this run, empty at its start and before each rerun of watch mode. Test files share it. */
    readonly runDirectory: string;
  }
}

const DIRECTORY_PREFIX = 'pgway-tests-';
const DAY = 86_400_000;

/** Memory as a file system, on Linux. */
const MEMORY_DIRECTORY = '/dev/shm';
const MEMORY_NEEDED = 1024 ** 3;

/** Databases live for a few seconds, and there are many of them. */
const SERVER_SETTINGS = {
  max_connections: '200',
  autovacuum: 'off',
  jit: 'off',
  // A slot and a walsender for each gateway that reads changes, in several files at the same time.
  max_wal_senders: '50',
  max_replication_slots: '50',
  min_wal_size: '32MB',
  max_wal_size: '64MB',
};

/**
 * One PostgreSQL server for the whole run. `PGWAY_TEST_POSTGRES=13` … `18` chooses the major version (default 18);
 * `PGWAY_TEST_DATABASE=postgres://…` uses a server that is already running (with a superuser).
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const external = process.env['PGWAY_TEST_DATABASE'] || undefined;
  const server =
    external === undefined ? await startServer() : { connectionString: external, stop: async () => undefined };
  const { version, major } = await versionOf(server.connectionString);
  const template = external === undefined ? await createTemplate(server.connectionString) : 'template0';
  if (external === undefined && major >= 16) await storePasswordWithOneRound(server.connectionString);
  project.provide('postgres', { connectionString: server.connectionString, version, major, template });
  console.log(`tests run on PostgreSQL ${version}${external === undefined ? '' : ' (PGWAY_TEST_DATABASE)'}`);
  const runDirectory = await mkdtemp(join(tmpdir(), DIRECTORY_PREFIX));
  project.provide('runDirectory', runDirectory);
  project.onTestsRerun(async () => {
    for (const name of await readdir(runDirectory)) await rm(join(runDirectory, name), { recursive: true });
  });
  return async () => {
    await server.stop();
    await rm(runDirectory, { recursive: true, force: true });
  };
}

async function startServer(): Promise<{ connectionString: string; stop: () => Promise<void> }> {
  const packageDirectory = await packageOfRun();
  const directory = await mkdtemp(join(await parentDirectory(), DIRECTORY_PREFIX));
  const server = await startPostgres({
    dataDirectory: directory,
    durable: false,
    settings: SERVER_SETTINGS,
    ...(packageDirectory === undefined ? {} : { packageDirectory }),
  });
  return {
    connectionString: server.connectionString,
    stop: async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Creates an empty database to which a session was connected once, and no other can be: copies have its file of the relation cache,
 * which the first session of a copy of template0 has to compute.
 */
async function createTemplate(connectionString: string): Promise<string> {
  const name = 'pgway_template';
  await runOn(connectionString, `CREATE DATABASE ${name} TEMPLATE template0`);
  const url = new URL(connectionString);
  url.pathname = `/${name}`;
  await runOn(url.href, 'SELECT');
  await runOn(connectionString, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  return name;
}

/** Stores the superuser's password with one round of SCRAM instead of 4,096, which each connection of a test would compute. */
async function storePasswordWithOneRound(connectionString: string): Promise<void> {
  const { username, password } = new URL(connectionString);
  await runOn(connectionString, `SET scram_iterations = 1; ALTER ROLE "${username}" PASSWORD '${password}'`);
}

async function runOn(connectionString: string, sql: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Prefers memory, because `CREATE DATABASE` writes 300 files: on a disk that is half of the time of a test run. */
async function parentDirectory(): Promise<string> {
  const temporary = await realpath(tmpdir());
  await removeAbandoned(temporary);
  const memory = await statfs(MEMORY_DIRECTORY).catch(() => undefined);
  if (memory === undefined) return temporary;
  await removeAbandoned(MEMORY_DIRECTORY);
  return memory.bavail * memory.bsize < MEMORY_NEEDED ? temporary : MEMORY_DIRECTORY;
}

/** Removes the directories of runs that were killed. No run lasts a day. */
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
