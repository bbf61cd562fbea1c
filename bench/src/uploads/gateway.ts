/** The entry point of the gateway's process. */
import { readFile, writeFile } from 'node:fs/promises';

import { createGateway, defaultUploadHandlers } from '@pgway/core';
import { excelHandler } from '@pgway/excel';

import { listenOnFreePort } from '../contenders/listen.ts';
import { serve } from './child.ts';

export interface GatewaySettings {
  readonly connectionString: string;
  readonly pool: number;
  readonly maxFileSize: number;
}

export interface Usage {
  /** Microseconds of CPU since the start of the process. */
  readonly cpu: number;
  /** Resident bytes: now, and at most since the last measurement. */
  readonly rss: number;
  readonly peakRss: number;
}

const memorySampleMs = 50;
/** Milliseconds. No connection of the other calls is closed while they use only some of them. */
const keepAliveTimeout = 600_000;
let peakRss = 0;

async function start({ connectionString, pool, maxFileSize }: GatewaySettings): Promise<{ readonly origin: string }> {
  const gateway = await createGateway({
    connectionString,
    poolSize: pool,
    observer(observation) {
      if (observation.kind === 'diagnostic' && observation.diagnostic.severity === 'error')
        console.error(JSON.stringify(observation.diagnostic));
      if (observation.kind === 'request-failed') console.error(observation.error);
    },
    uploadOptions: {
      uploadHandlers: { ...defaultUploadHandlers(), excel: () => excelHandler() },
      maxFileSize,
      maxTotalSize: 2 * maxFileSize,
    },
  });
  const { port } = await listenOnFreePort(gateway.middleware, () => gateway.close(), { keepAliveTimeout });
  setInterval(samplePeak, memorySampleMs);
  return { origin: `http://127.0.0.1:${port}` };
}

function samplePeak(): number {
  peakRss = Math.max(peakRss, process.memoryUsage.rss());
  return peakRss;
}

/** Measures, and begins to track the peak again. */
async function usage(): Promise<Usage> {
  const { user, system } = process.cpuUsage();
  const rss = process.memoryUsage.rss();
  const peak = (await readPeak()) ?? samplePeak();
  peakRss = rss;
  return { cpu: user + system, rss, peakRss: peak };
}

/** Returns the peak that Linux has tracked, and resets it (proc_pid_clear_refs(5)); null on other systems. */
async function readPeak(): Promise<number | null> {
  try {
    const status = await readFile('/proc/self/status', 'utf8');
    await writeFile('/proc/self/clear_refs', '5');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
  } catch {
    return null;
  }
}

export type Gateway = { readonly start: typeof start; readonly usage: typeof usage };

serve({ start, usage });
