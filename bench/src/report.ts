import { cpus, loadavg } from 'node:os';

import { pgbenchTitle } from './pgbench.ts';
import type { StreamResult } from './stream.ts';
import type { Summary } from './summary.ts';
import { formatMebibytes, formatNumber, formatRatio, formatTable } from './table.ts';
import { works } from './work.ts';

/** The conditions of the measurement, which any comparison needs. */
export interface Conditions {
  readonly date: string;
  readonly node: string;
  readonly postgres: string;
  readonly processor: string;
  readonly processors: number;
  /** The average of the minute before the bench; on Windows always 0. */
  readonly loadAverage: number;
  readonly loadTool: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly pool: number;
}

export interface Report {
  readonly conditions: Conditions;
  readonly summaries: readonly Summary[];
  readonly stream: StreamResult | null;
  /** Measurements that could not run, with the reason. */
  readonly missing: readonly string[];
}

const memoryAllowance: number = 64 * 2 ** 20;

export function describeMachine(): Pick<Conditions, 'processor' | 'processors' | 'loadAverage'> {
  const all = cpus();
  return { processor: all[0]?.model.trim() ?? 'unknown', processors: all.length, loadAverage: loadavg()[0] ?? 0 };
}

/** Returns the report as Markdown. */
export function writeReport(report: Report): string {
  const { conditions } = report;
  const connections = [...new Set(report.summaries.map((summary) => summary.connections))];
  return [
    `# Bench, ${conditions.date}`,
    `Node ${conditions.node}, PostgreSQL ${conditions.postgres}, load by ${conditions.loadTool}; ` +
      `${conditions.processors} × ${conditions.processor}, shared by load, contender and database; ` +
      `load average ${conditions.loadAverage.toFixed(1)} before the start.\n` +
      `Medians of ${conditions.rounds} interleaved rounds of ${conditions.seconds} s; ` +
      `${conditions.pool} database connections each.`,
    ...connections.flatMap((count) => block(count, report.summaries)),
    ...(report.stream === null ? [] : streamBlock(report.stream)),
    ...report.missing.map((line) => `Not measured: ${line}`),
  ].join('\n\n');
}

function block(connections: number, all: readonly Summary[]): readonly string[] {
  const summaries = all.filter((summary) => summary.connections === connections);
  return [
    `## Requests per second, ${connections} connections (against hand-written Fastify)`,
    overview(summaries),
    `## In detail, ${connections} connections`,
    details(summaries),
  ];
}

function overview(summaries: readonly Summary[]): string {
  const ran = works.filter((work) => summaries.some((summary) => summary.work === work.name));
  const cell = (competitor: string, work: string): string => {
    const found = summaries.find((summary) => summary.competitor === competitor && summary.work === work);
    return found === undefined ? '-' : `${formatNumber(found.requestsPerSecond)} (${formatRatio(found.ratio)})`;
  };
  const rows = [...new Set(summaries.map((summary) => summary.competitor))].map((competitor) => [
    competitor,
    ...ran.map((work) => cell(competitor, work.name)),
  ]);
  const goals = ['goal of pgway', ...ran.map((work) => `(${formatRatio(work.goal)})`)];
  return formatTable(['', ...ran.map((work) => work.name)], [...rows, goals]);
}

function details(summaries: readonly Summary[]): string {
  return formatTable(
    ['', 'requests/s', 'slowest', 'fastest', 'p50 ms', 'p99 ms', 'CPU µs/request', 'RSS MiB'],
    summaries.map((summary) => [
      `${summary.work}: ${summary.competitor}`,
      formatNumber(summary.requestsPerSecond),
      formatNumber(summary.slowest),
      formatNumber(summary.fastest),
      ...(summary.competitor === pgbenchTitle
        ? ['-', '-', '-', '-']
        : [
            formatNumber(summary.p50),
            formatNumber(summary.p99),
            formatNumber(summary.cpu),
            formatMebibytes(summary.rss),
          ]),
    ]),
  );
}

function streamBlock(stream: StreamResult): readonly string[] {
  const { thousandPeak, slow, disconnected, fast } = stream;
  const memory = (peak: number): readonly string[] => {
    const more = peak - thousandPeak;
    return [formatMebibytes(peak), formatMebibytes(Math.max(0, more)), more <= memoryAllowance ? 'yes' : 'NO'];
  };
  const idle =
    disconnected.idleAfter === null
      ? 'database NOT idle'
      : `database idle after ${formatNumber(disconnected.idleAfter)} s`;
  const speed = `${formatNumber(fast.bytes / fast.seconds / 1e6)} MB/s (${formatNumber(fast.bytes / 1e6)} MB)`;
  return [
    `## A stream of ${stream.rows.toLocaleString('en-US')} rows from pgway`,
    formatTable(
      ['reader', 'peak RSS MiB', 'more than 1,000 rows', `within ${formatMebibytes(memoryAllowance)} MiB`, ''],
      [
        ['1,000 rows, repeatedly', formatMebibytes(thousandPeak), '', '', ''],
        [`slow: pauses for ${slow.pauseSeconds} s`, ...memory(slow.peak), `database waits: ${slow.databaseWaits}`],
        ['disconnects after 1 MB', ...memory(disconnected.peak), idle],
        ['fast', ...memory(fast.peak), speed],
      ],
    ),
  ];
}
