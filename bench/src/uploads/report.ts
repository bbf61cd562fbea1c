import { median } from '../report/summary.ts';
import { formatMebibytes, formatNumber, formatRatio, formatTable } from '../report/table.ts';
import { limitTitles } from './limits.ts';
import type { OtherCalls, UploadRun } from './measure.ts';
import type { UploadWork } from './works.ts';

export interface UploadResult {
  readonly work: UploadWork;
  readonly runs: readonly UploadRun[];
  /** Seconds of the comparison. */
  readonly limits: readonly number[];
  readonly others: readonly OtherCalls[];
}

export interface UploadReport {
  readonly postgres: string;
  readonly rounds: number;
  readonly otherRounds: number;
  /** Other calls per second. */
  readonly rate: number;
  readonly results: readonly UploadResult[];
}

/** The p99 of other calls during an upload, as a multiple of that without one. */
const maxSlowdown = 2;

/** Returns the report as Markdown, without a heading. */
export function writeUploadReport({ results, ...conditions }: UploadReport): string {
  const measured = results.filter(({ runs }) => runs.length > 0);
  const others = results.filter((result) => result.others.length > 0);
  return [
    `PostgreSQL ${conditions.postgres} without durability. Medians of ${conditions.rounds} interleaved rounds.`,
    ...(measured.length === 0
      ? []
      : ['### Speed', speedTable(measured), '### Memory of the gateway', memoryTable(measured)]),
    ...(others.length === 0
      ? []
      : [
          `### Other calls, ${conditions.rate} per second, during an upload`,
          `Milliseconds; all calls of ${conditions.otherRounds} rounds.`,
          otherTable(others),
        ]),
  ].join('\n\n');
}

function speedTable(results: readonly UploadResult[]): string {
  return formatTable(
    ['', 'per second', 'slowest', 'fastest', 'CPU ms per unit', 'comparison', 'slowest', 'fastest', 'ratio', 'goal'],
    results.map(({ work, runs, limits }) => {
      const seconds = runs.map((run) => run.seconds);
      const cpu = median(runs.map((run) => run.cpu)) / 1000 / work.amount;
      const ratio = limits.length === 0 ? null : median(limits) / median(seconds);
      return [
        work.title,
        ...speeds(work, seconds),
        formatNumber(cpu),
        ...(limits.length === 0 ? ['-', '-', '-'] : speeds(work, limits)),
        formatRatio(ratio),
        goal(work, ratio),
      ];
    }),
  ).concat(`\n\n${comparisons(results)}`);
}

/** Returns the median, the slowest and the fastest speed. */
function speeds({ amount, unit }: UploadWork, seconds: readonly number[]): readonly string[] {
  const speed = (time: number): string => formatNumber(amount / time);
  return [`${speed(median(seconds))} ${unit}`, speed(Math.max(...seconds)), speed(Math.min(...seconds))];
}

function goal({ minRatio }: UploadWork, ratio: number | null): string {
  if (minRatio === null || ratio === null) return '-';
  return `${formatRatio(minRatio)} ${ratio >= minRatio ? 'yes' : 'NO'}`;
}

function comparisons(results: readonly UploadResult[]): string {
  const lines = results.flatMap(({ work: { title, limit } }) =>
    limit === null ? [] : [`* ${title}: ${limitTitle(limit)}`],
  );
  return lines.length === 0 ? 'No comparisons.' : `Comparisons:\n\n${lines.join('\n')}`;
}

function limitTitle(limit: NonNullable<UploadWork['limit']>): string {
  if (limit.kind !== 'row-client') return limitTitles[limit.kind];
  return limit.pipeline ? limitTitles.pipelined : limitTitles.inOrder;
}

function memoryTable(results: readonly UploadResult[]): string {
  return formatTable(
    ['', 'idle RSS MiB', 'peak RSS MiB', 'more', 'most', 'goal'],
    results.map(({ work, runs }) => {
      const idle = median(runs.map((run) => run.idleRss));
      const peak = median(runs.map((run) => run.peakRss));
      const more = runs.map((run) => run.peakRss - run.idleRss);
      const { maxMemory } = work;
      const [value, max] = 'total' in maxMemory ? [peak, maxMemory.total] : [median(more), maxMemory.extra];
      return [
        work.title,
        ...[idle, peak, median(more), Math.max(...more)].map(formatMebibytes),
        `${'total' in maxMemory ? 'peak' : 'more'} ≤ ${max / 2 ** 20} MiB: ${value <= max ? 'yes' : 'NO'}`,
      ];
    }),
  );
}

function otherTable(results: readonly UploadResult[]): string {
  return formatTable(
    [
      '',
      'p50 alone',
      'p50 upload',
      'p50 comparison',
      'p99 alone',
      'p99 upload',
      'p99 comparison',
      'ratio of p99',
      'goal',
    ],
    results.map(({ work, others }) => {
      const alone = others.flatMap((other) => other.alone);
      const upload = others.flatMap((other) => other.upload);
      const limit = others.flatMap((other) => other.limit);
      const ratio = percentile(upload, 0.99)! / percentile(alone, 0.99)!;
      return [
        work.title,
        ...[0.5, 0.99].flatMap((share) =>
          [alone, upload, limit].map((latencies) => formatNumber(percentile(latencies, share))),
        ),
        formatRatio(ratio),
        `≤ ${formatRatio(maxSlowdown)} ${ratio <= maxSlowdown ? 'yes' : 'NO'}`,
      ];
    }),
  );
}

function percentile(values: readonly number[], share: number): number | null {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? null;
}
