import { setTimeout as pause } from 'node:timers/promises';

import { HttpConnection } from '../http-connection.ts';
import type { BenchRequest } from '../works/work.ts';

/** A request of a mix. */
export interface MixedRequest {
  readonly kind: string;
  readonly request: BenchRequest;
}

export interface RateOptions {
  /** The URL of the endpoints, without a slash at the end. */
  readonly base: string;
  /** Returns request number 0, 1, 2 … */
  readonly requestAt: (number: number) => MixedRequest;
  readonly connections: number;
  /** Seconds before the measurement. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

export interface RateResult {
  /** Milliseconds of each request by kind, in the order of responses. */
  readonly latencies: ReadonlyMap<string, readonly number[]>;
  /** Responses with a status from 400 on, and lost connections. */
  readonly failures: number;
}

/** Returns the requests per second of connections that send their next request after each response. */
export async function measureMaximum(options: RateOptions): Promise<number> {
  const { base, requestAt, signal } = options;
  const start = performance.now();
  const [from, to] = [start + options.warmUpSeconds * 1000, start + (options.warmUpSeconds + options.seconds) * 1000];
  let next = 0;
  let completed = 0;
  const run = async (): Promise<void> => {
    const connection = new HttpConnection(base);
    while (performance.now() < to && !signal.aborted) {
      // A connection sends its requests one by one.
      await connection.send(requestAt(next++).request);
      const now = performance.now();
      if (now >= from && now < to) completed++;
    }
    await connection.close();
  };
  await Promise.all(Array.from({ length: options.connections }, run));
  signal.throwIfAborted();
  return completed / options.seconds;
}

/**
 * Sends requests at random times with the average rate, as `pgbench --rate` does, whether or not earlier ones have their response. A
 * latency counts from the scheduled time: it includes waiting for a connection, and the delay of the timer, up to a millisecond.
 */
export async function sendAtRate(rate: number, options: RateOptions): Promise<RateResult> {
  const { base, requestAt, signal } = options;
  const free = Array.from({ length: options.connections }, () => new HttpConnection(base));
  const all = [...free];
  const waiting: Scheduled[] = [];
  const pending = new Set<Promise<void>>();
  const latencies = new Map<string, number[]>();
  let failures = 0;
  const send = async (connection: HttpConnection, { kind, request, at, isMeasured }: Scheduled): Promise<void> => {
    const response = await connection.send(request).catch(() => null);
    if (response === null || response.status >= 400) failures++;
    if (isMeasured) record(latencies, kind, performance.now() - at);
    const next = waiting.shift();
    if (next === undefined) free.push(connection);
    else start(connection, next);
  };
  const start = (connection: HttpConnection, scheduled: Scheduled): void => {
    const sending: Promise<void> = send(connection, scheduled).finally(() => pending.delete(sending));
    pending.add(sending);
  };
  const times = schedule(rate, options);
  const begin = performance.now();
  for (let next = 0; next < times.length && !signal.aborted;) {
    for (; next < times.length && times[next]! <= performance.now() - begin; next++) {
      const at = begin + times[next]!;
      const isMeasured = times[next]! >= options.warmUpSeconds * 1000;
      const scheduled = { ...requestAt(next), at, isMeasured };
      const connection = free.pop();
      if (connection === undefined) waiting.push(scheduled);
      else start(connection, scheduled);
    }
    await pause(1);
  }
  // A response may start the next request.
  while (pending.size > 0) await Promise.all(pending);
  await Promise.all(all.map((connection) => connection.close()));
  signal.throwIfAborted();
  return { latencies, failures };
}

interface Scheduled extends MixedRequest {
  readonly at: number;
  readonly isMeasured: boolean;
}

function record(latencies: Map<string, number[]>, kind: string, latency: number): void {
  const list = latencies.get(kind);
  if (list === undefined) latencies.set(kind, [latency]);
  else list.push(latency);
}

/** Returns the milliseconds at which requests start: a Poisson process. */
function schedule(rate: number, { warmUpSeconds, seconds }: RateOptions): readonly number[] {
  const end = (warmUpSeconds + seconds) * 1000;
  const times: number[] = [];
  for (let time = nextGap(rate); time < end; time += nextGap(rate)) times.push(time);
  return times;
}

function nextGap(rate: number): number {
  return (-Math.log(1 - Math.random()) / rate) * 1000;
}
