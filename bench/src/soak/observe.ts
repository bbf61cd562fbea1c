import type { LoadContext } from './client.ts';
import type { ConnectionFaults } from './connection-faults.ts';
import type { SoakDatabase } from './database.ts';
import type { FaultProxy } from './fault-proxy.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { formatMebibytes, type MemorySamples } from './memory.ts';
import type { DatabaseRoute, SoakOptions } from './options.ts';

const reportPauseMs = 5000;

export interface RouteBounds {
  readonly requests: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly report: (line: string) => void;
}

/** The load on one gateway. */
export interface SoakRun {
  readonly route: DatabaseRoute;
  readonly gateway: GatewayProcess;
  readonly database: SoakDatabase;
  readonly proxy: FaultProxy;
  readonly options: SoakOptions;
  readonly bounds: RouteBounds;
}

interface LoadObservation {
  readonly load: LoadContext;
  readonly memory: MemorySamples;
  readonly faults: ConnectionFaults;
}

/** Samples the memory and reports progress during the load. Aborts the load when the gateway process ends. */
export async function observe(
  { gateway, bounds, route }: SoakRun,
  { load, memory, faults }: LoadObservation,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const ended = new AbortController();
  const { statistics, violations } = load;
  const sampleMs = Math.min(5000, Math.max(1000, bounds.seconds * 10));
  let reported = performance.now();
  let requests = 0;
  let sampled = 0;
  const sample = async (): Promise<void> => {
    // Without new requests, only the last slow clients are left: their memory is not that of the load.
    if (sampled === statistics.requests) return;
    sampled = statistics.requests;
    const now = await memory.take(gateway);
    if (now === null) ended.abort();
    const elapsed = performance.now() - reported;
    if (now === null || elapsed < reportPauseMs) return;
    const rate = Math.round(((statistics.requests - requests) / elapsed) * 1000);
    [reported, requests] = [performance.now(), statistics.requests];
    bounds.report(
      `${route}: ${formatCount(requests)} of ${formatCount(bounds.requests)} requests, ${formatCount(rate)}/s, ` +
        `${formatCount(statistics.sum('notSent') + statistics.sum('unknown'))} × 503, ${faults.count} connections lost, ` +
        `RSS ${formatMebibytes(now.rss)}, heap ${formatMebibytes(now.heap)}, ${formatCount(violations.total)} violations`,
    );
  };
  let sampling = Promise.resolve();
  const timer = setInterval(() => {
    sampling = sampling.then(sample);
  }, sampleMs);
  try {
    await work(ended.signal);
  } finally {
    clearInterval(timer);
    await sampling;
  }
}

export function formatCount(n: number): string {
  return n.toLocaleString('en-US');
}
