import { setTimeout as pause } from 'node:timers/promises';

import type { ContenderProcess } from './contender-process.ts';
import { startContender } from './contender-process.ts';
import type { ContenderSettings } from './contenders/contender.ts';
import type { BenchDatabase } from './database.ts';
import { openResponseReader } from './response-reader.ts';
import { itemsPath } from './works/routine-works.ts';

export interface StreamBenchOptions {
  readonly rows: number;
  readonly pauseSeconds: number;
  readonly signal: AbortSignal;
}

/** Bytes and seconds. A peak is the maximum resident memory of the contender's process during the response. */
export interface StreamResult {
  readonly rows: number;
  /** The peak of responses of a thousand rows, to which the others are compared. */
  readonly thousandPeak: number;
  readonly slow: { readonly peak: number; readonly pauseSeconds: number; readonly databaseWaits: string };
  /** `idleAfter`: seconds until the database ran no statement; null after the time limit. */
  readonly disconnected: { readonly peak: number; readonly idleAfter: number | null };
  readonly fast: { readonly peak: number; readonly bytes: number; readonly seconds: number };
}

const firstBytes = 1_000_000;
const thousandRepeats = 50;
const idleDeadlineSeconds = 10;
const timeoutMs = 180_000;

/** Streams many rows to a client that pauses, one that disconnects, and one that reads at full speed, from a new process. */
export async function measureStream(
  database: BenchDatabase,
  settings: ContenderSettings,
  options: StreamBenchOptions,
): Promise<StreamResult> {
  const contender = await startContender('pgway', settings);
  // A stalled stream must not stall the bench.
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)]);
  const base = `${contender.origin}/api/bench`;
  try {
    const thousandPeak = await peakDuring(contender, () => readThousands(base, signal));
    const url = base + itemsPath(options.rows);
    let databaseWaits = '';
    const slowPeak = await peakDuring(contender, async () => {
      databaseWaits = await readSlowly(url, database, { ...options, signal });
    });
    let idleAfter: number | null = null;
    const disconnectedPeak = await peakDuring(contender, async () => {
      idleAfter = await readAndLeave(url, database, signal);
    });
    let fast = { bytes: 0, seconds: 0 };
    const fastPeak = await peakDuring(contender, async () => {
      fast = await readFast(url, options.rows, signal);
    });
    return {
      rows: options.rows,
      thousandPeak,
      slow: { peak: slowPeak, pauseSeconds: options.pauseSeconds, databaseWaits },
      disconnected: { peak: disconnectedPeak, idleAfter },
      fast: { peak: fastPeak, ...fast },
    };
  } finally {
    await contender.close();
  }
}

async function peakDuring(contender: ContenderProcess, work: () => Promise<void>): Promise<number> {
  await contender.request('watch-memory');
  await work();
  return (await contender.request('peak-memory')).rss;
}

async function readThousands(base: string, signal: AbortSignal): Promise<void> {
  for (let n = 0; n < thousandRepeats; n++) {
    const reader = await openResponseReader(base + itemsPath(1000), signal);
    await reader.readAll();
    reader.expectLastRow(1000);
  }
}

/** Returns the wait events of the database while the client pauses. */
async function readSlowly(url: string, database: BenchDatabase, options: StreamBenchOptions): Promise<string> {
  const reader = await openResponseReader(url, options.signal);
  await reader.readAtLeast(firstBytes);
  await pause(options.pauseSeconds * 1000, undefined, { signal: options.signal });
  const activity = await database.activity();
  await reader.readAll();
  reader.expectLastRow(options.rows);
  return activity.map(({ waitEvent }) => waitEvent ?? 'nothing').join(', ') || 'no statement runs';
}

async function readAndLeave(url: string, database: BenchDatabase, signal: AbortSignal): Promise<number | null> {
  const reader = await openResponseReader(url, signal);
  await reader.readAtLeast(firstBytes);
  reader.disconnect();
  const left = performance.now();
  for (;;) {
    const seconds = (performance.now() - left) / 1000;
    if ((await database.activity()).length === 0) return seconds;
    if (seconds > idleDeadlineSeconds) return null;
    await pause(10);
  }
}

async function readFast(url: string, rows: number, signal: AbortSignal): Promise<{ bytes: number; seconds: number }> {
  const start = performance.now();
  const reader = await openResponseReader(url, signal);
  const bytes = await reader.readAll();
  reader.expectLastRow(rows);
  return { bytes, seconds: (performance.now() - start) / 1000 };
}
