/** Metrics of a running server. Their packages are loaded only when the configuration enables them. */
import type { Gateway, Observer } from '@pgway/core';
import type { Configuration } from './config/schema.ts';
import type { HealthHandler } from './health/health-handler.ts';
import type { LogOutputs } from './log/log-outputs.ts';
import type { RequestLog } from './log/request-log.ts';
import type { Metrics } from './metrics/metrics.ts';

/** What the telemetry needs of the log. */
export interface TelemetrySources {
  readonly observer: Observer;
  /** Null: neither log nor telemetry needs the requests. */
  readonly requestLog: RequestLog | null;
  readonly outputs: Pick<LogOutputs, 'lostLines'>;
}

export interface Telemetry {
  /** Passes observations on, and counts them. */
  readonly observer: Observer;
  /** Called at the begin of each request, as that of the request log. */
  readonly begin: RequestLog['begin'] | undefined;
  readonly metrics: Metrics | null;
  /** Serves the metrics; null: they are not served. */
  readonly serveMetrics: HealthHandler | null;
  /** Adds the gateway, once it has started. */
  readonly addGateway: (gateway: Gateway) => void;
}

/** Whether the telemetry needs the requests of the log. */
export function needsRequests({ metrics }: Configuration): boolean {
  return metrics.enabled;
}

export async function openTelemetry(
  { metrics: configuration }: Configuration,
  { observer, requestLog, outputs }: TelemetrySources,
): Promise<Telemetry> {
  if (!configuration.enabled || requestLog === null) {
    return {
      observer,
      begin: requestLog?.begin,
      metrics: null,
      serveMetrics: null,
      addGateway: () => undefined,
    };
  }
  const [{ Metrics: MetricsClass }, { createMetricsHandler }] = await Promise.all([
    import('./metrics/metrics.ts'),
    import('./metrics/metrics-handler.ts'),
  ]);
  const metrics = new MetricsClass(configuration, outputs);
  requestLog.addConsumer(metrics.record);
  return {
    observer: (observation) => {
      metrics.observe(observation);
      observer(observation);
    },
    begin: (request, response) => {
      metrics.begin();
      return requestLog.begin(request, response);
    },
    metrics,
    serveMetrics: createMetricsHandler(configuration, metrics),
    addGateway: (gateway) => metrics.addGateway(gateway),
  };
}
