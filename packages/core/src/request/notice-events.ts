import type { Notice } from '../postgres/port.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Endpoint, EventScope } from '../endpoints/endpoint.ts';
import { parseScopeText } from '../endpoints/event-scope.ts';
import type { ClaimTypes } from '../auth/claims.ts';
import type { Caller, Observer } from '../ports/ports.ts';
import { applyScopeHint, includesCaller } from '../events/subscriber-authorization.ts';
import { readExecutionId, toExecutionKey } from '../events/execution-id.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { EventStreams } from '../events/event-streams.ts';

/** Dependencies of events that calls raise. */
export interface NoticeEventContext {
  readonly streams: EventStreams;
  readonly access: { readonly claimTypes: ClaimTypes };
  readonly observe: Observer;
}

export type NoticeListener = (notice: Notice) => void;

/** Notices of a call with one text that are reported: PostgreSQL sends some for each row, as for a text search without lexemes. */
const maxRepeats = 10;
/** Texts of a call that are counted, the first ones. */
const maxTexts = 100;
/** Notices of a call that are reported. */
const maxReported = 1_000;

const omission = 'further notices of this call are not reported';

/** Passes a limited number of notices on. One more reports that further ones are omitted, for each text and for all. */
function limitNotices(report: NoticeListener): NoticeListener {
  let counts: Map<string, number> | null = null;
  let reported = 0;
  return (notice) => {
    if (reported > maxReported) return;
    const { severity, code, message } = notice;
    const text = `${severity} ${message}`;
    counts ??= new Map();
    const count = (counts.get(text) ?? 0) + 1;
    if (count > 1 || counts.size < maxTexts) counts.set(text, count);
    if (count > maxRepeats + 1) return;
    reported++;
    if (reported > maxReported) report({ severity, code, message: omission });
    else if (count > maxRepeats) report({ severity, code, message: `${omission}: ${message}` });
    else report(notice);
  };
}

/** Returns the receiver of notices of a call: they go to the observer, and become events. */
export function createNoticeHandler(
  context: { onNotice(endpoint: Endpoint, notice: Notice): void },
  endpoint: Endpoint,
  raiseEvent: NoticeListener | null,
): NoticeListener {
  const report = limitNotices((notice) => context.onNotice(endpoint, notice));
  if (raiseEvent === null) return report;
  return (notice) => {
    raiseEvent(notice);
    report(notice);
  };
}

interface NoticeSource {
  readonly call: { readonly candidate: Pick<CompiledEndpoint, 'endpoint'> };
  readonly request: GatewayRequest;
  /** Null: anonymous. */
  readonly caller?: Caller | null;
}

/**
 * Returns a listener that turns each message of a call that has the level of the endpoint into an event, while the call runs; null for an endpoint without events.
 * @throws Problem `invalid-execution-id` for a guessable execution id
 */
export function createEventRaiser(
  { streams, access, observe }: NoticeEventContext,
  { call, request, caller = null }: NoticeSource,
): NoticeListener | null {
  const { endpoint } = call.candidate;
  if (endpoint.events === null) return null;
  const { path, scope: endpointScope, level = 'info' } = endpoint.events;
  const id = readExecutionId(request);
  const key = id === null ? null : toExecutionKey(id, caller, access.claimTypes);
  return ({ severity, message, hint }) => {
    if (severity.toLowerCase() !== level) return;
    const messageScope = hint === undefined ? endpointScope : readHint(endpointScope, hint);
    if (messageScope === null) observe({ kind: 'unknown-hint', endpoint, hint: hint! });
    const scope = messageScope ?? endpointScope;
    if (request.onEvent !== undefined && includesCaller(scope, caller, access.claimTypes)) request.onEvent(message);
    if (scope.kind === 'self' && key === null) return;
    streams.publish({
      path,
      endpointId: endpoint.id,
      scope,
      executionKey: scope.kind === 'self' ? key : null,
      message,
    });
  };
}

/** Null: the hint names no scope; it may be meant for readers of the log. */
function readHint(endpointScope: EventScope, hint: string): EventScope | null {
  return applyScopeHint(endpointScope, parseScopeText(hint));
}
