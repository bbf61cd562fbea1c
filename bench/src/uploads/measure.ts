import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

import type pg from 'pg';

import { isInstalled, runProgram } from '../run-program.ts';
import { type Child, startChild } from './child.ts';
import type { Gateway } from './gateway.ts';
import { type LimitSettings, runLimit } from './limits.ts';
import type { Prober } from './prober.ts';
import type { Sender } from './sender.ts';
import type { UploadWork } from './works.ts';

export interface UploadRun {
  readonly seconds: number;
  /** Microseconds of CPU of the gateway. */
  readonly cpu: number;
  /** Resident bytes of the gateway: before the upload, and at most during it. */
  readonly idleRss: number;
  readonly peakRss: number;
}

export interface UploadBench {
  readonly limits: LimitSettings;
  /** The folder of `file_system`. */
  readonly uploadFolder: string;
  /** A connection of a superuser. */
  readonly client: pg.Client;
  readonly sender: Child<Sender>;
  readonly prober: Child<Prober>;
  /** Options of Node.js for the gateway's process. */
  readonly gatewayArgs: readonly string[];
  /** Other calls per second. */
  readonly rate: number;
}

const pool = 10;
const idleCalls = 1000;
const maxFileSize = 16 * 2 ** 30;

/** Starts a gateway that has handled some calls, as a running one has. */
async function withGateway<T>(
  bench: UploadBench,
  use: (gateway: Child<Gateway>, origin: string) => Promise<T>,
): Promise<T> {
  const gateway = startChild<Gateway>('gateway.js', bench.gatewayArgs);
  try {
    const { origin } = await gateway.call('start', {
      connectionString: bench.limits.connectionString,
      pool,
      maxFileSize,
    });
    await probeFor(bench, origin, { seconds: 1, rate: idleCalls });
    return await use(gateway, origin);
  } finally {
    await gateway.close();
  }
}

/** Uploads a file through a new gateway. */
export async function measureUpload(bench: UploadBench, work: UploadWork): Promise<UploadRun> {
  await settle(bench);
  return withGateway(bench, async (gateway, origin) => {
    const before = await gateway.call('usage');
    const seconds = await upload(bench, work, origin);
    const after = await gateway.call('usage');
    await verify(bench, work);
    return { seconds, cpu: after.cpu - before.cpu, idleRss: before.rss, peakRss: after.peakRss };
  });
}

export async function measureLimit(bench: UploadBench, work: UploadWork): Promise<number | null> {
  if (work.limit === null) return null;
  await settle(bench);
  const seconds = await runLimit(work, bench.limits);
  await verify(bench, work);
  return seconds;
}

/** Latencies in milliseconds of other calls: without other work, during the upload, and during its comparison without a gateway. */
export interface OtherCalls {
  readonly alone: readonly number[];
  readonly upload: readonly number[];
  readonly limit: readonly number[];
}

const minAloneSeconds = 3;

export async function measureOtherCalls(bench: UploadBench, work: UploadWork): Promise<OtherCalls> {
  await settle(bench);
  return withGateway(bench, async (_, origin) => {
    const during = async (task: () => Promise<unknown>): Promise<readonly number[]> => {
      await bench.prober.call('start', { url: origin + otherPath, requestsPerSecond: bench.rate });
      await task();
      const latencies = await bench.prober.call('stop');
      await verify(bench, work);
      await settle(bench);
      return latencies;
    };
    const start = performance.now();
    const duringUpload = await during(() => upload(bench, work, origin));
    const seconds = Math.max(minAloneSeconds, (performance.now() - start) / 1000);
    const alone = await probeFor(bench, origin, { seconds, rate: bench.rate });
    const limit = work.limit === null ? [] : await during(() => runLimit(work, bench.limits));
    return { alone, upload: duringUpload, limit };
  });
}

const otherPath = '/api/bench/items?lim=1';

async function probeFor(
  { prober }: UploadBench,
  origin: string,
  { seconds, rate }: { readonly seconds: number; readonly rate: number },
): Promise<readonly number[]> {
  await prober.call('start', { url: origin + otherPath, requestsPerSecond: rate });
  await pause(seconds * 1000);
  return prober.call('stop');
}

interface UploadedFile {
  readonly success: boolean;
  readonly size: number;
}

async function upload({ sender }: UploadBench, work: UploadWork, origin: string): Promise<number> {
  const response = await sender.call('upload', { url: `${origin}/api/bench/${work.endpoint}`, ...work.file });
  const files = response.status === 200 ? (JSON.parse(response.body) as readonly UploadedFile[]) : [];
  const [file] = files;
  if (file?.success !== true || file.size !== response.bytes)
    throw new Error(`${work.title}: ${response.status} ${response.body.slice(0, 1000)}`);
  return response.seconds;
}

const hasSync = isInstalled('sync');

/** Writes the pages of earlier runs to the disk, so that they do not slow down the next one. */
async function settle({ client, limits: { signal } }: UploadBench): Promise<void> {
  signal.throwIfAborted();
  await client.query('checkpoint');
  if (hasSync) await runProgram('sync', [], { signal });
}

/** Checks that rows and objects were stored, and removes them. */
async function verify({ client, uploadFolder }: UploadBench, { title, countSql, amount }: UploadWork): Promise<void> {
  if (countSql !== null) {
    const { rows } = await client.query<{ count: string }>(countSql);
    if (Number(rows[0]?.count) !== amount) throw new Error(`${title}: ${rows[0]?.count} of ${amount} rows were stored`);
  }
  await rm(uploadFolder, { recursive: true, force: true });
  await client.query('truncate bench.book, bench.wide, bench.sheet');
  const { rowCount } = await client.query('select lo_unlink(oid) from pg_largeobject_metadata');
  if ((rowCount ?? 0) > 0) await client.query('vacuum full pg_largeobject');
}
