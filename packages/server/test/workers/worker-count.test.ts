import { expect, test } from 'vitest';
import { countWorkers, workerConfiguration } from '../../src/workers/worker-count.ts';
import { withFixedSettings } from '../../src/cli/primary.ts';
import { load } from '../support/configuration.ts';

const database = 'postgres://user@localhost/name';

async function count(settings: object, cores: number): Promise<number | readonly [number, string]> {
  const { configuration } = await load({ files: { 'pgway.json': { connectionString: database, ...settings } } });
  const { count: workers, warning } = countWorkers(configuration, cores);
  return warning === null ? workers : [workers, warning];
}

test.each([
  ['in development, one', {}, 4, 1],
  ['in production, one for each core', { host: '0.0.0.0' }, 4, 4],
  ['production by its setting', { authentication: { production: true } }, 4, 4],
  ['no production by its setting', { host: '0.0.0.0', authentication: { production: false } }, 4, 1],
  ['auto', { workers: 'auto' }, 3, 3],
  ['a number', { workers: 5 }, 1, 5],
  ['a number in production', { host: '0.0.0.0', workers: 1 }, 8, 1],
  ['of the embedded database', { connectionString: null, workers: 2 }, 1, 2],
  ['a large pool', { workers: 16, gateway: { poolSize: 32 } }, 1, 16],
  ['a large pool of the connection string', { workers: 6, connectionString: 'host=h;Maximum Pool Size=12' }, 1, 6],
])('%s', async (_, settings, cores, expected) => {
  expect(await count(settings, cores)).toBe(expected);
});

test('a pool that is too small reduces the workers, with a warning', async () => {
  expect(await count({ workers: 8 }, 1)).toEqual([
    5,
    '5 workers instead of 8: a pool of 10 connections has no 2 for each; raise gateway.poolSize to 16, or lower workers',
  ]);
  expect(await count({ workers: 'auto', gateway: { poolSize: 1 } }, 2)).toEqual([
    1,
    '1 worker instead of 2: a pool of 1 connections has no 2 for each; raise gateway.poolSize to 4, or lower workers',
  ]);
});

test('totals are divided among the workers', async () => {
  const { configuration } = await load({
    files: {
      'pgway.json': {
        limits: { maxConnections: 1000 },
        gateway: { maxCacheSize: 3000 },
      },
    },
  });
  const { limits, gateway } = workerConfiguration(configuration, 3);
  expect([limits.maxConnections, gateway.maxCacheSize]).toEqual([334, 1000]);
});

test('a reload keeps the settings of the primary process, and names them', async () => {
  const [{ configuration: current }, { configuration: next }] = await Promise.all([
    load({ files: { 'pgway.json': { port: 1, log: { level: 'error' } } } }),
    load({
      files: {
        'pgway.json': {
          port: 2,
          connectionString: database,
          gateway: { poolSize: 7 },
          log: { level: 'error' },
          shutdownDelay: 60,
        },
      },
    }),
  ]);
  const { configuration, fixed } = withFixedSettings(next, current);
  expect([configuration.port, configuration.connectionString, configuration.gateway.poolSize]).toEqual([1, null, 7]);
  // The primary process would stop after the time of its first configuration, and cut off the workers.
  expect(configuration.shutdownDelay).toBe(0);
  expect(fixed).toEqual(['connectionString', 'port', 'embedded', 'shutdownDelay']);
});
