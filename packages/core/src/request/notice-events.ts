import type { Notice } from '../postgres/port.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Endpoint, EventScope } from '../endpoints/endpoint.ts';
import { parseEventScope } from '../endpoints/events.ts';
import type { ClaimTypes } from '../auth/claims.ts';
import type { Caller, Observer } from '../ports/ports.ts';
import { applyScopeHint } from '../events/subscriber-authorization.ts';
import { readExecutionId, toExecutionKey } from '../events/execution-id.ts';
import type { EventStreams } from '../events/event-streams.ts';

/** What has to be known for the messages of a call to become events. */
export interface NoticeEventContext {
  readonly streams: EventStreams;
  readonly access: { readonly claimTypes: ClaimTypes };
  readonly observe: Observer;
}

/**
 * Makes events of what a call raises with `RAISE INFO`, as it is raised.
 * @throws Problem `invalid-execution-id` for one that others might guess
 */
export function createNoticeListener(
  { streams, access, observe }: NoticeEventContext,
  endpoint: Endpoint,
  request: GatewayRequest,
  caller: Caller | null,
): (notice: Notice) => void {
  const { path, scope: usual } = endpoint.events!;
  const id = readExecutionId(request);
  const key = id === null ? null : toExecutionKey(id, caller, access.claimTypes);
  return ({ severity, message, hint }) => {
    if (severity !== 'INFO') return;
    const asked = hint === undefined ? usual : hintedScope(usual, hint);
    if (asked === null) observe({ kind: 'unknown-hint', endpoint, hint: hint! });
    const scope = asked ?? usual;
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

/** Null: the hint is none of ours, and may be meant for people. */
function hintedScope(usual: EventScope, hint: string): EventScope | null {
  return applyScopeHint(usual, parseEventScope(hint.split(/[\s,]+/).filter((word) => word !== '')));
}
