import { Client, type QueryResultRow } from 'pg';
import { onTestFinished } from 'vitest';
import { type PostgresServerOptions, type PostgresServer, startPostgres } from '../../src/index.ts';
import { chosenPackage } from './directories.ts';

/** Starts a server, fast and not durable unless asked, that is stopped with the test at the latest. */
export async function start(options: PostgresServerOptions): Promise<PostgresServer> {
  const server = await startPostgres({ durable: false, ...chosenPackage, ...options });
  onTestFinished(() => server.stop());
  return server;
}

export async function ask(connectionString: string, sql: string): Promise<readonly QueryResultRow[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
