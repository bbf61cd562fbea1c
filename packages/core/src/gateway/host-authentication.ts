import { describeFaults } from '../validation/fault.ts';
import type { IncomingMessage } from 'node:http';
import { FetchRequest } from '../adapters/fetch.ts';
import { NodeRequest } from '../adapters/node.ts';
import { anyCaller, authorize, isAuthorized, type ProtectedEndpoint, signInRoute } from '../auth/authorize.ts';
import { selectScheme } from '../auth/login-options.ts';
import { logout } from '../auth/logout.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { HeaderList } from '../http/response.ts';
import type { Caller, Claim, Observer } from '../ports/ports.ts';
import type { ResolveClientOrigin } from './client-origin.ts';
import { arrayOf, objectOf, string } from '../validation/validators.ts';
import type { Authentication } from './open-authentication.ts';

/** A request that the host answers itself: of `node:http` (Express, Fastify's `request.raw`), of WHATWG fetch, or the gateway's own. */
export type HostRequest = IncomingMessage | Request | GatewayRequest;

type ClaimValue = string | number | boolean;

/** Claims by name; a list is one claim for each of its values. The names of id, name and roles are options of the gateway. */
export type ClaimValues = Readonly<Record<string, ClaimValue | readonly ClaimValue[]>>;

/** The headers and body that the host sends to the client after a login or logout. */
export interface AuthenticationResult {
  /** For `new Headers(headers)`, `new Response(body, { headers })`, or `appendHeader` of `node:http`. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The tokens as JSON; null where the headers are all (cookies). */
  readonly body: string | null;
}

/** A token that the pages of a caller send in the header `X-XSRF-TOKEN` with requests that may change data. */
export interface HostAntiforgeryToken {
  readonly token: string;
  readonly headers: AuthenticationResult['headers'];
}

/** The gateway's authentication for the host's own routes. */
export interface HostAuthentication {
  /**
   * Returns the caller of a request; null for an anonymous one.
   * @throws Problem 401 for a cookie or token that is refused; 503 when the sessions cannot be checked
   */
  authenticate(request: HostRequest): Promise<Caller | null>;
  /**
   * Returns the caller of a request to a route for signed-in callers.
   * @param options `roles`: the caller needs one of them; default: any caller that is signed in
   * @throws Problem 401, with the challenges of the schemes, for an anonymous caller; 403 for one without the roles; 503 as `authenticate`
   */
  authorize(request: HostRequest, options?: { readonly roles?: readonly string[] }): Promise<Caller>;
  /**
   * Returns those of the endpoints that the caller of a request may call, by their `authorize` lines. Endpoints with credentials of their
   * own are not among them.
   * @throws Problem 401 for a cookie or token that is refused; 503 as `authenticate`
   */
  permitted(request: HostRequest, endpoints: readonly Endpoint[]): Promise<readonly Endpoint[]>;
  /** @throws Problem 403 for a request that a page of another site makes, by `Origin` and `Sec-Fetch-Site` */
  refuseCrossSite(request: HostRequest): Promise<void>;
  /**
   * Returns an antiforgery token for the caller, and the headers of its cookie; null without a scheme that needs one.
   * @param caller the result of `authenticate` or `authorize` for the same request
   */
  antiforgeryToken(request: HostRequest, caller: Caller): Promise<HostAntiforgeryToken | null>;
  /**
   * Signs a caller in whom the host has authenticated: starts a session and returns its cookie or tokens.
   * @param options `scheme`: the name of the scheme; default the gateway's default scheme
   * @throws Error without a scheme that supports login
   */
  signIn(
    request: HostRequest,
    claims: ClaimValues,
    options?: { readonly scheme?: string },
  ): Promise<AuthenticationResult>;
  /** Ends the caller's session on every instance, and returns the headers that remove its cookie. */
  signOut(request: HostRequest): Promise<AuthenticationResult>;
}

interface HostAuthenticationServices {
  readonly authentication: Authentication;
  readonly resolveClient: ResolveClientOrigin;
  /** Disconnects the event streams of a session. */
  readonly endSession: (session: string) => void;
  readonly observe: Observer;
}

