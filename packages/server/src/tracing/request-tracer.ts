/** Spans of requests and of their calls: https://opentelemetry.io/docs/specs/semconv/http/http-spans, …/database/postgresql */
import type { IncomingMessage } from 'node:http';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { GatewayRequest, Observation, Observer } from '@pgway/core';
import type { RequestConsumer, RequestEntry } from '../log/request-log.ts';
import { callAttributes, callName, errorType, requestAttributes, requestName } from './span-attributes.ts';
import type { TraceExport } from './trace-export.ts';

/** A call that has begun, or is about to. */
interface OpenCall {
  /** The id of its span, which PostgreSQL has received. */
  readonly spanId: string;
  /** In the time of `performance.now()`. */
  readonly startedAt: number;
}

/** The spans of a request whose response has not ended. */
interface OpenTrace {
  /** Milliseconds since 1970. All times of a trace are relative to it, as the clock of the system may be set. */
  readonly startedAtEpoch: number;
  /** In the time of `performance.now()`. */
  readonly startedAt: number;
  /** Read at the beginning: a connection of HTTP/2 may be gone at the end. */
  readonly scheme: 'http' | 'https';
  /** Null until it is needed. */
  span: Span | null;
  /** By the request that makes the call: those of a batch begin before the first one has ended. Null: none yet. */
  calls: Map<GatewayRequest, OpenCall> | null;
  failure: Extract<Observation, { readonly kind: 'request-failed' }> | null;
}

const openTraceKey = Symbol('open trace');

interface TracedRequest extends IncomingMessage {
  [openTraceKey]?: OpenTrace;
}

const propagator = new W3CTraceContextPropagator();
const headerGetter = {
  keys: (headers: IncomingMessage['headers']) => Object.keys(headers),
  get: (headers: IncomingMessage['headers'], name: string) => headers[name],
};

export class RequestTracer {
  readonly #export: TraceExport;
  readonly #trustsParent: boolean;

  constructor(traceExport: TraceExport, { trustParent }: { readonly trustParent: boolean }) {
    this.#export = traceExport;
    this.#trustsParent = trustParent;
  }

  /** Called at the beginning of each request. */
  readonly begin = (request: TracedRequest): void => {
    request[openTraceKey] = {
      startedAtEpoch: Date.now(),
      startedAt: performance.now(),
      scheme: 'encrypted' in request.socket && request.socket.encrypted === true ? 'https' : 'http',
      span: null,
      calls: null,
      failure: null,
    };
  };

  /** Returns the trace context for the call of a request, which is about to run; null: the request is not sampled. */
  readonly traceparent = (caller: GatewayRequest): string | null => {
    const request = caller.raw as TracedRequest | undefined;
    const open = request?.[openTraceKey];
    if (request === undefined || open === undefined) return null;
    const { traceId, traceFlags } = this.#requestSpan(request, open).spanContext();
    if ((traceFlags & TraceFlags.SAMPLED) === 0) return null;
    const call = { spanId: this.#export.ids.generateSpanId(), startedAt: performance.now() };
    (open.calls ??= new Map()).set(caller, call);
    return `00-${traceId}-${call.spanId}-01`;
  };

  readonly observe: Observer = (observation) => {
    if (observation.kind !== 'call-completed' && observation.kind !== 'request-failed') return;
    const request = observation.request.raw as TracedRequest | undefined;
    const open = request?.[openTraceKey];
    if (request === undefined || open === undefined) return;
    if (observation.kind === 'request-failed') open.failure = observation;
    else this.#addCall(request, open, observation);
  };

  /** Called at the end of each response. */
  readonly record: RequestConsumer = (entry, request: TracedRequest) => {
    const open = request[openTraceKey];
    if (open === undefined) return;
    const span = this.#requestSpan(request, open);
    if (span.isRecording()) this.#end(span, open, entry, request);
  };

  #end(span: Span, open: OpenTrace, entry: RequestEntry, request: IncomingMessage): void {
    for (const call of open.calls?.values() ?? []) this.#addFailedCall(span, open, call);
    span.updateName(requestName(entry));
    span.setAttributes({ ...requestAttributes(entry, request), 'url.scheme': open.scheme });
    const type = errorType(entry, open.failure?.error ?? null);
    if (type !== null) span.setAttribute('error.type', type);
    if (entry.status >= 500 || entry.isIncomplete) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(timeOf(open, performance.now()));
  }

  /** Returns the span of a request. It begins when the sampling is needed first, with the time of the request. */
  #requestSpan(request: IncomingMessage, open: OpenTrace): Span {
    open.span ??= this.#export.tracer.startSpan(
      request.method ?? 'GET',
      { kind: SpanKind.SERVER, startTime: open.startedAtEpoch },
      this.#parentOf(request),
    );
    return open.span;
  }

  #parentOf({ headers }: IncomingMessage): Context {
    if (!this.#trustsParent || headers['traceparent'] === undefined) return ROOT_CONTEXT;
    return propagator.extract(ROOT_CONTEXT, headers, headerGetter);
  }

  #addCall(
    request: IncomingMessage,
    open: OpenTrace,
    { request: caller, endpoint, milliseconds, rows }: Extract<Observation, { readonly kind: 'call-completed' }>,
  ): void {
    const end = performance.now();
    const attributes = { ...callAttributes(endpoint), 'db.response.returned_rows': rows };
    const spanId = open.calls?.get(caller)?.spanId ?? null;
    open.calls?.delete(caller);
    const call = { name: callName(endpoint), attributes, startedAt: end - milliseconds, spanId };
    this.#startCall(this.#requestSpan(request, open), open, call)?.end(timeOf(open, end));
  }

  /** Adds the call that has not completed. Without a failure, it was cancelled. */
  #addFailedCall(parent: Span, open: OpenTrace, { startedAt, spanId }: OpenCall): void {
    const { endpoint, error } = open.failure ?? { endpoint: null, error: null };
    const name = endpoint === null ? 'postgresql' : callName(endpoint);
    const attributes = { ...callAttributes(endpoint), ...failureAttributes(error) };
    const span = this.#startCall(parent, open, { name, attributes, startedAt, spanId });
    span?.setStatus({ code: SpanStatusCode.ERROR }).end(timeOf(open, performance.now()));
  }

  #startCall(parent: Span, open: OpenTrace, { name, attributes, startedAt, spanId }: CallSpan): Span | null {
    if (!parent.isRecording()) return null;
    if (spanId !== null) this.#export.ids.use(spanId);
    return this.#export.tracer.startSpan(
      name,
      { kind: SpanKind.CLIENT, startTime: timeOf(open, startedAt), attributes },
      trace.setSpan(ROOT_CONTEXT, parent),
    );
  }
}

interface CallSpan {
  readonly name: string;
  readonly attributes: Attributes;
  /** In the time of `performance.now()`. */
  readonly startedAt: number;
  /** Null: PostgreSQL has received none. */
  readonly spanId: string | null;
}

/** Converts from the time of `performance.now()` to milliseconds since 1970. */
function timeOf({ startedAt, startedAtEpoch }: OpenTrace, time: number): number {
  return startedAtEpoch + Math.max(0, time - startedAt);
}

function failureAttributes(error: Error | null): Attributes {
  if (error === null) return { 'error.type': 'cancelled' };
  const sqlstate = (error as { readonly diagnostics?: { readonly code?: string } }).diagnostics?.code;
  return sqlstate === undefined
    ? { 'error.type': error.name }
    : { 'error.type': sqlstate, 'db.response.status_code': sqlstate };
}
