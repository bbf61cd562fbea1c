import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { compete } from './compete.ts';
import { contenderTitles } from './contenders/contender.ts';
import { openDatabase } from './database.ts';
import { chooseLoadTool } from './load.ts';
import type { BenchOptions } from './options.ts';
import { readBenchOptions, benchUsage, UsageError } from './options.ts';
import type { Report } from './report.ts';
import { describeMachine, writeReport } from './report.ts';
import type { Series } from './rounds.ts';
import { measureStream } from './stream.ts';
import { summarize } from './summary.ts';
import { benchUploads } from './uploads/bench-uploads.ts';
import { readUploadBenchOptions, uploadBenchUsage } from './uploads/options.ts';
import { benchWorkers } from './workers/bench-workers.ts';
import { readWorkersBenchOptions, workersBenchUsage } from './workers/options.ts';

const resultsFolder = fileURLToPath(new URL('../results/', import.meta.url));

interface Outcome {
  readonly report: Report;
  /** Every single run, for the JSON file. */
  readonly series: readonly Series[];
}

/** The result of the selected benchmark: a report as text, and its data. */
interface Result {
  readonly date: string;
  readonly text: string;
  readonly data: object;
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function bench(options: BenchOptions, signal: AbortSignal): Promise<Outcome> {
  const tool = chooseLoadTool();
  const machine = describeMachine();
  const date = new Date().toISOString();
  log(`a database with ${options.streamRows.toLocaleString('en-US')} rows …`);
  const database = await openDatabase(options.database, options.streamRows);
  try {
    const settings = { connectionString: database.connectionString, pool: options.pool };
    const { series, missing } = await compete({ settings, tool, options, signal, log: log });
    const streamOptions = { rows: options.streamRows, pauseSeconds: options.streamPauseSeconds, signal };
    if (options.has('stream')) log('a stream …');
    const stream = options.has('stream') ? await measureStream(database, settings, streamOptions) : null;
    const conditions = {
      date,
      node: process.versions.node,
      postgres: database.version,
      ...machine,
      loadTool: tool.name,
      rounds: options.rounds,
      seconds: options.seconds,
      pool: options.pool,
    };
    const summaries = summarize(series, contenderTitles.fastify);
    return { report: { conditions, summaries, stream, missing }, series };
  } finally {
    await database.close();
  }
}

async function runBench(args: readonly string[], signal: AbortSignal): Promise<Result> {
  const { report, series } = await bench(readBenchOptions(args), signal);
  return { date: report.conditions.date, text: writeReport(report), data: { ...report, series } };
}

async function runUploadBench(args: readonly string[], signal: AbortSignal): Promise<Result> {
  const { report, text } = await benchUploads(readUploadBenchOptions(args), signal, log);
  return { date: report.conditions.date, text, data: report };
}

async function runWorkersBench(args: readonly string[], signal: AbortSignal): Promise<Result> {
  const { report, text } = await benchWorkers(readWorkersBenchOptions(args), signal, log);
  return { date: report.date, text, data: report };
}

interface Benchmark {
  readonly usage: string;
  readonly run: (args: readonly string[], signal: AbortSignal) => Promise<Result>;
}

const benchmarks: ReadonlyMap<string, Benchmark> = new Map([
  ['uploads', { usage: uploadBenchUsage, run: runUploadBench }],
  ['workers', { usage: workersBenchUsage, run: runWorkersBench }],
]);

/** Returns the path without its extension. */
async function save({ date, text, data }: Result): Promise<string> {
  const name = date.replace(/\.\d+Z$/, '').replaceAll(':', '-');
  const path = join(resultsFolder, name);
  await mkdir(resultsFolder, { recursive: true });
  await writeFile(`${path}.md`, `${text}\n`);
  await writeFile(`${path}.json`, `${JSON.stringify(data, null, 2)}\n`);
  return path;
}

async function main(args: readonly string[]): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const named = benchmarks.get(args[0] ?? '');
  const { usage, run } = named ?? { usage: benchUsage, run: runBench };
  try {
    if (args.includes('--help')) {
      process.stdout.write(usage);
      return 0;
    }
    const result = await run(named === undefined ? args : args.slice(1), interrupted.signal);
    process.stdout.write(`${result.text}\n`);
    log(`written to ${await save(result)}.md and .json`);
    return 0;
  } catch (error) {
    if (interrupted.signal.aborted) return 130;
    log(error instanceof UsageError ? `${error.message}\n\n${usage}` : String(error));
    return error instanceof UsageError ? 2 : 1;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

process.exitCode = await main(process.argv.slice(2));
