import type { Notice } from '../postgres/port.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Endpoint, EventScope } from '../endpoints/endpoint.ts';
import { parseEventScope } from '../endpoints/events.ts';
import type { ClaimTypes } from '../auth/claims.ts';
import type { Caller, Observer } from '../ports/ports.ts';
import { applyScopeHint, includesCaller } from '../events/subscriber-authorization.ts';
import { readExecutionId, toExecutionKey } from '../events/execution-id.ts';
import type { EventStreams } from '../events/event-streams.ts';

/** Dependencies of events that calls raise. */
export interface NoticeEventContext {
  readonly streams: EventStreams;
  readonly access: { readonly claimTypes: ClaimTypes };
  readonly observe: Observer;
}

/**
 * Returns a listener that turns each `RAISE INFO` of a call into an event, while the call runs.
 * @throws Problem `invalid-execution-id` for a guessable execution id
 */
export function createNoticeListener(
  { streams, access, observe }: NoticeEventContext,
  endpoint: Endpoint,
  request: GatewayRequest,
  caller: Caller | null,
): (notice: Notice) => void {
  const { path, scope: endpointScope } = endpoint.events!;
  const id = readExecutionId(request);
  const key = id === null ? null : toExecutionKey(id, caller, access.claimTypes);
  return ({ severity, message, hint }) => {
    if (severity !== 'INFO') return;
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
  return applyScopeHint(endpointScope, parseEventScope(hint.split(/[\s,]+/).filter((word) => word !== '')));
}
