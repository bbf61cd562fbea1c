import type { AnswerCount } from '../check-answers.ts';
import type { Figures } from '../competitor.ts';
import type { Series } from '../rounds.ts';

/** The medians of the rounds of one competitor at one work. */
export interface Summary extends Figures {
  readonly work: string;
  readonly connections: number;
  readonly competitor: string;
  /** Responses that were compared under load; null if the competitor sends none. */
  readonly answers: AnswerCount | null;
  /** Slowest and fastest run, requests per second. */
  readonly slowest: number;
  readonly fastest: number;
  /** The ratio of its requests per second to those of the baseline; null when the baseline did not run. */
  readonly ratio: number | null;
}

export function summarize(all: readonly Series[], baseline: string): readonly Summary[] {
  return all.map((series) => {
    const { work, connections, competitor, answers, runs } = series;
    const rates = runs.map((run) => run.requestsPerSecond);
    const against = all.find(
      (other) => other.competitor === baseline && other.work === work && other.connections === connections,
    );
    const requestsPerSecond = median(rates);
    return {
      work,
      connections,
      competitor,
      answers,
      requestsPerSecond,
      failures: runs.reduce((sum, run) => sum + run.failures, 0),
      slowest: Math.min(...rates),
      fastest: Math.max(...rates),
      ratio:
        against === undefined ? null : requestsPerSecond / median(against.runs.map((run) => run.requestsPerSecond)),
      p50: medianOf(runs, 'p50'),
      p99: medianOf(runs, 'p99'),
      cpu: medianOf(runs, 'cpu'),
      databaseCpu: medianOf(runs, 'databaseCpu'),
      rss: medianOf(runs, 'rss'),
    };
  });
}

function medianOf(runs: readonly Figures[], figure: 'p50' | 'p99' | 'cpu' | 'databaseCpu' | 'rss'): number | null {
  const values = runs.map((run) => run[figure]).filter((value) => value !== null);
  return values.length === 0 ? null : median(values);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Returns the value below which the share of the values is; NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
