/** Sends spans to an OTLP endpoint, in batches beside the requests. */
import type { Tracer } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { version } from '../version.ts';
import type { TracingConfiguration } from '../config/schema/tracing.ts';

/** Spans beyond the queue are dropped. Times in milliseconds. */
const limits = { queue: 2048, batch: 512, delay: 2000, timeout: 10_000, close: 2000, valueLength: 1024 } as const;

const unsent = 'the last traces could not be sent to tracing.endpoint';

/** The numbers of sampled spans, since the start. */
export interface SpanCounts {
  /** Spans that were sent to the endpoint. */
  exported: number;
  /** Spans that the endpoint did not accept. */
  failed: number;
}

export interface TraceExport {
  readonly tracer: Tracer;
  readonly ids: ReservedIds;
  readonly counts: Readonly<SpanCounts>;
  /** Sends what is queued, for at most two seconds. */
  close(): Promise<void>;
}

/** @param report receives the first failure of the endpoint, and its recovery */
export async function openTraceExport(
  configuration: TracingConfiguration & { readonly name: string },
  report: (message: string) => void,
): Promise<TraceExport> {
  const counts: SpanCounts = { exported: 0, failed: 0 };
  const exporter = new ReportingExporter(await createExporter(configuration), counts, report);
  const ids = new ReservedIds();
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.version': version(),
        'service.name': configuration.name,
        ...configuration.resourceAttributes,
      }),
    ),
    sampler: createSampler(configuration),
    idGenerator: ids,
    spanLimits: { attributeValueLengthLimit: limits.valueLength },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: limits.queue,
        maxExportBatchSize: limits.batch,
        scheduledDelayMillis: limits.delay,
        exportTimeoutMillis: limits.timeout,
      }),
    ],
  });
  return {
    tracer: provider.getTracer('pgway', version()),
    ids,
    counts,
    close: async () => {
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, limits.close, false)));
      // The exporter reports a failure itself.
      const sent = provider.shutdown().then(
        () => true,
        () => true,
      );
      if (!(await Promise.race([sent, timeout]))) report(`${unsent} within ${limits.close / 1000} s, and are lost`);
      clearTimeout(timer);
    },
  };
}

async function createExporter({ endpoint, protocol, headers }: TracingConfiguration): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'));
  return new OTLPTraceExporter({ url: endpoint!, headers: { ...headers }, timeoutMillis: limits.timeout });
}

function createSampler({ sampler, sampleRatio }: TracingConfiguration): Sampler {
  const root = sampler.endsWith('always_off')
    ? new AlwaysOffSampler()
    : sampler.endsWith('always_on')
      ? new AlwaysOnSampler()
      : new TraceIdRatioBasedSampler(sampleRatio);
  return sampler.startsWith('parentbased') ? new ParentBasedSampler({ root }) : root;
}

/** Generates random ids, or the reserved id of a span that begins later. */
export class ReservedIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #next: string | null = null;

  generateTraceId(): string {
    return this.#random.generateTraceId();
  }

  generateSpanId(): string {
    const id = this.#next ?? this.#random.generateSpanId();
    this.#next = null;
    return id;
  }

  /** The next span gets this id. */
  use(id: string): void {
    this.#next = id;
  }
}

/** Counts spans, and reports the first failure of a series. */
class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #counts: SpanCounts;
  readonly #report: (message: string) => void;
  #isFailing = false;

  constructor(exporter: SpanExporter, counts: SpanCounts, report: (message: string) => void) {
    this.#exporter = exporter;
    this.#counts = counts;
    this.#report = report;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      const isFailed = result.code === ExportResultCode.FAILED;
      this.#counts[isFailed ? 'failed' : 'exported'] += spans.length;
      if (isFailed && !this.#isFailing) {
        this.#report(
          `traces cannot be sent to tracing.endpoint, and are lost: ${result.error?.message ?? 'unknown error'}`,
        );
      }
      if (!isFailed && this.#isFailing) this.#report('traces are sent to tracing.endpoint again');
      this.#isFailing = isFailed;
      done(result);
    });
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}
