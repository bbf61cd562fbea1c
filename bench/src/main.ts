import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { UsageError } from './arguments.ts';
import type { Benchmark } from './benchmark.ts';
import { benchmarks, listBenchmarks } from './benchmarks.ts';
import { drawBarChart } from './report/bar-chart.ts';
import { readConditions } from './report/conditions.ts';
import { publish } from './report/publish.ts';
import { type Report, writeReport } from './report/report.ts';
import { resultsFolder } from './results-folder.ts';

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Writes Markdown, JSON and charts. Returns the path without an extension. */
async function save(report: Report): Promise<string> {
  const name = report.conditions.date.replace(/\.\d+Z$/, '').replaceAll(':', '-');
  const path = join(resultsFolder, name);
  await mkdir(resultsFolder, { recursive: true });
  await writeFile(`${path}.md`, writeReport(report));
  await writeFile(`${path}.json`, `${JSON.stringify(report, null, 2)}\n`);
  for (const chart of report.sections.flatMap((section) => section.charts)) {
    await writeFile(`${path}-${chart.name}.svg`, drawBarChart(chart));
  }
  return path;
}

async function run(benchmark: Benchmark, args: readonly string[], signal: AbortSignal): Promise<number> {
  const conditions = readConditions();
  const report: Report = { conditions, sections: await benchmark.run(args, { signal, log }) };
  process.stdout.write(writeReport(report));
  log(`written to ${await save(report)}.md, .json and .svg`);
  if (args.includes('--publish')) await publish(report);
  const faults = report.sections.flatMap((section) => section.faults);
  for (const fault of faults) log(`FAULT ${fault}`);
  return faults.length === 0 ? 0 : 1;
}

async function main(args: readonly string[]): Promise<number> {
  const hasName = args[0] !== undefined && !args[0].startsWith('-');
  const benchmark = benchmarks.get(hasName ? args[0]! : '');
  if (benchmark === undefined) {
    log(`the bench '${args[0]}' is unknown\n\n${listBenchmarks()}`);
    return 2;
  }
  if (args.includes('--help')) {
    process.stdout.write(hasName ? benchmark.usage : `${benchmark.usage}\n${listBenchmarks()}`);
    return 0;
  }
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    return await run(benchmark, hasName ? args.slice(1) : args, interrupted.signal);
  } catch (error) {
    if (interrupted.signal.aborted) return 130;
    log(error instanceof UsageError ? `${error.message}\n\n${benchmark.usage}` : String(error));
    return error instanceof UsageError ? 2 : 1;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

process.exitCode = await main(process.argv.slice(2));
