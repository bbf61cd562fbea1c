import { Client, type QueryResultRow } from 'pg';
import { onTestFinished } from 'vitest';
import { type PostgresServerOptions, type PostgresServer, startPostgres } from '../../src/index.ts';
import { selectedPackage } from './directories.ts';

/** Calls the function with each message but those that only a slow start has. */
export function withoutDelays(report: (message: string) => void): (message: string) => void {
  return (message) => {
    if (!message.startsWith('PostgreSQL is still starting')) report(message);
  };
}

/** Starts a server that is stopped after the test; not durable by default. */
export async function start({ onProgress, ...options }: PostgresServerOptions): Promise<PostgresServer> {
  const progress = onProgress === undefined ? {} : { onProgress: withoutDelays(onProgress) };
  const server = await startPostgres({ durable: false, ...selectedPackage, ...options, ...progress });
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
