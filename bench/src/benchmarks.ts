import { allBenchUsage, benchAll } from './bench-all.ts';
import { benchSuite } from './bench-suite.ts';
import type { Benchmark } from './benchmark.ts';
import { benchChanges } from './changes/bench-changes.ts';
import { changesBenchUsage, readChangesBenchOptions } from './changes/options.ts';
import { benchDimensions } from './growth/bench-dimensions.ts';
import { benchFiles } from './growth/bench-files.ts';
import { benchGrowth } from './growth/bench-growth.ts';
import { growthBenchUsage, readGrowthBenchOptions } from './growth/options.ts';
import { benchLatency } from './latency/bench-latency.ts';
import { latencyBenchUsage, readLatencyBenchOptions } from './latency/options.ts';
import { benchUsage, readBenchOptions } from './options.ts';
import {
  batchSuite,
  cacheSuite,
  keySuite,
  mcpSuite,
  relatedSuite,
  rivalSuite,
  routineSuite,
  type Suite,
  tableSuite,
  telemetrySuite,
} from './suite.ts';
import { benchStreams } from './streams/bench-streams.ts';
import { readStreamsBenchOptions, streamsBenchUsage } from './streams/options.ts';
import { benchUploads } from './uploads/bench-uploads.ts';
import { readUploadBenchOptions, uploadBenchUsage } from './uploads/options.ts';
import { benchWorkers } from './workers/bench-workers.ts';
import { readWorkersBenchOptions, workersBenchUsage } from './workers/options.ts';

function suiteBenchmark(command: string, suite: Suite, summary: string): Benchmark {
  return {
    usage: benchUsage(command, suite),
    summary,
    run: async (args, context) => [
      await benchSuite(command || 'functions', suite, readBenchOptions(args, suite), context),
    ],
  };
}

/** By name; the one without a name runs by default. */
export const benchmarks: ReadonlyMap<string, Benchmark> = new Map<string, Benchmark>([
  ['', suiteBenchmark('', routineSuite, 'functions that return a number or rows, against other servers')],
  ['rivals', suiteBenchmark('rivals', rivalSuite, 'the same functions, against servers in Bun, Rust, Go and Node.js')],
  ['cache', suiteBenchmark('cache', cacheSuite, 'cached responses and 304, against a node:http handler')],
  ['tables', suiteBenchmark('tables', tableSuite, 'reads and writes of a table')],
  ['related', suiteBenchmark('related', relatedSuite, 'related rows in the dialect of PostgREST, against joins')],
  ['batch', suiteBenchmark('batch', batchSuite, 'ten calls in a batch, against single requests')],
  ['keys', suiteBenchmark('keys', keySuite, 'writes with idempotency keys, against writes without')],
  ['mcp', suiteBenchmark('mcp', mcpSuite, 'calls of MCP tools, against their endpoints')],
  ['telemetry', suiteBenchmark('telemetry', telemetrySuite, 'access log, metrics and traces, each off and on')],
  [
    'latency',
    {
      usage: latencyBenchUsage,
      summary: 'latencies at a constant rate, against pgbench; a mix of calls',
      run: async (args, context) => [await benchLatency(readLatencyBenchOptions(args), context)],
    },
  ],
  [
    'growth',
    {
      usage: growthBenchUsage,
      summary: 'costs by the numbers of endpoints, connections, streams and tenants, and by the size of responses',
      run: async (args, context) => {
        const options = readGrowthBenchOptions(args);
        return [
          await benchGrowth(options, context),
          await benchFiles(options, context),
          await benchDimensions(options, context),
        ];
      },
    },
  ],
  [
    'workers',
    {
      usage: workersBenchUsage,
      summary: 'numbers of worker processes',
      run: async (args, context) => [await benchWorkers(readWorkersBenchOptions(args), context)],
    },
  ],
  [
    'uploads',
    {
      usage: uploadBenchUsage,
      summary: 'uploads to disk, large objects and rows',
      run: async (args, context) => [await benchUploads(readUploadBenchOptions(args), context)],
    },
  ],
  [
    'streams',
    {
      usage: streamsBenchUsage,
      summary: 'event streams',
      run: async (args, context) => [await benchStreams(readStreamsBenchOptions(args), context)],
    },
  ],
  [
    'changes',
    {
      usage: changesBenchUsage,
      summary: 'streams of row changes with row level security',
      run: async (args, context) => [await benchChanges(readChangesBenchOptions(args), context)],
    },
  ],
  [
    'all',
    {
      usage: allBenchUsage,
      summary: 'all of them in one report',
      run: (args, context) => benchAll(args, context, benchmarks),
    },
  ],
]);

/** Returns a line for each benchmark. */
export function listBenchmarks(): string {
  const lines = [...benchmarks].map(
    ([name, { summary }]) => `npm run bench${name === '' ? '' : ` -- ${name}`}`.padEnd(28) + summary,
  );
  return `${lines.join('\n')}\n`;
}
