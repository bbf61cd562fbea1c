import type { BenchRequest } from '../works/work.ts';

export interface LoadResult {
  /** Responses, failed ones included. */
  readonly requests: number;
  /** Responses without a failure. */
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Responses with another status than 2xx or 3xx, and lost connections. */
  readonly failures: number;
}

export interface LoadOptions {
  /** The URL of the endpoints, without a slash at the end. */
  readonly base: string;
  /** Each connection sends them in turn. */
  readonly requests: readonly BenchRequest[];
  readonly connections: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** A load generator in a separate process. Each connection sends its next request after the response. */
export interface LoadTool {
  readonly name: string;
  run(options: LoadOptions): Promise<LoadResult>;
}
