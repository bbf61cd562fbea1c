/** Metrics of the server that are neither of a request nor of the gateway's statistics. */
import type { Observation, Observer } from '@pgway/core';
import type { FastPathCounts } from '../http/fast-path/counts.ts';
import { version } from '../version.ts';
import type { LogOutputs } from '../log/log-outputs.ts';
import type { SpanCounts } from '../tracing/trace-export.ts';
import { byLabel, type MetricDefinition, type Sample, single } from './define-metric.ts';

type Upload = Extract<Observation, { readonly kind: 'upload' }>;

/** Counts observations. Its labels have names of the configuration, and none of clients. */
export class ObservationCounts {
  /** The number of files by handler, then by status. */
  readonly #files = new Map<string, Map<string, number>>();
  readonly #uploadedBytes = new Map<string, number>();
  readonly #connectionFailures = new Map<string, number>();

  readonly observe: Observer = (observation) => {
    if (observation.kind === 'upload') this.#countUpload(observation);
    if (observation.kind === 'connection-failed') increment(this.#connectionFailures, observation.connection ?? '', 1);
  };

  get metrics(): readonly MetricDefinition[] {
    return [
      {
        type: 'counter',
        name: 'pgway_upload_files_total',
        help: 'Uploaded files by handler and result of its checks.',
        labels: ['handler', 'status'],
        read: () => this.#fileSamples(),
      },
      {
        type: 'counter',
        name: 'pgway_upload_bytes_total',
        help: 'Bytes of uploaded files.',
        labels: ['handler'],
        read: () => byLabel('handler', Object.fromEntries(this.#uploadedBytes)),
      },
      {
        type: 'counter',
        name: 'pgway_database_connection_failures_total',
        help: 'Connections that could not be opened, or were lost.',
        labels: ['connection'],
        read: () => byLabel('connection', Object.fromEntries(this.#connectionFailures)),
      },
    ];
  }

  *#fileSamples(): Iterable<Sample> {
    for (const [handler, statuses] of this.#files) {
      for (const [status, count] of statuses) yield [{ handler, status }, count];
    }
  }

  #countUpload({ handler, status, size }: Upload): void {
    const statuses = this.#files.get(handler) ?? new Map<string, number>();
    this.#files.set(handler, statuses);
    increment(statuses, status, 1);
    increment(this.#uploadedBytes, handler, size);
  }
}

function increment(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

/** Numbers of other parts of the server. */
export interface ServerCounts extends Pick<LogOutputs, 'lostLines'> {
  /** Null: there are no traces. */
  readonly spanCounts: Readonly<SpanCounts> | null;
  readonly fastPath: Readonly<FastPathCounts>;
  readonly workers: () => { readonly running: number; readonly configured: number };
}

export function serverMetrics({ lostLines, spanCounts, workers, fastPath }: ServerCounts): readonly MetricDefinition[] {
  return [
    {
      type: 'gauge',
      name: 'pgway_build_info',
      help: 'The version of pgway and of Node.js; the value is 1.',
      labels: ['version', 'node_version'],
      aggregator: 'first',
      read: () => [[{ version: version(), node_version: process.version }, 1]],
    },
    {
      type: 'gauge',
      name: 'pgway_workers_running',
      help: 'Processes that serve requests.',
      aggregator: 'max',
      read: () => single(workers().running),
    },
    {
      type: 'gauge',
      name: 'pgway_workers_configured',
      help: 'Processes that should serve requests.',
      aggregator: 'max',
      read: () => single(workers().configured),
    },
    {
      type: 'counter',
      name: 'pgway_fast_path_requests_total',
      help: 'Requests that were served without `node:http` (`fastPath`).',
      read: () => single(fastPath.requests),
    },
    {
      type: 'counter',
      name: 'pgway_fast_path_handovers_total',
      help: 'Connections that were given to `node:http`, because of the form of a request or because no endpoint answers it.',
      read: () => single(fastPath.handOvers),
    },
    {
      type: 'counter',
      name: 'pgway_log_lines_lost_total',
      help: 'Lines and tracked requests that an output of the log could not write.',
      labels: ['output'],
      read: () => byLabel('output', lostLines()),
    },
    {
      type: 'counter',
      name: 'pgway_trace_spans_total',
      help: 'Spans of traces by result: exported, or failed when the endpoint did not accept them.',
      labels: ['result'],
      read: () => (spanCounts === null ? [] : byLabel('result', { ...spanCounts })),
    },
  ];
}
