import { createGateway } from '@pgway/core';
import { startGateway, startPgBouncer } from '@pgway/testing';
import { onTestFinished } from 'vitest';

/**
 * Starts a gateway behind PgBouncer in transaction mode, on one server connection, until the test is finished.
 * @returns sends a POST to a path below `/api/`
 */
export async function startBehindPgBouncer(sql: string): Promise<(path: string) => Promise<Response>> {
  const direct = await startGateway(sql, { poolSize: 1, commentsMode: 'parseAll' });
  onTestFinished(() => direct.close());
  const bouncer = await startPgBouncer(direct.database.connectionString, { mode: 'transaction', size: 1 });
  onTestFinished(() => bouncer.stop());
  const gateway = await createGateway({
    connectionString: bouncer.connectionString,
    pooler: 'transaction',
    preparedStatements: false,
    commentsMode: 'parseAll',
  });
  onTestFinished(() => gateway.close());
  return async (path) => (await gateway.fetch(new Request(`http://x/api/${path}`, { method: 'POST' })))!;
}
