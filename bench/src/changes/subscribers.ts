/** The entry point of the process with the subscribers of row changes. It compares their rows with those of their own GET on request. */
import { setTimeout as sleep } from 'node:timers/promises';

import { percentile } from '../report/summary.ts';
import { ChangeStreamReader, keyPattern } from './event-stream.ts';

export interface SubscribersStart {
  readonly port: number;
  readonly path: string;
  /** The query string of a GET with the rows of the stream. */
  readonly query: string;
  /** The query string of the stream. */
  readonly streamQuery: string;
  readonly users: readonly string[];
}

export type ToSubscribers =
  | { readonly kind: 'open'; readonly start: SubscribersStart }
  /** Forgets the latencies and events so far. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'figures' }
  /** Compares all subscribers with their own GET. */
  | { readonly kind: 'verify' };

/** Milliseconds. */
export interface ReceivedFigures {
  readonly events: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly gaps: number;
  readonly cpu: number;
}

export interface Verification {
  readonly compared: number;
  readonly rows: number;
  readonly wrong: readonly string[];
}

export type FromSubscribers =
  | { readonly kind: 'opened'; readonly ms: number; readonly failures: readonly string[] }
  | { readonly kind: 'reset' }
  | ({ readonly kind: 'figures' } & ReceivedFigures)
  | ({ readonly kind: 'verified' } & Verification);

/** Milliseconds until the last changes must have arrived. On busy processors, 500 identities without routing need half a minute. */
const settleMs = 60_000;
const maxReported = 5;
const opening = 250;

let readers: readonly ChangeStreamReader[] = [];
let start: SubscribersStart;
let latencies: number[] = [];
let maxLatency = 0;
/** Of many deliveries, a part is enough. */
const maxLatencies = 2_000_000;

function addLatency(commitTime: string, receivedAt: number): void {
  const latency = receivedAt - (Date.parse(`${commitTime.slice(0, 23)}Z`) + Number(commitTime.slice(23, 26)) / 1_000);
  if (latencies.length < maxLatencies) latencies.push(latency);
  if (latency > maxLatency) maxLatency = latency;
}

async function open(next: SubscribersStart): Promise<FromSubscribers> {
  start = next;
  const began = performance.now();
  const all: ChangeStreamReader[] = [];
  const { port, path, streamQuery, users } = start;
  for (let at = 0; at < users.length; at += opening) {
    const some = users
      .slice(at, at + opening)
      .map((user) => new ChangeStreamReader({ port, path: `${path}/changes${streamQuery}`, user }, addLatency));
    await Promise.all(some.map(({ begun }) => begun));
    all.push(...some);
  }
  readers = all;
  const failures = all.flatMap(({ failure }) => (failure === null ? [] : [failure])).slice(0, maxReported);
  return { kind: 'opened', ms: performance.now() - began, failures };
}

function reset(): FromSubscribers {
  latencies = [];
  maxLatency = 0;
  for (const reader of readers) reader.events = 0;
  return { kind: 'reset' };
}

function figures(): FromSubscribers {
  const sum = (count: (reader: ChangeStreamReader) => number): number =>
    readers.reduce((total, reader) => total + count(reader), 0);
  const { user, system } = process.cpuUsage();
  return {
    kind: 'figures',
    events: sum(({ events }) => events),
    gaps: sum(({ gaps }) => gaps),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    max: maxLatency,
    cpu: user + system,
  };
}

/** Returns the rows of the caller's own GET, by key. */
async function readRows(user: string): Promise<ReadonlyMap<string, string>> {
  const { port, path, query } = start;
  const response = await fetch(`http://127.0.0.1:${port}${path}${query}`, { headers: { 'x-user': user } });
  const text = await response.text();
  if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${text}`);
  // Rows have no nested objects: their texts stay as they are.
  const rows = text === '[]' ? [] : text.slice(1, -1).split(/(?<=\}),/);
  return new Map(rows.map((row) => [keyPattern.exec(row)![1]!, row]));
}

function findDifference(rows: ReadonlyMap<string, string>, own: ReadonlyMap<string, string>): string | null {
  for (const [key, row] of own) if (rows.get(key) !== row) return `${rows.get(key) ?? 'no row'} in place of ${row}`;
  return rows.size === own.size ? null : `${rows.size} rows in place of ${own.size}`;
}

async function verify(): Promise<FromSubscribers> {
  const deadline = performance.now() + settleMs;
  const wrong: string[] = [];
  let rows = 0;
  for (const [index, reader] of readers.entries()) {
    const user = start.users[index]!;
    const own = await readRows(user);
    rows += own.size;
    let difference = findDifference(reader.rows, own);
    while (difference !== null && performance.now() < deadline) {
      await sleep(20);
      difference = findDifference(reader.rows, own);
    }
    const fault = difference ?? reader.failure;
    if (fault !== null) wrong.push(`${user}: ${fault}`);
  }
  return { kind: 'verified', compared: readers.length, rows, wrong };
}

function answer(message: ToSubscribers): FromSubscribers | Promise<FromSubscribers> {
  switch (message.kind) {
    case 'open':
      return open(message.start);
    case 'reset':
      return reset();
    case 'figures':
      return figures();
    case 'verify':
      return verify();
  }
}

process.on('message', (message: ToSubscribers) => {
  void Promise.resolve(answer(message)).then((result) => process.send!(result));
});
process.once('disconnect', () => process.exit());
