import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@pgway/embedded';
import { packageOfRun } from '@pgway/testing';
import { Client, type QueryResultRow } from 'pg';
import { onTestFinished } from 'vitest';

/** Starts a PostgreSQL server for one test, in a data directory that is removed after the test. */
export async function startServer(): Promise<{ readonly connectionString: string; readonly dataDirectory: string }> {
  const dataDirectory = await realpath(await mkdtemp(join(tmpdir(), 'pgway-embedded-')));
  onTestFinished(() => rm(dataDirectory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  const packageDirectory = await packageOfRun();
  const server = await startPostgres({
    dataDirectory,
    durable: false,
    ...(packageDirectory === undefined ? {} : { packageDirectory }),
  });
  onTestFinished(() => server.stop());
  return { connectionString: server.connectionString, dataDirectory };
}

/** Runs one statement on a connection of its own and returns its rows. */
export async function ask(connectionString: string, sql: string): Promise<readonly QueryResultRow[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
