/** The entry point of the process that calls an endpoint at a fixed rate, whatever the latency. */
import { Agent, request as httpRequest } from 'node:http';

import { serve } from './child.ts';

export interface ProbeOptions {
  readonly url: string;
  readonly requestsPerSecond: number;
}

const maxConnections = 64;
let agent = new Agent();
let latencies: number[] = [];
let failure: Error | null = null;
let timer: NodeJS.Timeout | null = null;
let running = 0;
let ended: (() => void) | null = null;

/** Begins to measure. */
async function start({ url, requestsPerSecond }: ProbeOptions): Promise<null> {
  // New connections: the server closes those that were idle for some seconds.
  agent = new Agent({ keepAlive: true, maxSockets: maxConnections });
  latencies = [];
  failure = null;
  const began = performance.now();
  let sent = 0;
  timer = setInterval(() => {
    const due = Math.floor(((performance.now() - began) * requestsPerSecond) / 1000);
    for (; sent < due; sent++) probe(url);
  }, 1);
  return null;
}

/** Waits for the responses of the requests so far, and returns their latencies in milliseconds. */
async function stop(): Promise<readonly number[]> {
  if (timer !== null) clearInterval(timer);
  if (running > 0) await new Promise<void>((resolve) => (ended = resolve));
  ended = null;
  agent.destroy();
  if (failure !== null) throw failure;
  return latencies;
}

function probe(url: string): void {
  running++;
  const began = performance.now();
  const finish = (error: Error | null): void => {
    failure ??= error;
    latencies.push(performance.now() - began);
    if (--running === 0) ended?.();
  };
  httpRequest(url, { agent }, (response) => {
    const { statusCode } = response;
    response.once('end', () => finish(statusCode === 200 ? null : new Error(`${url} returned ${statusCode}`))).resume();
  })
    .once('error', finish)
    .end();
}

export type Prober = { readonly start: typeof start; readonly stop: typeof stop };

serve({ start, stop });
