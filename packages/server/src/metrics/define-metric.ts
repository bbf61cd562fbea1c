import { Counter, Gauge, type Registry } from 'prom-client';

type Labels = Readonly<Record<string, string>>;

/** The value of one series. */
export type Sample = readonly [labels: Labels, value: number];

/** A metric whose values are read for each scrape. */
export interface MetricDefinition {
  readonly type: 'gauge' | 'counter';
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** How values of several worker processes are combined. Default `sum`. */
  readonly aggregator?: 'sum' | 'min' | 'max' | 'first';
  read(): Iterable<Sample>;
}

export function defineMetrics(registry: Registry, definitions: readonly MetricDefinition[]): void {
  for (const definition of definitions) {
    if (definition.type === 'gauge') defineGauge(registry, definition);
    else defineCounter(registry, definition);
  }
}

/** The series of the last scrape are removed: those without a value do not stay. */
function defineGauge(registry: Registry, definition: MetricDefinition): void {
  const gauge: Gauge = new Gauge({
    ...options(registry, definition),
    collect: () => {
      gauge.reset();
      for (const [labels, value] of definition.read()) gauge.set(labels, value);
    },
  });
}

function defineCounter(registry: Registry, definition: MetricDefinition): void {
  const counter: Counter = new Counter({
    ...options(registry, definition),
    collect: () => {
      counter.reset();
      for (const [labels, value] of definition.read()) counter.inc(labels, value);
    },
  });
}

function options(registry: Registry, { name, help, labels = [], aggregator = 'sum' }: MetricDefinition) {
  return { name, help, labelNames: [...labels], aggregator, registers: [registry] };
}

/** Returns the samples of a metric without labels. */
export function single(value: number): readonly Sample[] {
  return [[{}, value]];
}

/** Returns the samples of a metric with one label. */
export function byLabel(label: string, values: Readonly<Record<string, number>>): readonly Sample[] {
  return Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);
}
