/** Counts requests by method and route. The number of routes is bounded: every path without an endpoint has the same one. */
import type { Endpoint } from '@pgway/core';
import { Histogram, type Registry } from 'prom-client';
import type { MetricsConfiguration } from '../config/schema/metrics.ts';
import { knownMethods } from '../http/methods.ts';
import type { RequestConsumer, RequestEntry } from '../log/request-log.ts';
import { defineMetrics, type Sample, single } from './define-metric.ts';
import { endpointRoute } from './gateway-metrics.ts';

/** The values of the label `route` that are not a path. */
const otherRoute = 'other';
const otherMethod = 'other';

interface Timer {
  observe(seconds: number): void;
}

interface Histograms {
  readonly requests: Histogram;
  readonly calls: Histogram;
}

/** The series of one method and route. */
class RouteMetrics {
  readonly labels: { readonly method: string; readonly route: string };
  /** The number of responses by status. */
  readonly responses = new Map<number, number>();
  bytes = 0;
  rows = 0;
  readonly #histograms: Histograms;
  /** By the first digit of the status. The labels of a histogram are bound once, as finding them costs more than counting. */
  readonly #requestTimers: (Timer | undefined)[] = [];
  #callTimer: Timer | null = null;

  constructor(labels: RouteMetrics['labels'], histograms: Histograms) {
    this.labels = labels;
    this.#histograms = histograms;
  }

  record({ status, bytes, rows, durationMs, databaseMs, isEventStream }: RequestEntry): void {
    this.responses.set(status, (this.responses.get(status) ?? 0) + 1);
    this.bytes += bytes ?? 0;
    this.rows += rows ?? 0;
    // A stream lasts as long as its client listens.
    if (!isEventStream || status >= 400) this.#requestTimer(Math.floor(status / 100)).observe(durationMs / 1000);
    if (databaseMs === null) return;
    this.#callTimer ??= this.#histograms.calls.labels(this.labels);
    this.#callTimer.observe(databaseMs / 1000);
  }

  #requestTimer(statusClass: number): Timer {
    return (this.#requestTimers[statusClass] ??= this.#histograms.requests.labels({
      ...this.labels,
      status: `${statusClass}xx`,
    }));
  }

  remove(): void {
    for (const [statusClass] of this.#requestTimers.entries()) {
      this.#histograms.requests.remove({ ...this.labels, status: `${statusClass}xx` });
    }
    this.#histograms.calls.remove(this.labels);
  }
}

/** The upper bounds of the buckets of histograms, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class RequestMetrics {
  readonly #perEndpoint: boolean;
  readonly #histograms: Histograms;
  /** By route, then by method. */
  readonly #routes = new Map<string, Map<string, RouteMetrics>>();
  /** The paths of the endpoints at the last scrape. */
  #published: { readonly endpoints: readonly Endpoint[]; readonly paths: ReadonlySet<string> } | null = null;
  #begun = 0;
  #ended = 0;
  #incomplete = 0;

  constructor(registry: Registry, { perEndpoint }: MetricsConfiguration) {
    this.#perEndpoint = perEndpoint;
    const labels = ['method', 'route'];
    this.#defineCounters(registry, labels);
    const histogram = (name: string, help: string, labelNames: readonly string[]): Histogram =>
      new Histogram({ name, help, labelNames: [...labelNames], buckets: [...buckets], registers: [registry] });
    this.#histograms = {
      requests: histogram(
        'pgway_http_request_duration_seconds',
        'Time from the beginning of a request to the end of its response, without open event streams.',
        [...labels, 'status'],
      ),
      calls: histogram(
        'pgway_database_call_duration_seconds',
        'Time of the call of a request in the database.',
        labels,
      ),
    };
  }

  /** Called at the beginning of each request. */
  readonly begin = (): void => {
    this.#begun++;
  };

  /** Called at the end of each response. */
  readonly record: RequestConsumer = (entry) => {
    this.#ended++;
    if (entry.isIncomplete) this.#incomplete++;
    this.#find(entry).record(entry);
  };

  /** Removes the series of endpoints that the catalog has no more. */
  update(endpoints: readonly Endpoint[]): void {
    if (this.#published?.endpoints === endpoints) return;
    const paths = new Set(endpoints.flatMap(({ path, events }) => [path, ...(events === null ? [] : [events.path])]));
    for (const path of this.#published?.paths ?? []) {
      if (paths.has(path)) continue;
      for (const route of this.#routes.get(path)?.values() ?? []) route.remove();
      this.#routes.delete(path);
    }
    this.#published = { endpoints, paths };
  }

  /** Whether the route has no path, or the catalog has an endpoint with that path, as of the last scrape. */
  isPublished(route: string): boolean {
    return !route.startsWith('/') || this.#published?.paths.has(route) === true;
  }

  #find({ method, route }: RequestEntry): RouteMetrics {
    const routeLabel = route === null ? otherRoute : this.#perEndpoint ? route : endpointRoute;
    const methodLabel = knownMethods.has(method) ? method : otherMethod;
    let byMethod = this.#routes.get(routeLabel);
    if (byMethod === undefined) this.#routes.set(routeLabel, (byMethod = new Map<string, RouteMetrics>()));
    let found = byMethod.get(methodLabel);
    if (found === undefined) {
      found = new RouteMetrics({ method: methodLabel, route: routeLabel }, this.#histograms);
      byMethod.set(methodLabel, found);
    }
    return found;
  }

  *#all(): Iterable<RouteMetrics> {
    for (const byMethod of this.#routes.values()) yield* byMethod.values();
  }

  *#sum(read: (route: RouteMetrics) => number): Iterable<Sample> {
    for (const route of this.#all()) yield [route.labels, read(route)];
  }

  *#responses(): Iterable<Sample> {
    for (const { labels, responses } of this.#all()) {
      for (const [status, count] of responses) yield [{ ...labels, code: String(status) }, count];
    }
  }

  #defineCounters(registry: Registry, labels: readonly string[]): void {
    defineMetrics(registry, [
      {
        type: 'counter',
        name: 'pgway_http_requests_total',
        help: 'Requests whose responses have ended, by status; 499: the client has disconnected before.',
        labels: [...labels, 'code'],
        read: () => this.#responses(),
      },
      {
        type: 'gauge',
        name: 'pgway_http_requests_in_flight',
        help: 'Requests whose responses have not ended.',
        read: () => single(this.#begun - this.#ended),
      },
      {
        type: 'counter',
        name: 'pgway_http_responses_incomplete_total',
        help: 'Responses that have begun and did not reach their end.',
        read: () => single(this.#incomplete),
      },
      {
        type: 'counter',
        name: 'pgway_http_response_body_bytes_total',
        help: 'Bytes of response bodies.',
        labels,
        read: () => this.#sum(({ bytes }) => bytes),
      },
      {
        type: 'counter',
        name: 'pgway_database_rows_total',
        help: 'Rows of responses from the database.',
        labels,
        read: () => this.#sum(({ rows }) => rows),
      },
    ]);
  }
}
