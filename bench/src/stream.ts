import { setTimeout as pause } from 'node:timers/promises';

import type { ContenderProcess } from './contender-process.ts';
import { startContender } from './contender-process.ts';
import type { Settings } from './contenders/contender.ts';
import type { BenchDatabase } from './database.ts';
import { openReader } from './reader.ts';
import { itemsPath } from './work.ts';

export interface StreamOptions {
  readonly rows: number;
  readonly pauseSeconds: number;
  readonly signal: AbortSignal;
}

/** Bytes and seconds; peaks are the most resident memory of the contender's process while it answered. */
export interface StreamResult {
  readonly rows: number;
  /** Peak over answers of a thousand rows: what the others are held against. */
  readonly thousandPeak: number;
  readonly slow: { readonly peak: number; readonly pauseSeconds: number; readonly databaseWaits: string };
  /** `idleAfter`: seconds until no statement ran in the database any more; null when that did not happen in time. */
  readonly gone: { readonly peak: number; readonly idleAfter: number | null };
  readonly fast: { readonly peak: number; readonly bytes: number; readonly seconds: number };
}

const firstBite = 1_000_000;
const thousandRepeats = 50;
const idleDeadlineSeconds = 10;
const deadlineMilliseconds = 180_000;

/** A stream of many rows with a reader that looks away, one that leaves, one that hurries; in a fresh process. */
export async function measureStream(
  database: BenchDatabase,
  settings: Settings,
  options: StreamOptions,
): Promise<StreamResult> {
  const contender = await startContender('pgway', settings);
  // A stream that stalls for good must not stall the bench.
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(deadlineMilliseconds)]);
  try {
    const thousandPeak = await peakDuring(contender, () => readThousands(contender.origin, signal));
    const url = contender.origin + itemsPath(options.rows);
    let databaseWaits = '';
    const slowPeak = await peakDuring(contender, async () => {
      databaseWaits = await readSlowly(url, database, { ...options, signal });
    });
    let idleAfter: number | null = null;
    const gonePeak = await peakDuring(contender, async () => {
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
      gone: { peak: gonePeak, idleAfter },
      fast: { peak: fastPeak, ...fast },
    };
  } finally {
    await contender.close();
  }
}

async function peakDuring(contender: ContenderProcess, work: () => Promise<void>): Promise<number> {
  await contender.ask('watch-memory');
  await work();
  return (await contender.ask('peak-memory')).rss;
}

async function readThousands(origin: string, signal: AbortSignal): Promise<void> {
  for (let n = 0; n < thousandRepeats; n++) {
    const reader = await openReader(origin + itemsPath(1000), signal);
    await reader.readAll();
    reader.expectLastRow(1000);
  }
}

/** Gives what the database's backend waits for while the reader looks away. */
async function readSlowly(url: string, database: BenchDatabase, options: StreamOptions): Promise<string> {
  const reader = await openReader(url, options.signal);
  await reader.readAtLeast(firstBite);
  await pause(options.pauseSeconds * 1000, undefined, { signal: options.signal });
  const activity = await database.activity();
  await reader.readAll();
  reader.expectLastRow(options.rows);
  return activity.map(({ waitEvent }) => waitEvent ?? 'nothing').join(', ') || 'no statement runs';
}

async function readAndLeave(url: string, database: BenchDatabase, signal: AbortSignal): Promise<number | null> {
  const reader = await openReader(url, signal);
  await reader.readAtLeast(firstBite);
  reader.leave();
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
  const reader = await openReader(url, signal);
  const bytes = await reader.readAll();
  reader.expectLastRow(rows);
  return { bytes, seconds: (performance.now() - start) / 1000 };
}
