/** Metrics in the text format of Prometheus. */
import type { Gateway, Observer } from '@pgway/core';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { MetricsConfiguration } from '../config/schema/metrics.ts';
import type { RequestConsumer } from '../log/request-log.ts';
import { defineMetrics } from './define-metric.ts';
import { gatewayMetrics } from './gateway-metrics.ts';
import { RequestMetrics } from './request-metrics.ts';
import { ObservationCounts, type ServerCounts, serverMetrics } from './server-metrics.ts';

/** The values of all metrics as plain data, for `AggregatorRegistry.aggregate` in another process. */
export type MetricsJson = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: RequestMetrics;
  readonly #counts = new ObservationCounts();
  #gateway: Gateway | null = null;
  #scrape: Promise<string> | null = null;

  constructor(configuration: MetricsConfiguration, counts: ServerCounts) {
    this.#requests = new RequestMetrics(this.#registry, configuration);
    defineMetrics(this.#registry, [...this.#counts.metrics, ...serverMetrics(counts)]);
    collectDefaultMetrics({ register: this.#registry });
  }

  /** Called at the begin of each request. */
  get begin(): () => void {
    return this.#requests.begin;
  }

  get record(): RequestConsumer {
    return this.#requests.record;
  }

  get observe(): Observer {
    return this.#counts.observe;
  }

  /** Adds the metrics of the gateway, once it has started. */
  addGateway(gateway: Gateway): void {
    this.#gateway = gateway;
    defineMetrics(this.#registry, gatewayMetrics(gateway));
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Returns all metrics. Concurrent callers share the work. */
  text(): Promise<string> {
    this.#scrape ??= this.#write().finally(() => (this.#scrape = null));
    return this.#scrape;
  }

  json(): Promise<MetricsJson> {
    this.#update();
    return this.#registry.getMetricsAsJSON();
  }

  #write(): Promise<string> {
    this.#update();
    return this.#registry.metrics();
  }

  #update(): void {
    if (this.#gateway !== null) this.#requests.update(this.#gateway.endpoints);
  }
}
