import { chmod, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import pg from 'pg';

import { openDatabase } from '../database.ts';
import type { BenchContext } from '../bench-suite.ts';
import type { BarChart } from '../report/bar-chart.ts';
import type { Section } from '../report/section.ts';
import { median } from '../report/summary.ts';
import { startChild } from './child.ts';
import { openContent } from './content.ts';
import { measureLimit, measureOtherCalls, measureUpload, type OtherCalls, type UploadBench } from './measure.ts';
import type { UploadBenchOptions } from './options.ts';
import { type UploadResult, writeUploadReport } from './report.ts';
import { uploadSchemaSql } from './schema.sql.ts';
import type { Prober } from './prober.ts';
import type { Sender } from './sender.ts';
import { writeWorkbook } from './workbook.ts';
import { type UploadWork, uploadWorks } from './works.ts';

type Log = (line: string) => void;

/** Rows of the table from which the other calls read. */
const itemRows = 10_000;

export async function benchUploads(options: UploadBenchOptions, { signal, log }: BenchContext): Promise<Section> {
  const folder = await mkdtemp(join(resolve(options.folder ?? tmpdir()), 'pgway-uploads-'));
  try {
    // The database server may run as another user.
    await chmod(folder, 0o711);
    const database = await openDatabase(options.database, itemRows);
    try {
      const works = await prepare(options, folder, log);
      const bench = await openBench(database.connectionString, folder, { ...options, signal });
      try {
        const results = await measure(bench, works, options, log);
        const { rounds, otherRounds, rate } = options;
        const report = { postgres: database.version, rounds, otherRounds, rate, results };
        const charts = [drawUploads(results)];
        return { title: 'Uploads', text: writeUploadReport(report), charts, data: report, faults: [] };
      } finally {
        await closeBench(bench);
      }
    } finally {
      await database.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function drawUploads(results: readonly UploadResult[]): BarChart {
  const groups = results.map(({ work, runs, limits }) => {
    const speed = (seconds: readonly number[]): number => work.amount / median(seconds);
    const own = { label: 'pgway', value: speed(runs.map((run) => run.seconds)), isOwn: true };
    const comparison = { label: 'without a gateway', value: speed(limits), isOwn: false };
    return { title: `${work.title}, ${work.unit}`, bars: limits.length === 0 ? [own] : [own, comparison] };
  });
  return { name: 'uploads', title: 'Uploads', unit: 'more is faster', groups };
}

/** Writes the files that are needed, and reads the large one, so that the page cache holds it. */
async function prepare(options: UploadBenchOptions, folder: string, log: Log): Promise<readonly UploadWork[]> {
  const workbook = join(folder, 'books.xlsx');
  const works = uploadWorks({ ...options, workbook }).filter(({ name }) => options.has(name));
  if (options.has('excel')) {
    log('a workbook …');
    await writeWorkbook(workbook, options.excelRows);
  }
  const source = sourceFile(folder);
  const { chunks } = openContent({ kind: 'random', bytes: options.mebibytes * 2 ** 20 });
  await writeFile(source, chunks);
  const file = await open(source);
  for await (const chunk of file.createReadStream({ highWaterMark: 2 ** 20 })) void chunk;
  return works;
}

function sourceFile(folder: string): string {
  return join(folder, 'source');
}

async function openBench(
  connectionString: string,
  folder: string,
  { rate, profileFolder, signal }: UploadBenchOptions & { readonly signal: AbortSignal },
): Promise<UploadBench> {
  const uploadFolder = join(folder, 'uploads');
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(uploadSchemaSql(uploadFolder));
  return {
    limits: { connectionString, folder, source: sourceFile(folder), signal },
    uploadFolder,
    client,
    sender: startChild<Sender>('sender.js'),
    prober: startChild<Prober>('prober.js'),
    gatewayArgs: profileFolder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profileFolder)}`],
    rate,
  };
}

async function closeBench({ client, sender, prober }: UploadBench): Promise<void> {
  await Promise.all([sender.close(), prober.close()]);
  await client.end();
}

async function measure(
  bench: UploadBench,
  works: readonly UploadWork[],
  { rounds, otherRounds }: UploadBenchOptions,
  log: Log,
): Promise<readonly UploadResult[]> {
  const results = works.map((work) => ({ work, runs: [], limits: [], others: [] }) as MutableResult);
  for (let round = 0; round < rounds; round++) {
    for (const result of results) {
      // In turn: what comes first changes with each round.
      const steps = [
        async () => void result.runs.push(await measureUpload(bench, result.work)),
        async () => {
          const seconds = await measureLimit(bench, result.work);
          if (seconds !== null) result.limits.push(seconds);
        },
      ];
      for (const step of round % 2 === 0 ? steps : steps.toReversed()) await step();
      const [run, limit] = [result.runs.at(-1), result.limits.at(-1)];
      log(`${round + 1}. ${result.work.title}: ${run?.seconds.toFixed(2)} s, ${limit?.toFixed(2) ?? '-'} s`);
    }
  }
  for (let round = 0; round < otherRounds; round++) {
    for (const result of results.filter(({ work }) => work.hasOtherCalls)) {
      log(`${round + 1}. other calls during ${result.work.title}`);
      result.others.push(await measureOtherCalls(bench, result.work));
    }
  }
  return results;
}

interface MutableResult extends UploadResult {
  readonly runs: UploadResult['runs'][number][];
  readonly limits: number[];
  readonly others: OtherCalls[];
}
