import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A receiver of traces (OTLP over HTTP), until the test has finished. */
export interface Collector {
  /** `http://127.0.0.1:…/v1/traces` */
  readonly url: string;
  readonly requests: readonly CollectedRequest[];
  /** The spans that were received as JSON, in order. */
  readonly spans: () => readonly CollectedSpan[];
  /** The attributes of the resource of the first request. */
  readonly resource: () => Readonly<Record<string, unknown>>;
}

interface CollectedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: 'server' | 'client' | 'other';
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Nanoseconds since 1970. */
  readonly begin: bigint;
  readonly end: bigint;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string; readonly doubleValue?: number };
}

interface OtlpSpan extends Pick<CollectedSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'name'> {
  readonly kind: number;
  readonly status: { readonly code: number };
  readonly attributes: readonly OtlpAttribute[];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

const kinds: Readonly<Record<number, CollectedSpan['kind']>> = { 2: 'server', 3: 'client' };
const errorStatus = 2;

/** @param status of every response */
export async function startCollector(status = 200): Promise<Collector> {
  const requests: CollectedRequest[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then((chunks: readonly Buffer[]) => {
      requests.push({ path: request.url!, headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const parsed = (): readonly OtlpRequest[] => requests.map(({ body }) => JSON.parse(body.toString()) as OtlpRequest);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    requests,
    spans: () =>
      parsed().flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(toSpan))),
      ),
    resource: () => toRecord(parsed()[0]!.resourceSpans[0]!.resource.attributes),
  };
}

function toSpan({ kind, status, attributes, startTimeUnixNano, endTimeUnixNano, ...span }: OtlpSpan): CollectedSpan {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    name: span.name,
    kind: kinds[kind] ?? 'other',
    isError: status.code === errorStatus,
    attributes: toRecord(attributes),
    begin: BigInt(startTimeUnixNano),
    end: BigInt(endTimeUnixNano),
  };
}

function toRecord(attributes: readonly OtlpAttribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
