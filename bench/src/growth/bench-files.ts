/** Compares the starts of gateways with SQL files and with as many functions of the same statements. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { BenchContext } from '../bench-suite.ts';
import { type BenchDatabase, openDatabase, runSql } from '../database.ts';
import type { Section } from '../report/section.ts';
import { median } from '../report/summary.ts';
import { formatMebibytes, formatNumber, formatTable } from '../report/table.ts';
import { growthSql, schema } from './bench-growth.ts';
import type { GrowthResponses } from './gateway.ts';
import { closeInstance, startInstance } from './instance.ts';
import type { GrowthBenchOptions } from './options.ts';

type Start = GrowthResponses['start'];

/** One start with functions and one with files. */
interface Round {
  readonly functions: Start;
  readonly files: Start;
}

const rounds = { full: 9, quick: 2 };

function fileText(number: number): string {
  return `-- HTTP GET /api/files/orders-${number}
-- param state type ${schema}.state default null
-- param from default 0
-- param to default 100
select * from ${schema}.orders where (:state is null or state = :state) and id between :from and :to;
`;
}

export async function benchFiles(options: GrowthBenchOptions, { log }: BenchContext): Promise<Section> {
  const endpoints = options.sizes[1]!;
  const databases: BenchDatabase[] = [];
  const sqlFiles = await mkdtemp(join(tmpdir(), 'pgway-bench-files-'));
  try {
    const numbers = Array.from({ length: endpoints }, (_, index) => index + 1);
    await Promise.all(numbers.map((number) => writeFile(join(sqlFiles, `orders_${number}.sql`), fileText(number))));
    for (const functions of [endpoints, 0]) {
      const database = await openDatabase(databases[0]?.connectionString ?? options.database, 1);
      databases.push(database);
      await runSql(database.connectionString, growthSql(functions));
    }
    const [withFunctions, withFiles] = databases as [BenchDatabase, BenchDatabase];
    const measured: Round[] = [];
    for (let round = 0; round < (options.isQuick ? rounds.quick : rounds.full); round++) {
      log(`growth: starts with ${endpoints} SQL files, round ${round + 1} …`);
      const functions = await measureStart(withFunctions, null);
      measured.push({ functions, files: await measureStart(withFiles, sqlFiles) });
    }
    return {
      title: 'Growth: SQL files',
      text: writeReport(endpoints, measured, withFunctions.version),
      charts: [],
      data: { options, postgres: withFunctions.version, endpoints, rounds: measured },
      faults: [],
    };
  } finally {
    // The first one stops the server of all.
    for (const database of databases.toReversed()) await database.close();
    await rm(sqlFiles, { recursive: true, force: true });
  }
}

async function measureStart({ connectionString }: BenchDatabase, sqlFiles: string | null): Promise<Start> {
  const instance = await startInstance({ connectionString, includeSchemas: [schema] }, sqlFiles);
  await closeInstance(instance);
  return instance.start;
}

function writeReport(endpoints: number, measured: readonly Round[], postgres: string): string {
  const medianOf = (value: (round: Round) => number): number => median(measured.map(value));
  const row = (name: string, pick: (round: Round) => Start): readonly string[] => [
    name,
    formatNumber(medianOf((round) => pick(round).seconds)),
    formatNumber(medianOf((round) => pick(round).cpu) / 1e6),
    formatMebibytes(medianOf((round) => pick(round).rss)),
  ];
  const added = medianOf(({ functions, files }) => files.cpu - functions.cpu);
  return [
    `PostgreSQL ${postgres}. Starts with ${endpoints.toLocaleString('en-US')} endpoints of the same statement; medians of ${measured.length} interleaved rounds. ` +
      `Files add ${formatNumber(added / 1e6)} s of CPU, the median of the differences.`,
    formatTable(
      ['endpoints from', 'start s', 'CPU of the start s', 'RSS MiB'],
      [row('functions', ({ functions }) => functions), row('SQL files', ({ files }) => files)],
    ),
  ].join('\n\n');
}
