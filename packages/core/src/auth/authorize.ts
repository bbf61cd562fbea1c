import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { HeaderList } from '../http/response.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { AuthScheme, Caller, CsrfGuard } from '../ports/ports.ts';
import { type ClaimTypes, callerRoles } from './claims.ts';

/** What says who may call: an endpoint, or whatever else is guarded in its manner. */
export interface ProtectedEndpoint {
  readonly endpoint: Pick<Endpoint, 'authorization' | 'basicAuthentication'> & Partial<Pick<Endpoint, 'signIn'>>;
  /** Whether the call depends on who its caller is. */
  readonly needsCaller: boolean;
  /** Whether the call may change data: requests that other sites make are refused then. */
  readonly changesData: boolean;
  /** What recognises the callers of this endpoint alone; null: the gateway's schemes do. */
  readonly endpointScheme: AuthScheme | null;
}

/** How callers are recognised. */
export interface AccessControl {
  readonly schemes: readonly AuthScheme[];
  readonly claimTypes: ClaimTypes;
  readonly csrfGuard: CsrfGuard;
  /** Every call depends on its caller: it runs under a role of the caller's. */
  readonly alwaysAuthenticate: boolean;
  /** Told of tokens that were refused. */
  readonly onTokenRefused: (request: GatewayRequest, refusal: TokenRefusal) => void;
}

/** Which scheme has refused the token of a request, and why. */
export interface TokenRefusal {
  readonly scheme: string;
  readonly reason: string;
}

/** The endpoints that this caller may call. */
export interface AuthorizationResult<Candidate> {
  readonly candidates: readonly Candidate[];
  readonly caller: Caller | null;
}

/** Whether nobody has to be identified for any of them. */
export function isPublic(
  candidates: readonly ProtectedEndpoint[],
  { alwaysAuthenticate: everyCall }: AccessControl,
): boolean {
  if (everyCall) return false;
  for (const { needsCaller } of candidates) if (needsCaller) return false;
  return true;
}

/**
 * Finds out who calls, and lets through the endpoints that this caller may call, before anything is read from the body.
 * @throws Problem 401 when being signed in would help, 403 when it would not, or when another site made the browser call
 */
export async function authorize<Candidate extends ProtectedEndpoint>(
  candidates: readonly Candidate[],
  request: GatewayRequest,
  access: AccessControl,
): Promise<AuthorizationResult<Candidate>> {
  let known = false;
  const refusals: TokenRefusal[] = [];
  // Overloads may have schemes of their own; whoever is recognised for one is not for that known to another.
  for (const scheme of new Set(candidates.map(({ endpointScheme }) => endpointScheme))) {
    const schemes = scheme === null ? access.schemes : [scheme];
    // One after the other: the first that lets the caller through decides.
    // oxlint-disable-next-line no-await-in-loop
    const caller = await identify(request, schemes);
    known ||= caller !== null;
    const refused = caller === null ? refusalsOf(request, schemes) : [];
    for (const refusal of refused) access.onTokenRefused(request, refusal);
    refusals.push(...refused);
    const admitted = candidates.filter(
      (one) =>
        one.endpointScheme === scheme &&
        isAuthorized(one, caller, access.claimTypes) &&
        // With a token that has expired, a caller may sign in again, and do nothing else.
        (refused.length === 0 || one.endpoint.signIn?.kind === 'login'),
    );
    if (admitted.length === 0) continue;
    if (caller === null) refuseAnonymousCrossSite(admitted, request, access);
    // oxlint-disable-next-line no-await-in-loop
    else await refuseCrossSite(admitted, { request, caller, access });
    return { candidates: admitted, caller };
  }
  if (known) throw new Problem('forbidden');
  throw unauthenticated(challengeHeaders(schemesOf(candidates, access), request), refusals);
}

function unauthenticated(headers: HeaderList, refusals: readonly TokenRefusal[]): Problem {
  if (refusals.length === 0) return new Problem('unauthenticated', { headers });
  const reasons = new Set(refusals.map(({ reason }) => `${reason}.`));
  return new Problem('unauthenticated', { title: 'The token is refused', detail: [...reasons].join(' '), headers });
}

/** Why the schemes, none of which knows the caller, have refused the token that the request brought. */
function refusalsOf(request: GatewayRequest, schemes: readonly AuthScheme[]): readonly TokenRefusal[] {
  return schemes.flatMap((scheme) => {
    const reason = scheme.refusal?.(request) ?? null;
    return reason === null ? [] : [{ scheme: scheme.name, reason }];
  });
}

function schemesOf(candidates: readonly ProtectedEndpoint[], { schemes }: AccessControl): readonly AuthScheme[] {
  return [
    ...new Set(candidates.flatMap(({ endpointScheme }) => (endpointScheme === null ? schemes : [endpointScheme]))),
  ];
}

async function identify(request: GatewayRequest, schemes: readonly AuthScheme[]): Promise<Caller | null> {
  for (const scheme of schemes) {
    const recognized = scheme.authenticate(request);
    // One after the other: the first scheme that trusts what it sees decides. What is known at once costs no turn.
    // oxlint-disable-next-line no-await-in-loop
    const caller = recognized instanceof Promise ? await recognized : recognized;
    if (caller !== null) return caller;
  }
  return null;
}

/** Whether this caller, recognised by whatever recognises those of the endpoint, may call it. */
export function isAuthorized(
  { endpoint }: Pick<ProtectedEndpoint, 'endpoint'>,
  caller: Caller | null,
  types: ClaimTypes,
): boolean {
  const { required, roles } = endpoint.authorization;
  if (!required && endpoint.basicAuthentication === null) return true;
  if (caller === null) return false;
  if (roles.length === 0) return true;
  const own = callerRoles(caller, types).map((role) => role.toLowerCase());
  return roles.some((role) => own.includes(role.toLowerCase()));
}

function changeData(candidates: readonly ProtectedEndpoint[]): boolean {
  for (const { changesData } of candidates) if (changesData) return true;
  return false;
}

/** @throws Problem 403 where a page of another site made the browser call */
export function refuseAnonymousCrossSite(
  candidates: readonly ProtectedEndpoint[],
  request: GatewayRequest,
  { csrfGuard }: AccessControl,
): void {
  if (!changeData(candidates) || csrfGuard.allowsAnonymous(request)) return;
  throw new Problem('cross-site-request', {
    detail: `${originOf(request)} Add that origin to allowedOrigins, or set crossSiteRequests to "allow" for callers who are not signed in.`,
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
  if (!caller.sentByBrowser || !changeData(candidates) || (await csrfGuard.allows(request, caller))) return;
  const unmarked = csrfGuard.source(request) === 'unmarked';
  throw new Problem('cross-site-request', {
    detail: unmarked
      ? 'The request says neither by Origin nor by Sec-Fetch-Site which page it comes from. Send one of them, or an antiforgery token.'
      : `${originOf(request)} Add that origin to allowedOrigins, or send an antiforgery token.`,
  });
}

const longestOrigin = 200;

function originOf(request: GatewayRequest): string {
  const origin = request.header('origin')?.slice(0, longestOrigin) ?? 'not told';
  return `The request comes from a page of another site (origin: ${JSON.stringify(origin)}), and may change data.`;
}

/** One `WWW-Authenticate` for each scheme that has something of its own to say. */
export function challengeHeaders(schemes: readonly AuthScheme[], request: GatewayRequest): HeaderList {
  const said = new Set(schemes.map((scheme) => scheme.challenge(request)).filter((challenge) => challenge !== null));
  return [...said].flatMap((challenge) => ['www-authenticate', challenge]);
}
