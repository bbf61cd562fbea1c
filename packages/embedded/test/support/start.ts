import { Client, type QueryResultRow } from 'pg';
import { onTestFinished } from 'vitest';
import { type PostgresServerOptions, type PostgresServer, startPostgres } from '../../src/index.ts';
import { selectedPackage } from './directories.ts';

/** Starts a server that is stopped after the test; not durable by default. */
export async function start(options: PostgresServerOptions): Promise<PostgresServer> {
  const server = await startPostgres({ durable: false, ...selectedPackage, ...options });
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
