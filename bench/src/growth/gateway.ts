/** The entry point of a process with a gateway. It measures its start, its CPU, and its event loop during a refresh. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { createGateway, type Gateway, type GatewayOptions, sqlFilesSource } from '@pgway/core';

import { listenOnFreePort } from '../contenders/listen.ts';

export type GrowthRequest =
  /** `sqlFiles`: a folder of SQL files that are endpoints; null: none. */
  | { readonly kind: 'start'; readonly options: GatewayOptions; readonly sqlFiles: string | null }
  | { readonly kind: 'usage' }
  /** Measures the memory after a garbage collection. */
  | { readonly kind: 'memory' }
  /** Measures the longest turn of the event loop, during refreshes if there are any. */
  | { readonly kind: 'pause'; readonly refreshes: number; readonly milliseconds: number };

/** Bytes, and microseconds of CPU of the process. */
export interface GrowthResponses {
  readonly start: { readonly port: number; readonly seconds: number; readonly cpu: number; readonly rss: number };
  readonly usage: { readonly cpu: number };
  readonly memory: { readonly rss: number; readonly heap: number; readonly peak: number };
  readonly pause: { readonly longestMs: number; readonly refreshMs: number };
}

const resolutionMs = 1;
/** Milliseconds: idle connections stay open. */
const keepAliveTimeout = 3_600_000;
let gateway: Gateway | null = null;

function cpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function start(options: GatewayOptions, sqlFiles: string | null): Promise<GrowthResponses['start']> {
  const [began, before] = [performance.now(), cpu()];
  gateway = await createGateway({
    poolSize: 10,
    ...options,
    sourcesCreated: (sources) => {
      if (sqlFiles !== null) sources.push(sqlFilesSource({ files: '*.sql', folder: sqlFiles }));
    },
  });
  const [seconds, used] = [(performance.now() - began) / 1000, cpu() - before];
  const { port } = await listenOnFreePort(gateway.middleware, () => Promise.resolve(), { keepAliveTimeout });
  return { port, seconds, cpu: used, rss: process.memoryUsage.rss() };
}

function measureMemory(): GrowthResponses['memory'] {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heap: heapUsed, peak: process.resourceUsage().maxRSS * 1024 };
}

async function measurePause(refreshes: number, milliseconds: number): Promise<GrowthResponses['pause']> {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  const began = performance.now();
  for (let refresh = 0; refresh < refreshes; refresh++) await gateway!.refresh();
  const refreshMs = refreshes === 0 ? 0 : (performance.now() - began) / refreshes;
  const rest = milliseconds - (performance.now() - began);
  if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
  delay.disable();
  return { longestMs: Math.max(0, delay.max / 1e6 - resolutionMs), refreshMs };
}

function handle(request: GrowthRequest): Promise<object> {
  switch (request.kind) {
    case 'start':
      return start(request.options, request.sqlFiles);
    case 'usage':
      return Promise.resolve({ cpu: cpu() });
    case 'memory':
      return Promise.resolve(measureMemory());
    case 'pause':
      return measurePause(request.refreshes, request.milliseconds);
  }
}

process.on('message', (request: GrowthRequest) => {
  handle(request).then(
    (result) => process.send!({ result }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
process.on('SIGINT', () => {});
