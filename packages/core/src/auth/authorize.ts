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

/** How callers are authenticated and authorized. */
export interface AccessControl {
  readonly schemes: readonly AuthScheme[];
  /** Returns the scheme of an endpoint with its own credentials, always the same one. */
  readonly endpointScheme: (credentials: BasicAuthentication) => AuthScheme;
  readonly claimTypes: ClaimTypes;
  readonly csrfGuard: CsrfGuard;
  /** Whether every call depends on its caller, because it runs under the caller's database role. */
  readonly alwaysAuthenticate: boolean;
  /** Called for each refused token. */
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

/** As `authorize`, at once for endpoints that do not need their caller. */
export function authorizeIfNeeded<Candidate extends ProtectedEndpoint>(
  candidates: readonly Candidate[],
  request: GatewayRequest,
  access: AccessControl,
): AuthorizationResult<Candidate> | Promise<AuthorizationResult<Candidate>> {
  if (!needsNoCaller(candidates, access)) return authorize(candidates, request, access);
  refuseAnonymousCrossSite(candidates, request, access);
  return { candidates, caller: null };
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
  const refusals: TokenRefusal[] = [];
  // Overloads may have different schemes. A caller that is authenticated for one is not for the others.
  for (const scheme of new Set(candidates.map(({ endpointScheme }) => endpointScheme))) {
    const schemes = scheme === null ? access.schemes : [access.endpointScheme(scheme)];
    // Sequential: the first scheme with a permitted endpoint decides.
    // oxlint-disable-next-line no-await-in-loop
    const caller = await identify(request, schemes);
    isAuthenticated ||= caller !== null;
    const refused = caller === null ? refusalsOf(request, schemes) : [];
    for (const refusal of refused) access.onTokenRefused(request, refusal);
    refusals.push(...refused);
    const admitted = candidates.filter(
      (candidate) =>
        candidate.endpointScheme === scheme &&
        isAuthorized(candidate, caller, access.claimTypes) &&
        // A caller with a refused token may only log in again.
        (refused.length === 0 || candidate.endpoint.loginOrLogout?.kind === 'login'),
    );
    if (admitted.length === 0) continue;
    if (caller === null) refuseAnonymousCrossSite(admitted, request, access);
    // oxlint-disable-next-line no-await-in-loop
    else await refuseCrossSite(admitted, { request, caller, access });
    return { candidates: admitted, caller };
  }
  if (isAuthenticated) throw new Problem('forbidden');
  throw unauthenticated(challengeHeaders(schemesOf(candidates, access), request), refusals);
}

function unauthenticated(headers: HeaderList, refusals: readonly TokenRefusal[]): Problem {
  if (refusals.length === 0) return new Problem('unauthenticated', { headers });
  const reasons = new Set(refusals.map(({ reason }) => `${reason}.`));
  return new Problem('unauthenticated', { title: 'The token is refused', detail: [...reasons].join(' '), headers });
}

/** Returns why the schemes have refused the token of the request. */
function refusalsOf(request: GatewayRequest, schemes: readonly AuthScheme[]): readonly TokenRefusal[] {
  return schemes.flatMap((scheme) => {
    const reason = scheme.refusal?.(request) ?? null;
    return reason === null ? [] : [{ scheme: scheme.name, reason }];
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

async function identify(request: GatewayRequest, schemes: readonly AuthScheme[]): Promise<Caller | null> {
  for (const scheme of schemes) {
    const result = scheme.authenticate(request);
    // Sequential: the first scheme that authenticates the caller decides. A cached result costs no turn of the event loop.
    // oxlint-disable-next-line no-await-in-loop
    const caller = result instanceof Promise ? await result : result;
    if (caller !== null) return caller;
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
