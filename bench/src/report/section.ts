import type { BarChart } from './bar-chart.ts';

/** A figure for the summary in the documentation. */
export interface Headline {
  readonly work: string;
  /** Requests per second of pgway. */
  readonly requestsPerSecond: number;
  readonly ratio: number;
  /** The competitor whose requests per second are 1. */
  readonly against: string;
}

/** The result of one benchmark. */
export interface Section {
  readonly title: string;
  /** Markdown below the heading. */
  readonly text: string;
  readonly headlines?: readonly Headline[];
  readonly charts: readonly BarChart[];
  /** Every figure, for the JSON file. */
  readonly data: object;
  /** Wrong and failed responses of pgway. They fail the bench. */
  readonly faults: readonly string[];
}