export function hostAuthentication({
  authentication: { access, login, csrfGuard },
  resolveClient,
  endSession,
  observe,
}: HostAuthenticationServices): HostAuthentication {
  const convert = (request: HostRequest): GatewayRequest => resolveClient(toGatewayRequest(request));
  const identify = async (request: GatewayRequest): Promise<Caller | null> =>
    (await authorize([anyCaller], request, access)).caller;
  return {
    authenticate: (request) => identify(convert(request)),
    authorize: async (request, options = {}) => {
      const faults = authorizeOptions.validate(options, []);
      if (faults.length > 0) throw new TypeError(`authorize: ${describeFaults(faults, '; ')}`);
      const { caller } = await authorize([signedInCaller(options.roles ?? [])], convert(request), access);
      return caller!;
    },
    permitted: async (request, endpoints) => {
      const caller = await identify(convert(request));
      return endpoints.filter(
        (endpoint) => endpoint.basicAuthentication === null && isAuthorized({ endpoint }, caller, access.claimTypes),
      );
    },
    refuseCrossSite: (request) => {
      if (csrfGuard.source(convert(request)) !== 'cross-site') return Promise.resolve();
      const detail = 'The request comes from a page of another site. Add its origin to allowedOrigins.';
      return Promise.reject(new Problem('cross-site-request', { detail }));
    },
    antiforgeryToken: async (request, caller) => {
      if (!csrfGuard.issuesTokens || !caller.sentByBrowser) return null;
      const { token, headers } = await csrfGuard.issue(caller, convert(request));
      return { token, headers: pairs(headers) };
    },
    signIn: async (request, claims, options = {}) => {
      const faults = signInOptions.validate(options, []);
      if (faults.length > 0) throw new TypeError(`signIn: ${describeFaults(faults, '; ')}`);
      const { scheme: name } = options;
      const scheme = selectScheme(login, name ?? null, 'signIn');
      if (!scheme?.signIn) throw noScheme(name);
      const { headers, body } = await scheme.signIn(toClaims(claims), convert(request));
      return { headers: pairs(headers), body };
    },
    signOut: async (request) => {
      const converted = convert(request);
      const { caller } = await authorize([signInRoute], converted, access);
      const { headers } = await logout({ request: converted, caller, names: [], observe }, login);
      const session = caller?.session ?? null;
      if (session !== null) endSession(session);
      return { headers: pairs(headers), body: null };
    },
  };
}

const signInOptions = objectOf<{ readonly scheme?: string }>({ scheme: string });
const authorizeOptions = objectOf<{ readonly roles?: readonly string[] }>({ roles: arrayOf(string) });

/** An authorization that signed-in callers with one of the roles pass. */
function signedInCaller(roles: readonly string[]): ProtectedEndpoint {
  return { ...anyCaller, endpoint: { authorization: { required: true, roles }, basicAuthentication: null } };
}

/** @throws TypeError for a value that is not a request */
export function toGatewayRequest(request: HostRequest): GatewayRequest {
  if (request instanceof Request) return new FetchRequest(request);
  const candidate = request as Partial<IncomingMessage & GatewayRequest> | null | undefined;
  if (candidate?.rawHeaders !== undefined) return new NodeRequest(request as IncomingMessage, null);
  if (typeof candidate?.header === 'function') return request as GatewayRequest;
  throw new TypeError(
    'the request must be one of node:http, Express, Fastify (request.raw) or WHATWG fetch; pass it first',
  );
}

/** @throws TypeError for a value that is not a claim */
function toClaims(values: ClaimValues): readonly Claim[] {
  if (typeof values !== 'object' || (values as unknown) === null || Array.isArray(values))
    throw new TypeError(
      'signIn: the claims must be an object of names and values, such as { id: 7, roles: ["editor"] }',
    );
  return Object.entries(values).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((item: unknown) => toClaim(name, item)),
  );
}

function toClaim(name: string, value: unknown): Claim {
  if (typeof value === 'string') return [name, value];
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) {
    return [name, String(value), 'json'];
  }
  throw new TypeError(`signIn: the claim "${name}" must be a string, a number or a boolean, or a list of them`);
}

function noScheme(name: string | undefined): Error {
  return new Error(
    name === undefined
      ? 'signIn: no scheme supports login; enable authentication.cookie, authentication.bearer or authentication.jwt'
      : `signIn: no enabled scheme "${name}" supports login; enable it in the option authentication, or use another one such as cookie, bearer or jwt`,
  );
}

function pairs(headers: HeaderList): AuthenticationResult['headers'] {
  return Array.from(
    { length: headers.length / 2 },
    (_, index) => [headers[2 * index]!, headers[2 * index + 1]!] as const,
  );
}
