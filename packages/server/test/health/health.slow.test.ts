import { processesOn, redisVersion, startRedis, useDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { allOk, read, serveDatabase } from '../support/health.ts';
import { startServer } from '../support/postgres.ts';

/** Health checks of servers that stop. */

const database = useDatabase('');

/** Sends the signal to all processes of a database server. */
async function signal(dataDirectory: string, name: NodeJS.Signals): Promise<void> {
  const processes = (await processesOn(dataDirectory)).filter(({ command }) => /^\S*postgres\b/.test(command));
  expect(processes.length).toBeGreaterThan(1);
  for (const { pid } of processes) process.kill(pid, name);
}

test('a database that is paused, answers again, and is killed', async () => {
  const server = await startServer();
  const { url } = await serveDatabase(server.connectionString, { health: { details: 'always' } });
  expect(await read(`${url}/health/ready`)).toEqual([200, { status: 'ok', checks: allOk }]);
  await signal(server.dataDirectory, 'SIGSTOP');
  const failed = { status: 'failed', checks: { ...allOk, database: 'failed' } };
  try {
    await expect.poll(() => read(`${url}/health/ready`)).toEqual([503, failed]);
    expect(await read(`${url}/health/live`)).toEqual([200, { status: 'ok' }]);
    const [, summary] = await read(`${url}/health`);
    expect(summary).toMatchObject({ checks: { database: { status: 'failed', error: 'no answer within 1000 ms' } } });
  } finally {
    await signal(server.dataDirectory, 'SIGCONT');
  }
  await expect.poll(() => read(`${url}/health/ready`)).toEqual([200, { status: 'ok', checks: allOk }]);
  await signal(server.dataDirectory, 'SIGKILL');
  await expect.poll(() => read(`${url}/health/ready`)).toEqual([503, failed]);
});

test('a named connection whose database is killed', async () => {
  const server = await startServer();
  const gateway = { connectionStrings: { reports: server.connectionString } };
  const needed = await serveDatabase(database.connectionString, { gateway });
  const optional = await serveDatabase(database.connectionString, { gateway, health: { required: ['database'] } });
  const checks = { ...allOk, connections: 'ok' };
  await expect.poll(() => read(`${needed.url}/health/ready`)).toEqual([200, { status: 'ok', checks }]);
  await signal(server.dataDirectory, 'SIGKILL');
  const after = { ...checks, connections: 'failed' };
  await expect.poll(() => read(`${needed.url}/health/ready`)).toEqual([503, { status: 'failed', checks: after }]);
  await expect.poll(() => read(`${optional.url}/health/ready`)).toEqual([200, { status: 'degraded', checks: after }]);
});

const hasRedis = (await redisVersion()) !== null;

test.runIf(hasRedis)('a Redis that stops', async () => {
  const redis = await startRedis();
  const { url } = await serveDatabase(database.connectionString, {
    redisCache: { url: redis.url },
    events: { broadcast: 'redis', redisUrl: redis.url },
  });
  const checks = { ...allOk, cache: 'ok', broadcast: 'ok' };
  await expect.poll(() => read(`${url}/health/ready`)).toEqual([200, { status: 'ok', checks }]);
  await redis.stop();
  await expect
    .poll(() => read(`${url}/health/ready`))
    .toEqual([503, { status: 'failed', checks: { ...checks, cache: 'failed', broadcast: 'failed' } }]);
});
