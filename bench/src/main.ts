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

const resultsFolder = fileURLToPath(new URL('../results/', import.meta.url));

interface Outcome {
  readonly report: Report;
  /** Every single run, for the JSON file. */
  readonly series: readonly Series[];
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

/** Gives the path without its ending. */
async function keep(outcome: Outcome, text: string): Promise<string> {
  const name = outcome.report.conditions.date.replace(/\.\d+Z$/, '').replaceAll(':', '-');
  const path = join(resultsFolder, name);
  await mkdir(resultsFolder, { recursive: true });
  await writeFile(`${path}.md`, `${text}\n`);
  await writeFile(`${path}.json`, `${JSON.stringify({ ...outcome.report, series: outcome.series }, null, 2)}\n`);
  return path;
}

async function main(args: readonly string[]): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    if (args.includes('--help')) {
      process.stdout.write(benchUsage);
      return 0;
    }
    const outcome = await bench(readBenchOptions(args), interrupted.signal);
    const text = writeReport(outcome.report);
    process.stdout.write(`${text}\n`);
    log(`written to ${await keep(outcome, text)}.md and .json`);
    return 0;
  } catch (error) {
    if (interrupted.signal.aborted) return 130;
    log(error instanceof UsageError ? `${error.message}\n\n${benchUsage}` : String(error));
    return error instanceof UsageError ? 2 : 1;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

process.exitCode = await main(process.argv.slice(2));
