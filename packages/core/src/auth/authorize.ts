import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { HeaderList } from '../http/response.ts';
import type { BasicAuthentication, Endpoint, LoginOrLogout } from '../endpoints/endpoint.ts';
import type { AuthScheme, Caller, CsrfGuard } from '../ports/ports.ts';
import { type ClaimTypes, callerRoles } from './claims.ts';

/** An endpoint or another route with the same authorization rules. */
export interface ProtectedEndpoint {
  readonly endpoint: Pick<Endpoint, 'authorization' | 'basicAuthentication'> & {
    readonly loginOrLogout?: Pick<LoginOrLogout, 'kind'> | null;
  };
  /** Whether the call depends on its caller. */
  readonly needsCaller: boolean;
  /** Whether the call may change data; cross-site requests are then refused. */
  readonly changesData: boolean;
  /** The credentials of this endpoint alone; null: the gateway's schemes. */
  readonly endpointScheme: BasicAuthentication | null;
}

/** An authorization that every caller passes, used to identify the caller only. */
export const anyCaller: ProtectedEndpoint = {
  endpoint: { authorization: { required: false, roles: [] }, basicAuthentication: null },
  needsCaller: true,
  changesData: false,
  endpointScheme: null,
};

/** As `anyCaller`, also with refused credentials: a route that signs callers in or out. */
export const signInRoute: ProtectedEndpoint = {
  ...anyCaller,
  endpoint: { ...anyCaller.endpoint, loginOrLogout: { kind: 'login' } },
};

/** How callers are authenticated and authorized. */
export interface AccessControl {
  readonly schemes: readonly AuthScheme[];
  /** Whether a request may have credentials of one of the schemes: false saves their check where no call depends on the caller. */
  readonly mayHaveCredentials: (request: GatewayRequest) => boolean;
  /** Returns the scheme of an endpoint with its own credentials, always the same one. */
  readonly endpointScheme: (credentials: BasicAuthentication) => AuthScheme;
  readonly claimTypes: ClaimTypes;
  readonly csrfGuard: CsrfGuard;
  /** Whether every call depends on its caller, because it runs under the caller's database role. */
  readonly alwaysAuthenticate: boolean;
  /** Called for each scheme that refuses the credentials of a request. */
  readonly onTokenRefused: (request: GatewayRequest, refusal: TokenRefusal) => void;
}

/** The scheme that has refused the token of a request, and the reason. */
export interface TokenRefusal {
  readonly scheme: string;
  readonly reason: string;
}

/** The endpoints that the caller may call. */
export interface AuthorizationResult<Candidate> {
  readonly candidates: readonly Candidate[];
  readonly caller: Caller | null;
}

/** Whether none of the endpoints needs its caller. */
export function needsNoCaller(
  candidates: readonly ProtectedEndpoint[],
  { alwaysAuthenticate }: AccessControl,
): boolean {
  if (alwaysAuthenticate) return false;
  for (const { needsCaller } of candidates) if (needsCaller) return false;
  return true;
}

/** As `authorize`; without a caller, and at once for a request without credentials, for endpoints that do not need their caller. */
export function authorizeIfNeeded<Candidate extends ProtectedEndpoint>(
  candidates: readonly Candidate[],
  request: GatewayRequest,
  access: AccessControl,
): AuthorizationResult<Candidate> | Promise<AuthorizationResult<Candidate>> {
  if (!needsNoCaller(candidates, access)) {
    return hasSchemes(candidates, access)
      ? authorize(candidates, request, access)
      : withoutSchemes(candidates, request, access);
  }
  if (!access.mayHaveCredentials(request)) return admitAnonymous(candidates, request, access);
  const caller = identify(request, access.schemes);
  if (caller instanceof Promise)
    return caller.then((found) => admitUnneeded(candidates, { request, caller: found, access }));
  return admitUnneeded(candidates, { request, caller, access });
}

function hasSchemes(candidates: readonly ProtectedEndpoint[], { schemes }: AccessControl): boolean {
  if (schemes.length > 0) return true;
  for (const { endpointScheme } of candidates) if (endpointScheme !== null) return true;
  return false;
}

