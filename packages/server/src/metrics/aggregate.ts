/** Adds up the metrics of several processes. */
import { AggregatorRegistry, type Registry } from 'prom-client';

/** The values of all metrics as plain data, for another process. */
export type MetricsJson = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Exchanges metrics with the other workers. */
export interface MetricsExchange {
  /** Sets the function that reads those of this worker, as JSON text. */
  readonly provide: (read: () => Promise<string>) => void;
  readonly readAll: () => Promise<AllMetrics>;
}

/** The metrics of all worker processes, each as the JSON text of a `MetricsJson`. */
export interface AllMetrics {
  readonly running: readonly string[];
  /** The counts of those that have exited: without them, the sums would fall. Null: none has. */
  readonly exited: string | null;
}

/** Returns the sum of the counters and histograms of processes that have exited. */
export async function addExited(exited: string | null, next: string): Promise<string> {
  const lists = [...(exited === null ? [] : [exited]), next].map(parse);
  const counts = lists.map((metrics) => metrics.filter(({ type }) => isCount(type)));
  return JSON.stringify(await aggregate(counts).getMetricsAsJSON());
}

/**
 * Returns all metrics as text.
 * @param isRoute whether a value of the label `route` is still one; processes that have exited may have others
 */
export function aggregatedText({ running, exited }: AllMetrics, isRoute: (route: string) => boolean): Promise<string> {
  const lists = running.map(parse);
  const routes = new Set(lists.flatMap((metrics) => metrics.flatMap(({ values }) => values.map(routeOf))));
  const kept = parse(exited ?? '[]').map((metric) => ({
    ...metric,
    values: metric.values.filter((sample) => {
      const route = routeOf(sample);
      return route === undefined || routes.has(route) || isRoute(route);
    }),
  }));
  return aggregate([...lists, kept]).metrics();
}

function aggregate(lists: readonly MetricsJson[]): ReturnType<typeof AggregatorRegistry.aggregate> {
  return AggregatorRegistry.aggregate(lists as unknown as Parameters<typeof AggregatorRegistry.aggregate>[0]);
}

function parse(text: string): MetricsJson {
  return JSON.parse(text) as MetricsJson;
}

/** `type` is a text in JSON, and a number in the types of the package. */
function isCount(type: unknown): boolean {
  return type === 'counter' || type === 'histogram';
}

function routeOf({
  labels,
}: {
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
}): string | undefined {
  const route = labels['route'];
  return route === undefined ? undefined : String(route);
}
