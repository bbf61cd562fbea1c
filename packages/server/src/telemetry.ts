/** Metrics and traces of a running server. Their packages are loaded only when the configuration enables them. */
import type { IncomingMessage } from 'node:http';
import type { Gateway, Observer } from '@pgway/core';
import type { RealtimeStatistics } from '@pgway/realtime';
import type { Configuration } from './config/schema.ts';
import type { CommandOptions } from './gateway-options.ts';
import type { FastPathCounts } from './http/fast-path/counts.ts';
import type { PathHandler } from './http/http-server.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { LogOutputs } from './log/log-outputs.ts';
import type { RequestConsumer, RequestLog } from './log/request-log.ts';
import type { MetricsExchange } from './metrics/aggregate.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { RequestTracer } from './tracing/request-tracer.ts';
import type { SpanCounts } from './tracing/trace-export.ts';
import type { WorkersState } from './workers/topics.ts';

/** The parts of the log that the telemetry uses. */
export interface TelemetrySources {
  readonly observer: Observer;
  /** Null: neither log nor telemetry needs the requests. */
  readonly requestLog: RequestLog | null;
  readonly outputs: Pick<LogOutputs, 'lostLines'>;
  readonly warning: (line: string) => void;
  readonly fastPath: Readonly<FastPathCounts>;
}

/** The part of a worker process that metrics need. */
export interface TelemetryWorker {
  readonly metrics: MetricsExchange;
  readonly state: () => WorkersState;
}

export interface Telemetry {
  /** Receives the observations of the gateway, and passes them to the log. */
  readonly observer: Observer;
  /** Called at the beginning of each request; undefined: nothing needs the requests. */
  readonly begin: RequestLog['begin'] | undefined;
  readonly gatewayOptions: Pick<CommandOptions, 'traceparent'>;
  /** Serves the metrics; null: they are not served. */
  readonly serveMetrics: PathHandler | null;
  /** Adds the gateway, once it has started. */
  readonly addGateway: (gateway: Gateway) => void;
  /** Adds the WebSockets, once they are served. */
  readonly addRealtime: (statistics: () => RealtimeStatistics) => void;
}

/** Metrics or traces: receives each request at its begin and its end, and all observations. */
interface Instrument {
  readonly begin: (request: IncomingMessage) => void;
  readonly record: RequestConsumer;
  readonly observe: Observer;
}

/** Milliseconds. */
const timeouts = { start: 10_000, stop: 3000 } as const;

/** Whether the telemetry needs the requests of the log. */
export function needsRequests({ metrics, tracing }: Configuration): boolean {
  return metrics.path !== null || tracing.endpoint !== null;
}

export async function openTelemetry(
  lifecycle: Lifecycle,
  configuration: Configuration,
  sources: TelemetrySources & { readonly worker: TelemetryWorker | null },
): Promise<Telemetry> {
  const { observer, requestLog } = sources;
  if (requestLog === null || !needsRequests(configuration)) {
    return {
      observer,
      begin: requestLog?.begin,
      gatewayOptions: {},
      serveMetrics: null,
      addGateway: () => undefined,
      addRealtime: () => undefined,
    };
  }
  const traces = configuration.tracing.endpoint === null ? null : await openTraces(lifecycle, configuration, sources);
  const metrics = configuration.metrics.path === null ? null : await openMetrics(configuration, sources, traces);
  const instruments = [traces?.tracer, metrics?.metrics].filter((instrument) => instrument !== undefined);
  return {
    ...connect(instruments, observer, requestLog),
    gatewayOptions: traces === null ? {} : { traceparent: traces.tracer.traceparent },
    serveMetrics: metrics?.serve ?? null,
    addGateway: (gateway) => metrics?.metrics.addGateway(gateway),
    addRealtime: (statistics) => metrics?.metrics.addRealtime(statistics),
  };
}

function connect(
  instruments: readonly Instrument[],
  observer: Observer,
  requestLog: RequestLog,
): Pick<Telemetry, 'observer' | 'begin'> {
  for (const { record } of instruments) requestLog.addConsumer(record);
  return {
    observer: (observation) => {
      for (const { observe } of instruments) observe(observation);
      observer(observation);
    },
    begin: (request, response) => {
      for (const { begin } of instruments) begin(request);
      return requestLog.begin(request, response);
    },
  };
}

interface Traces {
  readonly tracer: RequestTracer;
  readonly counts: Readonly<SpanCounts>;
}

/** The traces of the last requests are sent after the HTTP server and the gateway have stopped. */
async function openTraces(
  lifecycle: Lifecycle,
  { name, tracing }: Configuration,
  { warning }: TelemetrySources,
): Promise<Traces> {
  const [{ openTraceExport }, { RequestTracer: Tracer }] = await Promise.all([
    import('./tracing/trace-export.ts'),
    import('./tracing/request-tracer.ts'),
  ]);
  const traceExport = await lifecycle.start({
    name: 'the export of traces',
    startTimeoutMs: timeouts.start,
    start: () => openTraceExport({ ...tracing, name }, warning),
    stopTimeoutMs: timeouts.stop,
    stop: (opened) => opened.close(),
  });
  return { tracer: new Tracer(traceExport, tracing), counts: traceExport.counts };
}

interface OpenedMetrics {
  readonly metrics: Metrics;
  readonly serve: PathHandler;
}

async function openMetrics(
  { metrics: configuration }: Configuration,
  { outputs, worker, fastPath }: TelemetrySources & { readonly worker: TelemetryWorker | null },
  traces: Traces | null,
): Promise<OpenedMetrics> {
  const [{ Metrics: Class }, { createMetricsHandler }] = await Promise.all([
    import('./metrics/metrics.ts'),
    import('./metrics/metrics-handler.ts'),
  ]);
  const counts = {
    lostLines: outputs.lostLines,
    spanCounts: traces?.counts ?? null,
    fastPath,
    workers: worker?.state ?? (() => ({ running: 1, configured: 1 })),
  };
  const metrics = new Class(configuration, counts, worker?.metrics ?? null);
  return { metrics, serve: createMetricsHandler(configuration, metrics) };
}
