/** The trace context of a request (https://www.w3.org/TR/trace-context/), which PostgreSQL receives with the call. */
import type { CallSetting } from '../auth/context.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { ExecutableCall } from './build-query.ts';

/** Returns the `traceparent` that the call of a request passes to PostgreSQL; null: none. */
export type TraceparentLookup = (request: GatewayRequest) => string | null;

/** Version 00, with a trace id and a parent id that are not all zeros. */
const format = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]([\da-f])$/;
const isSampled = 1;
/** It has 63 characters at most; a `traceparent` has 55. Monitoring and the log of PostgreSQL show it. */
const setting = 'application_name';

/** Creates the lookup; null: PostgreSQL receives no trace context. */
export function traceparentLookup({
  traceContext,
  traceparent,
}: {
  readonly traceContext: 'off' | 'application_name';
  /** Null: the header of the request. */
  readonly traceparent: TraceparentLookup | null;
}): TraceparentLookup | null {
  if (traceContext === 'off') return null;
  const read = traceparent ?? ((request: GatewayRequest) => request.header('traceparent') ?? null);
  return (request) => keepSampled(read(request));
}

/** Returns null for a malformed value, and for a trace that is not sampled. */
function keepSampled(text: string | null): string | null {
  const flags = text === null ? undefined : format.exec(text)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 16) & isSampled) !== 0 ? text : null;
}

/**
 * Returns the trace context of a call that is about to run. A procedure without other settings gets none: with settings, it could not
 * commit.
 */
export function selectTraceparent(
  lookup: TraceparentLookup | null,
  { candidate, settings }: ExecutableCall,
  request: GatewayRequest,
): string | null {
  if (lookup === null || (candidate.endpoint.kind === 'procedure' && settings.length === 0)) return null;
  return lookup(request);
}

/** Returns the settings of the transaction of a call, with its trace context. */
export function transactionSettings({ settings }: ExecutableCall, traceparent: string | null): readonly CallSetting[] {
  return traceparent === null ? settings : [...settings, [setting, traceparent]];
}
