/** Entries of the access log and of request tracking: data of the HTTP server and of the gateway about each request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller, Observation } from '@pgway/core';
import { redactText } from './redact.ts';

/** A request whose response has ended. */
export interface RequestEntry {
  /** Milliseconds since 1970, when the response has ended. */
  readonly endedAt: number;
  readonly method: string;
  /** Without the query string, and without secrets. */
  readonly path: string;
  /** 499: the client has disconnected before the response began. */
  readonly status: number;
  /** Whether the response has begun, but did not reach its end. */
  readonly isIncomplete: boolean;
  readonly durationMs: number;
  /** Milliseconds in the database; null: no call has completed. */
  readonly databaseMs: number | null;
  readonly rows: number | null;
  /** The size of the body of the response. */
  readonly bytes: number | null;
  readonly user: string | null;
  /** Null: the gateway has not received the request. */
  readonly requestId: string | null;
  readonly address: string | null;
  /** The id of the endpoint; null: none, or the request failed before one was selected. */
  readonly routine: string | null;
  /** The path of the endpoint or event stream as configured, such as `/books/{_id}`; null: none has the path of the request. */
  readonly route: string | null;
  readonly isEventStream: boolean;
  readonly traceparent: string | null;
  /** Null without tenants, and for a request of none. */
  readonly tenant: string | null;
}

/** Receives each request when its response has ended. */
export type RequestConsumer = (entry: RequestEntry, request: IncomingMessage) => void;

export interface RequestLogOptions {
  /** Paths whose requests the consumers do not receive. */
  readonly skipPaths: readonly string[];
  /** The claims with the name and the id of a user. */
  readonly userClaims: readonly string[];
  readonly now: () => Date;
  readonly consumers: readonly RequestConsumer[];
}

/** Collects the facts about requests from their begin to the end of their responses. */
export interface RequestLog {
  /** Called at the beginning of a request. */
  readonly begin: (request: IncomingMessage, response: ServerResponse) => void;
  /** Takes the observations about requests that are handled. Returns false for others. */
  readonly observe: (observation: Observation) => boolean;
  /** Adds a consumer of all requests, also of the skipped paths. */
  readonly addConsumer: (consume: RequestConsumer) => void;
}

/** The data of a request whose response has not ended. */
interface OpenRequest {
  /** In the time of `performance.now()`. */
  readonly startedAt: number;
  /** The path of the request. */
  readonly startPath: string;
  /** Without secrets. */
  path: string;
  address: string | null;
  user: string | null;
  requestId: string | null;
  traceparent: string | null;
  tenant: string | null;
  routine: string | null;
  route: string | null;
  isEventStream: boolean;
  databaseMs: number | null;
  rows: number | null;
}

/** The key of this data in the request. */
const openRequestKey = Symbol('open request');

interface LoggedRequest extends IncomingMessage {
  [openRequestKey]?: OpenRequest;
}

/** A response that counts the bytes of its body. */
type CountingResponse = ServerResponse & { readonly bodySize?: number };

const clientClosedRequest = 499;
const maxTraceparentLength = 128;

export function createRequestLog({ skipPaths, userClaims, now, consumers }: RequestLogOptions): RequestLog {
  const skipped = new Set(skipPaths);
  const consumersOfAll: RequestConsumer[] = [];
  // One listener for all responses, and no map of the requests: this runs at every request.
  function end(this: CountingResponse): void {
    const request = this.req as LoggedRequest;
    const record = request[openRequestKey]!;
    const entry = toEntry(record, request, this, now().getTime());
    if (!skipped.has(record.startPath)) for (const consume of consumers) consume(entry, request);
    for (const consume of consumersOfAll) consume(entry, request);
  }
  return {
    begin: (request: LoggedRequest, response) => {
      const record = openRequest(request);
      if (skipped.has(record.startPath) && consumersOfAll.length === 0) return;
      request[openRequestKey] = record;
      response.on('close', end);
    },
    observe: (observation) => {
      if (observation.kind !== 'request-handled' && observation.kind !== 'call-completed') return false;
      const { raw } = observation.request;
      const record = (raw as LoggedRequest | undefined)?.[openRequestKey];
      if (record !== undefined) add(record, observation, userClaims);
      return true;
    },
    addConsumer: (consume) => void consumersOfAll.push(consume),
  };
}

function openRequest(request: IncomingMessage): OpenRequest {
  const path = pathOf(request);
  return {
    startedAt: performance.now(),
    startPath: path,
    path,
    address: request.socket.remoteAddress ?? null,
    user: null,
    requestId: null,
    traceparent: null,
    tenant: null,
    routine: null,
    route: null,
    isEventStream: false,
    databaseMs: null,
    rows: null,
  };
}

type RequestObservation = Extract<Observation, { readonly kind: 'request-handled' | 'call-completed' }>;

function add(record: OpenRequest, observation: RequestObservation, userClaims: readonly string[]): void {
  if (observation.kind === 'call-completed') {
    // A batch has many calls.
    record.databaseMs = (record.databaseMs ?? 0) + observation.milliseconds;
    record.rows = (record.rows ?? 0) + observation.rows;
    return;
  }
  const { request, path, caller, endpoint, route, isEventStream } = observation;
  record.requestId = request.id;
  record.path = path;
  // The address behind trusted proxies.
  record.address = request.remoteAddress ?? null;
  record.traceparent = request.header('traceparent')?.slice(0, maxTraceparentLength) ?? null;
  record.user = caller === null ? null : userOf(caller, userClaims);
  record.routine = endpoint?.id ?? null;
  record.route = route;
  record.isEventStream = isEventStream;
  record.tenant = observation.tenant ?? null;
}

/** Names each field, as the rest of an object would cost 20 µs. */
function toEntry(
  record: OpenRequest,
  request: IncomingMessage,
  response: CountingResponse,
  endedAt: number,
): RequestEntry {
  const durationMs = round(performance.now() - record.startedAt);
  const { headersSent, statusCode, writableFinished } = response;
  return {
    endedAt,
    method: request.method ?? 'GET',
    path: redactText(record.path),
    status: headersSent ? statusCode : clientClosedRequest,
    isIncomplete: headersSent && !writableFinished,
    durationMs,
    databaseMs: record.databaseMs === null ? null : round(record.databaseMs),
    rows: record.rows,
    bytes: response.bodySize ?? null,
    user: record.user,
    requestId: record.requestId,
    address: record.address,
    routine: record.routine,
    route: record.route,
    isEventStream: record.isEventStream,
    traceparent: record.traceparent,
    tenant: record.tenant,
  };
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

function userOf({ claims }: Caller, names: readonly string[]): string | null {
  for (const wanted of names) {
    const claim = claims.find(([name]) => name === wanted);
    if (claim !== undefined) return redactText(claim[1]);
  }
  return null;
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}

/** The parameters `$1` to `$10` of the command of request tracking. */
export const trackingParameters = [
  'method',
  'path',
  'status',
  'duration in milliseconds',
  'user',
  'address',
  'endpoint',
  'request id',
  'time of the request',
  'milliseconds in the database',
] as const;

export function trackingRow(entry: RequestEntry): readonly (string | null)[] {
  return [
    entry.method,
    entry.path,
    String(entry.status),
    String(entry.durationMs),
    entry.user,
    entry.address,
    entry.routine,
    entry.requestId,
    new Date(entry.endedAt - entry.durationMs).toISOString(),
    entry.databaseMs === null ? null : String(entry.databaseMs),
  ];
}