/**
 * As `authorize`, where nothing can authenticate a caller.
 * @throws Problem 401, 403
 */
function withoutSchemes<Candidate extends ProtectedEndpoint>(
  candidates: readonly Candidate[],
  request: GatewayRequest,
  access: AccessControl,
): AuthorizationResult<Candidate> {
  const admitted = candidates.filter((candidate) => isAuthorized(candidate, null, access.claimTypes));
  if (admitted.length === 0) throw unauthenticated(request, access.schemes, []);
  return admitAnonymous(admitted, request, access);
}

/**
 * Admits a caller on which no call depends. Refused credentials are not those of an anonymous caller.
 * @throws Problem 401, 403
 */
function admitUnneeded<Candidate extends ProtectedEndpoint>(
  candidates: readonly Candidate[],
  { request, caller, access }: Omit<CallerRequest, 'caller'> & { readonly caller: Caller | null },
): AuthorizationResult<Candidate> {
  const refusals = caller === null ? refuse(request, access.schemes, access) : [];
  const admitted = refusals.length === 0 ? candidates : candidates.filter(isLogin);
  if (admitted.length === 0) throw unauthenticated(request, access.schemes, refusals);
  return admitAnonymous(admitted, request, access);
}

function admitAnonymous<Candidate extends ProtectedEndpoint>(
  candidates: readonly Candidate[],
  request: GatewayRequest,
  access: AccessControl,
): AuthorizationResult<Candidate> {
  refuseAnonymousCrossSite(candidates, request, access);
  return { candidates, caller: null };
}

function isLogin({ endpoint }: ProtectedEndpoint): boolean {
  return endpoint.loginOrLogout?.kind === 'login';
}

/**
 * Authenticates the caller and returns the endpoints that it may call. Runs before the body is read.
 * @throws Problem 401 for an unauthenticated caller, 403 for one without the required role and for a cross-site request
 */
export async function authorize<Candidate extends ProtectedEndpoint>(
  candidates: readonly Candidate[],
  request: GatewayRequest,
  access: AccessControl,
): Promise<AuthorizationResult<Candidate>> {
  let isAuthenticated = false;
  const refusals: CredentialsRefusal[] = [];
  // Overloads may have different schemes. A caller that is authenticated for one is not for the others.
  for (const scheme of new Set(candidates.map(({ endpointScheme }) => endpointScheme))) {
    const schemes = scheme === null ? access.schemes : [access.endpointScheme(scheme)];
    // Sequential: the first scheme with a permitted endpoint decides.
    const caller = await identify(request, schemes);
    isAuthenticated ||= caller !== null;
    const refused = caller === null ? refuse(request, schemes, access) : [];
    refusals.push(...refused);
    const admitted = candidates.filter(
      (candidate) =>
        candidate.endpointScheme === scheme &&
        isAuthorized(candidate, caller, access.claimTypes) &&
        // A caller with refused credentials may only log in again.
        (refused.length === 0 || isLogin(candidate)),
    );
    if (admitted.length === 0) continue;
    if (caller === null) refuseAnonymousCrossSite(admitted, request, access);
    else await refuseCrossSite(admitted, { request, caller, access });
    return { candidates: admitted, caller };
  }
  if (isAuthenticated) throw new Problem('forbidden');
  throw unauthenticated(request, schemesOf(candidates, access), refusals);
}

function unauthenticated(
  request: GatewayRequest,
  schemes: readonly AuthScheme[],
  refusals: readonly CredentialsRefusal[],
): Problem {
  const challenges = challengeHeaders(schemes, request);
  if (refusals.length === 0) return new Problem('unauthenticated', { headers: challenges });
  const reasons = new Set(refusals.map(({ reason }) => `${reason}.`));
  const removals = refusals.flatMap(({ scheme }) => scheme.removal?.(request) ?? []);
  return new Problem('unauthenticated', {
    title: 'The credentials are refused',
    detail: [...reasons].join(' '),
    headers: [...challenges, ...removals],
  });
}

interface CredentialsRefusal {
  readonly scheme: AuthScheme;
  readonly reason: string;
}

