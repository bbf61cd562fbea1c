/** Metrics in the text format of Prometheus. */
import { setImmediate } from 'node:timers/promises';
import type { Gateway, Observer } from '@pgway/core';
import type { RealtimeStatistics } from '@pgway/realtime';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { MetricsConfiguration } from '../config/schema/metrics.ts';
import type { RequestConsumer } from '../log/request-log.ts';
import { aggregatedText, type MetricsExchange, type MetricsJson } from './aggregate.ts';
import { defineMetrics } from './define-metric.ts';
import { gatewayMetrics } from './gateway-metrics.ts';
import { RequestMetrics } from './request-metrics.ts';
import { ObservationCounts, type ServerCounts, serverMetrics } from './server-metrics.ts';

export class Metrics {
  readonly #registry = new Registry();
  readonly #configuration: MetricsConfiguration;
  readonly #requests: RequestMetrics;
  readonly #counts = new ObservationCounts();
  readonly #exchange: MetricsExchange | null;
  #gateway: Gateway | null = null;
  #realtime: (() => RealtimeStatistics) | null = null;
  #scrape: Promise<string> | null = null;

  /** @param exchange with the other workers; null: this process serves alone */
  constructor(configuration: MetricsConfiguration, counts: ServerCounts, exchange: MetricsExchange | null = null) {
    this.#configuration = configuration;
    this.#exchange = exchange;
    exchange?.provide(async () => JSON.stringify(await this.json()));
    this.#requests = new RequestMetrics(this.#registry, configuration);
    defineMetrics(this.#registry, [...this.#counts.metrics, ...serverMetrics(counts)]);
    collectDefaultMetrics({ register: this.#registry });
  }

  /** Called at the beginning of each request. */
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
    defineMetrics(
      this.#registry,
      gatewayMetrics(gateway, this.#configuration, () => this.#realtime?.() ?? null),
    );
  }

  /** Adds the metrics of WebSockets, once they are served. */
  addRealtime(statistics: () => RealtimeStatistics): void {
    this.#realtime = statistics;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Returns the metrics of all workers. Concurrent callers share the work. */
  text(): Promise<string> {
    this.#scrape ??= this.#write().finally(() => (this.#scrape = null));
    return this.#scrape;
  }

  json(): Promise<MetricsJson> {
    this.#update();
    return this.#registry.getMetricsAsJSON();
  }

  async #write(): Promise<string> {
    this.#update();
    if (this.#exchange === null) return this.#writeOwn();
    return aggregatedText(await this.#exchange.readAll(), (route) => this.#requests.isPublished(route));
  }

  /** Requests are served between two metrics: with many endpoints, one may have ten thousand lines. */
  async #writeOwn(): Promise<string> {
    const texts: string[] = [];
    for (const { name } of this.#registry.getMetricsAsArray()) {
      texts.push(await this.#registry.getSingleMetricAsString(name));
      await setImmediate();
    }
    return `${texts.join('\n\n')}\n`;
  }

  #update(): void {
    if (this.#gateway !== null) this.#requests.update(this.#gateway.endpoints);
  }
}
