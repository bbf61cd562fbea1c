import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { BasicAuthentication, Endpoint, EventScope } from '../endpoints/endpoint.ts';
import { type AccessControl, authorize, isAuthorized, type ProtectedEndpoint } from '../auth/authorize.ts';
import { firstClaim, type ClaimTypes, callerRoles } from '../auth/claims.ts';
import type { Caller } from '../ports/ports.ts';
import type { StreamEvent } from './stream-event.ts';

/** An endpoint that raises events, with its own credentials, if any. */
export interface StreamEndpoint {
  readonly endpoint: Endpoint;
  readonly endpointScheme: BasicAuthentication | null;
  /** Whether the path of a request may have secrets. */
  readonly hidesPath: boolean;
}

/** Asks the database which routines a caller may execute. */
export interface PrivilegeChecker {
  /**
   * @returns the ids of the endpoints whose routine the caller's database role may execute
   * @throws Problem 403 for a caller without a role, 503 when the database does not answer
   */
  executable(caller: Caller | null, endpoints: readonly StreamEndpoint[]): Promise<ReadonlySet<string>>;
}

/** The result of authorizing a subscriber. */
export interface AuthorizedCaller {
  readonly caller: Caller | null;
  /** The endpoint's own credentials that authenticated the caller; null: the schemes of the gateway did. */
  readonly endpointScheme: BasicAuthentication | null;
  /** Ids of the endpoints that the caller's database role may execute; null: calls do not change the role. */
  readonly executable: ReadonlySet<string> | null;
}

/** The authorization that an event scope requires of a subscriber. */
interface ProtectedStream extends ProtectedEndpoint {
  /** The endpoint that the caller's database role must be allowed to execute; null: the scope does not require it. */
  readonly requiredEndpoint: string | null;
  readonly scopeNames: readonly string[];
}

const anonymous = { authorization: { required: false, roles: [] }, basicAuthentication: null };
const authenticated = { authorization: { required: true, roles: [] }, basicAuthentication: null };

/** `all` requires nothing, `authorize` an authenticated caller that matches the names, the other scopes what a call requires. */
function toProtectedStream({ endpoint, endpointScheme }: StreamEndpoint): ProtectedStream {
  const { channel, scope: noticeScope } = endpoint.events!;
  const scope = channel?.scope ?? noticeScope;
  const required = { all: anonymous, authorize: authenticated, matching: endpoint, self: endpoint }[scope.kind];
  const requiredEndpoint = required === endpoint ? endpoint.id : null;
  return {
    endpoint: required,
    requiredEndpoint,
    needsCaller: true,
    changesData: false,
    endpointScheme,
    scopeNames: scope.names,
  };
}

/** Returns whether an anonymous client may subscribe to a stream of these endpoints. */
export function allowsAnonymous(endpoints: readonly StreamEndpoint[]): boolean {
  return endpoints.some((streamEndpoint) => {
    const { endpoint } = toProtectedStream(streamEndpoint);
    return !endpoint.authorization.required && endpoint.basicAuthentication === null;
  });
}

/** The services that authorize subscribers. */
export interface AuthorizationContext {
  readonly access: AccessControl;
  /** Null: calls do not change the database role. */
  readonly privileges: PrivilegeChecker | null;
}

/**
 * Authorizes a subscriber of the stream that the endpoints share.
 * @throws Problem 401 or 403 for a caller that may receive events of none of the endpoints
 */
export async function authorizeSubscriber(
  endpoints: readonly StreamEndpoint[],
  request: GatewayRequest,
  { access, privileges }: AuthorizationContext,
): Promise<AuthorizedCaller> {
  const { candidates, caller } = await authorize(endpoints.map(toProtectedStream), request, access);
  const executable = privileges === null ? null : await privileges.executable(caller, endpoints);
  const authorized = candidates.find(
    ({ scopeNames, requiredEndpoint }) =>
      (scopeNames.length === 0 || matchesScopeNames(caller, scopeNames, access.claimTypes)) &&
      (requiredEndpoint === null || canExecute(executable, requiredEndpoint)),
  );
  if (authorized === undefined) throw new Problem('forbidden');
  return { caller, endpointScheme: authorized.endpointScheme, executable };
}

function canExecute(executable: ReadonlySet<string> | null, endpointId: string): boolean {
  return executable === null || executable.has(endpointId);
}

/** Returns whether the scope of an event includes the caller whose call has raised it. */
export function includesCaller({ kind, names }: EventScope, caller: Caller | null, types: ClaimTypes): boolean {
  if (kind !== 'authorize') return true;
  return names.length === 0 ? caller !== null : matchesScopeNames(caller, names, types);
}

/**
 * A name is a role, compared without case. `user:ada` and `id:7` are users, compared with case, of the issuers that `issuer:` names beside
 * them.
 */
function matchesScopeNames(caller: Caller | null, names: readonly string[], types: ClaimTypes): boolean {
  if (caller === null) return false;
  const roles = callerRoles(caller, types).map((role) => role.toLowerCase());
  return names.some((name) => {
    const [, kind, value] = /^(user|id|issuer):(.*)$/is.exec(name) ?? [];
    if (kind === undefined) return roles.includes(name.toLowerCase());
    const claim = { user: types.name, id: types.id, issuer: null }[kind.toLowerCase() as 'user' | 'id' | 'issuer'];
    return claim !== null && value === firstClaim(caller.claims, claim) && isOfIssuer(caller, names, types);
  });
}

const issuerPrefix = /^issuer:/i;

function isOfIssuer(caller: Caller, names: readonly string[], { hasDefaultIssuer }: ClaimTypes): boolean {
  const issuers = names.filter((name) => issuerPrefix.test(name)).map((name) => name.replace(issuerPrefix, ''));
  if (issuers.length === 0) return hasDefaultIssuer?.(caller) ?? true;
  return issuers.includes(caller.issuer ?? caller.scheme);
}

/** Returns whether the scope of an event includes the subscriber. */
export function canReceive(
  { scope, executionKey }: Pick<StreamEvent, 'scope' | 'executionKey'>,
  subscriber: AuthorizedCaller & { readonly executionKey: string | null },
  streamEndpoint: StreamEndpoint,
  types: ClaimTypes,
): boolean {
  // A caller authenticated by another endpoint's scheme is anonymous here.
  const { endpointScheme } = streamEndpoint;
  const caller = subscriber.endpointScheme === endpointScheme ? subscriber.caller : null;
  // The credentials of one endpoint have no other issuer.
  const names = endpointScheme === null ? types : { ...types, hasDefaultIssuer: undefined };
  switch (scope.kind) {
    case 'all':
      return true;
    case 'self':
      return executionKey !== null && executionKey === subscriber.executionKey;
    case 'authorize':
      return caller !== null && (scope.names.length === 0 || matchesScopeNames(caller, scope.names, names));
    case 'matching':
      return (
        isAuthorized(streamEndpoint, caller, types) && canExecute(subscriber.executable, streamEndpoint.endpoint.id)
      );
  }
}

/** Returns the scope of a message with a `HINT`; null if the hint is not a scope. Names of both are combined. */
export function applyScopeHint(scope: EventScope, hint: EventScope | null): EventScope | null {
  if (hint === null || hint.kind !== 'authorize' || scope.kind !== 'authorize') return hint;
  return { kind: 'authorize', names: [...scope.names, ...hint.names] };
}