/** Reports and returns why the schemes have refused the credentials of the request; empty for a request without credentials. */
function refuse(
  request: GatewayRequest,
  schemes: readonly AuthScheme[],
  access: AccessControl,
): readonly CredentialsRefusal[] {
  return schemes.flatMap((scheme) => {
    const reason = scheme.refusal?.(request) ?? null;
    if (reason === null) return [];
    access.onTokenRefused(request, { scheme: scheme.name, reason });
    return [{ scheme, reason }];
  });
}

function schemesOf(candidates: readonly ProtectedEndpoint[], access: AccessControl): readonly AuthScheme[] {
  return [
    ...new Set(
      candidates.flatMap(({ endpointScheme }) =>
        endpointScheme === null ? access.schemes : [access.endpointScheme(endpointScheme)],
      ),
    ),
  ];
}

/** Returns the caller of the first scheme that authenticates one; at once when the results are cached. */
function identify(
  request: GatewayRequest,
  schemes: readonly AuthScheme[],
  first = 0,
): Caller | null | Promise<Caller | null> {
  for (let index = first; index < schemes.length; index++) {
    const result = schemes[index]!.authenticate(request);
    if (result instanceof Promise) return result.then((caller) => caller ?? identify(request, schemes, index + 1));
    if (result !== null) return result;
  }
  return null;
}

/** Whether a caller, authenticated by a scheme of the endpoint, may call it. */
export function isAuthorized(
  { endpoint }: Pick<ProtectedEndpoint, 'endpoint'>,
  caller: Caller | null,
  types: ClaimTypes,
): boolean {
  const { required, roles } = endpoint.authorization;
  if (!required && endpoint.basicAuthentication === null) return true;
  if (caller === null) return false;
  if (roles.length === 0) return true;
  const granted = callerRoles(caller, types).map((role) => role.toLowerCase());
  return roles.some((role) => granted.includes(role.toLowerCase()));
}

function mayChangeData(candidates: readonly ProtectedEndpoint[]): boolean {
  for (const { changesData } of candidates) if (changesData) return true;
  return false;
}

/** @throws Problem 403 for a cross-site request that may change data */
export function refuseAnonymousCrossSite(
  candidates: readonly ProtectedEndpoint[],
  request: GatewayRequest,
  { csrfGuard }: AccessControl,
): void {
  if (!mayChangeData(candidates) || csrfGuard.allowsAnonymous(request)) return;
  throw new Problem('cross-site-request', {
    detail: `${crossSiteDetail(request)} Add that origin to allowedOrigins, or set crossSiteRequests to "allow" for callers who are not signed in.`,
  });
}

interface CallerRequest {
  readonly request: GatewayRequest;
  readonly caller: Caller;
  readonly access: AccessControl;
}

async function refuseCrossSite(
  candidates: readonly ProtectedEndpoint[],
  { request, caller, access: { csrfGuard } }: CallerRequest,
): Promise<void> {
  if (!caller.sentByBrowser || !mayChangeData(candidates) || (await csrfGuard.allows(request, caller))) return;
  const isUnknown = csrfGuard.source(request) === 'unknown';
  throw new Problem('cross-site-request', {
    detail: isUnknown
      ? 'The request has neither Origin nor Sec-Fetch-Site. Send one of them, or an antiforgery token.'
      : `${crossSiteDetail(request)} Add that origin to allowedOrigins, or send an antiforgery token.`,
  });
}

const maxOriginLength = 200;

function crossSiteDetail(request: GatewayRequest): string {
  const origin = request.header('origin')?.slice(0, maxOriginLength) ?? 'unknown';
  return `The request comes from a page of another site (origin: ${JSON.stringify(origin)}), and may change data.`;
}

/** Returns a `WWW-Authenticate` header for each different challenge of the schemes. */
export function challengeHeaders(schemes: readonly AuthScheme[], request: GatewayRequest): HeaderList {
  const values = new Set(schemes.map((scheme) => scheme.challenge(request)).filter((challenge) => challenge !== null));
  return [...values].flatMap((challenge) => ['www-authenticate', challenge]);
}
