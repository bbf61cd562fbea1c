import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Endpoint, EventScope } from '../endpoints/endpoint.ts';
import { type AccessControl, authorize, isAuthorized, type ProtectedEndpoint } from '../auth/authorize.ts';
import { firstClaim, type ClaimTypes, callerRoles } from '../auth/claims.ts';
import type { AuthScheme, Caller } from '../ports/ports.ts';
import type { StreamEvent } from './event.ts';

/** An endpoint with events, and the authentication scheme of its own. */
export interface EventEndpoint {
  readonly endpoint: Endpoint;
  readonly endpointScheme: AuthScheme | null;
}

/** Asks the database which routines a caller may execute. */
export interface Privileges {
  /**
   * @returns the ids of those endpoints whose routine the role of the caller may execute
   * @throws Problem 403 for a caller who has no role, 503 when the database does not answer
   */
  executable(caller: Caller | null, operations: readonly EventEndpoint[]): Promise<ReadonlySet<string>>;
}

/** Who reads a stream. */
export interface Audience {
  readonly caller: Caller | null;
  /** What has recognised the caller, where it was not one of the gateway's own schemes. */
  readonly via: AuthScheme | null;
  /** The ids of the endpoints that the caller's database role may execute; null: calls run under no role of their callers. */
  readonly executable: ReadonlySet<string> | null;
}

/** A stream as a guarded thing: what an endpoint asks of who wants its events. */
interface StreamGuard extends ProtectedEndpoint {
  /** The id of the endpoint whose routine the caller's role has to be allowed to execute; null: the scope is wider than that. */
  readonly executes: string | null;
  readonly names: readonly string[];
}

const open = { authorization: { required: false, roles: [] }, basicAuthentication: null };
const signedIn = { authorization: { required: true, roles: [] }, basicAuthentication: null };

/** Where everybody gets the events, nothing; else what a call asks for, or the names of the scope. */
function guardOf({ endpoint, endpointScheme }: EventEndpoint): StreamGuard {
  const { channel, scope: own } = endpoint.events!;
  const scope = channel?.scope ?? own;
  const asked = { all: open, authorize: signedIn, matching: endpoint, self: endpoint }[scope.kind];
  const executes = asked === endpoint ? endpoint.id : null;
  return { endpoint: asked, executes, needsCaller: true, changesData: false, endpointScheme, names: scope.names };
}

/** Whether nobody has to be somebody for it. */
export function isOpen(operations: readonly EventEndpoint[]): boolean {
  return operations.some((operation) => {
    const { endpoint } = guardOf(operation);
    return !endpoint.authorization.required && endpoint.basicAuthentication === null;
  });
}

/**
 * Finds out who wants to read the events of these endpoints, which share a stream.
 * @throws Problem 401 or 403 for somebody who would get none of them
 */
export async function admitReader(
  operations: readonly EventEndpoint[],
  request: GatewayRequest,
  { access, privileges }: ReaderAccess,
): Promise<Audience> {
  const { candidates, caller } = await authorize(operations.map(guardOf), request, access);
  const executable = privileges === null ? null : await privileges.executable(caller, operations);
  const passed = candidates.find(
    ({ names, executes }) =>
      (names.length === 0 || isNamed(caller, names, access.claimTypes)) &&
      (executes === null || mayExecute(executable, executes)),
  );
  if (passed === undefined) throw new Problem('forbidden');
  return { caller, via: passed.endpointScheme, executable };
}

/** What decides who may read. */
export interface ReaderAccess {
  readonly access: AccessControl;
  /** Null: calls run under no role of their callers. */
  readonly privileges: Privileges | null;
}

function mayExecute(executable: ReadonlySet<string> | null, endpoint: string): boolean {
  return executable === null || executable.has(endpoint);
}

/** A name is a role, in upper and lower case alike; `user:ada` and `id:7` are one person, as written. */
function isNamed(caller: Caller | null, names: readonly string[], types: ClaimTypes): boolean {
  if (caller === null) return false;
  const { claims } = caller;
  const roles = callerRoles(caller, types).map((role) => role.toLowerCase());
  return names.some((name) => {
    const [, kind, person] = /^(user|id):(.*)$/is.exec(name) ?? [];
    if (kind === undefined) return roles.includes(name.toLowerCase());
    return person === firstClaim(claims, kind.toLowerCase() === 'id' ? types.id : types.name);
  });
}

/** Whether an event is for this reader; `key` is that of the execution id that the reader has given. */
export function reaches(
  { scope, key }: Pick<StreamEvent, 'scope' | 'key'>,
  { caller, via, executable, key: own }: Audience & { readonly key: string | null },
  operation: EventEndpoint,
  types: ClaimTypes,
): boolean {
  // Whoever was recognised for another endpoint is nobody to this one.
  const known = via === operation.endpointScheme ? caller : null;
  switch (scope.kind) {
    case 'all':
      return true;
    case 'self':
      return key !== null && key === own;
    case 'authorize':
      return known !== null && (scope.names.length === 0 || isNamed(known, scope.names, types));
    case 'matching':
      return isAuthorized(operation, known, types) && mayExecute(executable, operation.endpoint.id);
  }
}

/** What a message's `HINT` makes of the endpoint's scope; null for one that says no scope. */
export function hinted(scope: EventScope, hint: EventScope | null): EventScope | null {
  if (hint === null || hint.kind !== 'authorize' || scope.kind !== 'authorize') return hint;
  return { kind: 'authorize', names: [...scope.names, ...hint.names] };
}
