import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { EventScope } from '../../plan/event-scope.ts';
import { type Access, admit, type Guarded, mayCall } from '../caller/admit.ts';
import { claimOf, type ClaimTypes, rolesOf } from '../caller/identity.ts';
import type { Operation } from '../operation.ts';
import type { AuthScheme, Caller } from '../ports.ts';
import type { StreamEvent } from './event.ts';

/** Who reads a stream. */
export interface Audience {
  readonly caller: Caller | null;
  /** What has recognised the caller, where it was not one of the gateway's own schemes. */
  readonly via: AuthScheme | null;
}

/** A stream as a guarded thing: what an endpoint asks of who wants its events. */
interface StreamGuard extends Guarded {
  readonly names: readonly string[];
}

const open = { authorization: { required: false, roles: [] }, basic: null };
const signedIn = { authorization: { required: true, roles: [] }, basic: null };

/** Where everybody gets the events, nothing; else what a call asks for, or the names of the scope. */
function guardOf({ endpoint, ownScheme }: Operation): StreamGuard {
  const { channel, scope: own } = endpoint.events!;
  const scope = channel?.scope ?? own;
  const asked = { all: open, authorize: signedIn, matching: endpoint, self: endpoint }[scope.kind];
  return { endpoint: asked, needsCaller: true, changesData: false, ownScheme, names: scope.names };
}

/** Whether nobody has to be somebody for it. */
export function isOpen(operations: readonly Operation[]): boolean {
  return operations.some((operation) => {
    const { endpoint } = guardOf(operation);
    return !endpoint.authorization.required && endpoint.basic === null;
  });
}

/**
 * Finds out who wants to read the events of these endpoints, which share a stream.
 * @throws Problem 401 or 403 for somebody who would get none of them
 */
export async function admitReader(
  operations: readonly Operation[],
  request: GatewayRequest,
  access: Access,
): Promise<Audience> {
  const { candidates, caller } = await admit(operations.map(guardOf), request, access);
  const passed = candidates.find(({ names }) => names.length === 0 || isNamed(caller, names, access.claimTypes));
  if (passed === undefined) throw new Problem('forbidden');
  return { caller, via: passed.ownScheme };
}

function isNamed(caller: Caller | null, names: readonly string[], types: ClaimTypes): boolean {
  if (caller === null) return false;
  const { claims } = caller;
  const user = [claimOf(claims, types.id), claimOf(claims, types.name)];
  const roles = rolesOf(caller, types).map((role) => role.toLowerCase());
  return names.some((name) => user.includes(name) || roles.includes(name.toLowerCase()));
}

/** Whether an event is for this reader; `key` is that of the execution id that the reader has given. */
export function reaches(
  { scope, key }: Pick<StreamEvent, 'scope' | 'key'>,
  { caller, via, key: own }: Audience & { readonly key: string | null },
  operation: Operation,
  types: ClaimTypes,
): boolean {
  // Whoever was recognised for another endpoint is nobody to this one.
  const known = via === operation.ownScheme ? caller : null;
  switch (scope.kind) {
    case 'all':
      return true;
    case 'self':
      return key !== null && key === own;
    case 'authorize':
      return known !== null && (scope.names.length === 0 || isNamed(known, scope.names, types));
    case 'matching':
      return mayCall(operation, known, types);
  }
}

/** What a message's `HINT` makes of the endpoint's scope; null for one that says no scope. */
export function hinted(scope: EventScope, hint: EventScope | null): EventScope | null {
  if (hint === null || hint.kind !== 'authorize' || scope.kind !== 'authorize') return hint;
  return { kind: 'authorize', names: [...scope.names, ...hint.names] };
}
