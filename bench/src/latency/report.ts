import type { BarChart } from '../report/bar-chart.ts';
import { describeCompetitor } from '../report/competitor-label.ts';
import { median, percentile } from '../report/summary.ts';
import { formatNumber, formatRatio, formatTable } from '../report/table.ts';
import type { LatencyBenchOptions } from './options.ts';

/** The requests of one kind in one run of a server. */
export interface LatencyRun {
  readonly kind: string;
  readonly server: string;
  /** Requests per second of the scenario. */
  readonly rate: number;
  readonly failures: number;
  /** Milliseconds. */
  readonly latencies: readonly number[];
  /** Those of pgbench at the same rate. */
  readonly limit: readonly number[] | null;
}

interface Result {
  readonly kind: string;
  readonly server: string;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly limit: number | null;
}

function pinnedText({ database }: LatencyBenchOptions): string {
  const others = database === null ? 'the load, pgbench and PostgreSQL' : 'the load and pgbench';
  return ` The server has a processor for itself; ${others} share the others.`;
}

/** Returns the report as Markdown, without a heading. */
export function writeLatencyReport(
  runs: readonly LatencyRun[],
  options: LatencyBenchOptions,
  postgres: string,
): string {
  const results = summarizeLatencies(runs);
  return [
    `PostgreSQL ${postgres}. Requests arrive at random times with a constant rate, ${options.share * 100} % of the highest ` +
      `throughput of the server with the same client and ${options.connections} connections. Milliseconds from the scheduled time; ` +
      `medians of ${options.rounds} interleaved rounds of ${options.seconds} s. pgbench runs at the same rate.${options.isPinned ? pinnedText(options) : ''}`,
    formatTable(
      ['', 'rate', 'p50', 'p99', 'p99.9', 'p99 of pgbench', 'ratio'],
      results.map(({ kind, server, rate, p50, p99, p999, limit }) => [
        `${kind}: ${server}`,
        formatNumber(rate),
        ...[p50, p99, p999, limit].map(formatNumber),
        formatRatio(limit === null ? null : p99 / limit),
      ]),
    ),
  ].join('\n\n');
}

/** Returns a chart of the 99th percentiles. */
export function drawLatencies(runs: readonly LatencyRun[]): BarChart {
  const results = summarizeLatencies(runs);
  const groups = [...new Set(results.map(({ kind }) => kind))].map((kind) => ({
    title: kind,
    bars: results
      .filter((result) => result.kind === kind)
      .flatMap(({ server, p99, limit }) => {
        const bar = { ...describeCompetitor(server), value: p99 };
        return limit === null ? [bar] : [bar, { label: 'pgbench at this rate', value: limit, isOwn: false }];
      }),
  }));
  return {
    name: 'latency',
    title: '99th percentile at 70 % of the highest throughput',
    unit: 'ms, less is better',
    groups,
  };
}

export function summarizeLatencies(runs: readonly LatencyRun[]): readonly Result[] {
  const groups = new Map<string, LatencyRun[]>();
  for (const run of runs) {
    const key = JSON.stringify([run.kind, run.server]);
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()].map((group) => {
    const { kind, server, rate } = group[0]!;
    const at = (share: number): number => median(group.map(({ latencies }) => percentile(latencies, share)));
    const limits = group.flatMap(({ limit }) => (limit === null ? [] : [percentile(limit, 0.99)]));
    const limit = limits.length === 0 ? null : median(limits);
    return { kind, server, rate, p50: at(0.5), p99: at(0.99), p999: at(0.999), limit };
  });
}
