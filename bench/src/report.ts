import { cpus, loadavg } from 'node:os';

import { limitTitle } from './limit.ts';
import type { StreamResult } from './stream.ts';
import type { Summary } from './summary.ts';
import { mebibytes, number, ratio, table } from './table.ts';
import { works } from './work.ts';

/** Under what conditions the figures came about; without these they mean nothing. */
export interface Conditions {
  readonly date: string;
  readonly node: string;
  readonly postgres: string;
  readonly processor: string;
  readonly processors: number;
  /** Of the minute before the bench; on Windows always 0. */
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
  /** What could not be measured here, and why. */
  readonly missing: readonly string[];
}

const memoryAllowance: number = 64 * 2 ** 20;

export function describeMachine(): Pick<Conditions, 'processor' | 'processors' | 'loadAverage'> {
  const all = cpus();
  return { processor: all[0]?.model.trim() ?? 'unknown', processors: all.length, loadAverage: loadavg()[0] ?? 0 };
}

/** The whole report as Markdown. */
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
    `## Requests per second, ${connections} connections (against Fastify by hand)`,
    overview(summaries),
    `## In detail, ${connections} connections`,
    details(summaries),
  ];
}

function overview(summaries: readonly Summary[]): string {
  const ran = works.filter((work) => summaries.some((summary) => summary.work === work.name));
  const cell = (competitor: string, work: string): string => {
    const found = summaries.find((summary) => summary.competitor === competitor && summary.work === work);
    return found === undefined ? '-' : `${number(found.requestsPerSecond)} (${ratio(found.ratio)})`;
  };
  const rows = [...new Set(summaries.map((summary) => summary.competitor))].map((competitor) => [
    competitor,
    ...ran.map((work) => cell(competitor, work.name)),
  ]);
  const goals = ['goal of pgway', ...ran.map((work) => `(${ratio(work.goal)})`)];
  return table(['', ...ran.map((work) => work.name)], [...rows, goals]);
}

function details(summaries: readonly Summary[]): string {
  return table(
    ['', 'requests/s', 'slowest', 'fastest', 'p50 ms', 'p99 ms', 'CPU µs/request', 'RSS MiB'],
    summaries.map((summary) => [
      `${summary.work}: ${summary.competitor}`,
      number(summary.requestsPerSecond),
      number(summary.slowest),
      number(summary.fastest),
      ...(summary.competitor === limitTitle
        ? ['-', '-', '-', '-']
        : [number(summary.p50), number(summary.p99), number(summary.cpu), mebibytes(summary.rss)]),
    ]),
  );
}

function streamBlock(stream: StreamResult): readonly string[] {
  const { thousandPeak, slow, gone, fast } = stream;
  const memory = (peak: number): readonly string[] => {
    const more = peak - thousandPeak;
    return [mebibytes(peak), mebibytes(Math.max(0, more)), more <= memoryAllowance ? 'yes' : 'NO'];
  };
  const idle = gone.idleAfter === null ? 'database NOT idle' : `database idle after ${number(gone.idleAfter)} s`;
  const speed = `${number(fast.bytes / fast.seconds / 1e6)} MB/s (${number(fast.bytes / 1e6)} MB)`;
  return [
    `## A stream of ${stream.rows.toLocaleString('en-US')} rows from pgway`,
    table(
      ['reader', 'peak RSS MiB', 'more than 1,000 rows', `within ${mebibytes(memoryAllowance)} MiB`, ''],
      [
        ['1,000 rows, again and again', mebibytes(thousandPeak), '', '', ''],
        [`slow: looks away for ${slow.pauseSeconds} s`, ...memory(slow.peak), `database waits: ${slow.databaseWaits}`],
        ['gone: leaves after 1 MB', ...memory(gone.peak), idle],
        ['fast', ...memory(fast.peak), speed],
      ],
    ),
  ];
}
