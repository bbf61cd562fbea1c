import { createHash } from 'node:crypto';
import { stringifySetCookie } from 'cookie';
import type { GatewayRequest } from '../http/request.ts';
import type { HeaderList } from '../http/response.ts';
import type { Caller, CsrfGuard } from '../ports/ports.ts';
import type { TokenEncryption } from './keys/key-ring.ts';

export interface CsrfGuardOptions {
  /** Encrypts the tokens; null: there are no tokens, the origin decides alone. */
  readonly encryption: TokenEncryption | null;
  /** Other origins that may send requests with credentials: `https://app.example.org`. */
  readonly allowedOrigins?: readonly string[];
  /** The treatment of cross-site requests of anonymous callers. Default `refuse`. */
  readonly crossSiteRequests?: 'refuse' | 'allow';
  /**
   * Schemes whose requests may have neither `Origin` nor `Sec-Fetch-Site`, because mostly programs use them: browsers send one of them
   * with unsafe requests. Never a scheme with cookies.
   */
  readonly nonBrowserSchemes?: readonly string[];
  readonly headerName?: string;
  /** A cookie that scripts can read, to copy it into the header. */
  readonly cookieName?: string;
  readonly cookiePath?: string;
  /** The lifetime of a token in seconds. */
  readonly lifetime?: number;
  /** Whether the client's connection is encrypted. Default: `secure` of the request. */
  readonly isSecure?: (request: GatewayRequest) => boolean;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

type RequestSource = ReturnType<CsrfGuard['source']>;

export interface AntiforgeryToken {
  readonly token: string;
  /** The headers with the cookie: names and values in turn. */
  readonly headers: HeaderList;
}

export interface CsrfTokenGuard extends CsrfGuard {
  /** Whether there are tokens; otherwise the origin decides alone. */
  readonly issuesTokens: boolean;
  /**
   * Whether a request that may change data is allowed. Always true for credentials that browsers do not send by themselves. A request
   * with a cookie needs an origin of this site or the token.
   */
  allows(request: GatewayRequest, caller: Caller): Promise<boolean>;
  /**
   * Returns a token for the caller's session. The cookie is `Secure` unless the request is not.
   * @throws TypeError without encryption
   */
  issue(caller: Caller, request?: GatewayRequest): Promise<AntiforgeryToken>;
}

const purpose = 'antiforgery';
const maxTokenLength = 4096;

/**
 * Refuses requests that other sites make through the browsers of callers (cross-site request forgery).
 * @throws TypeError for an invalid allowed origin
 */
export function csrfGuard(options: CsrfGuardOptions): CsrfTokenGuard {
  const { encryption, nonBrowserSchemes = ['basic'], lifetime = 86_400, now = Date.now } = options;
  const { headerName = 'X-XSRF-TOKEN', cookieName = 'XSRF-TOKEN', cookiePath = '/' } = options;
  const anonymous = options.crossSiteRequests ?? 'refuse';
  const isSecure = options.isSecure ?? (({ secure }: GatewayRequest) => secure);
  const allowed = new Set(options.allowedOrigins?.map(parseOrigin));
  const source = (request: GatewayRequest): RequestSource => sourceOf(request, allowed, isSecure);
  const hasToken = async (request: GatewayRequest, caller: Caller): Promise<boolean> => {
    const token = request.header(headerName.toLowerCase());
    if (token === undefined || token.length > maxTokenLength || encryption === null) return false;
    const payload = await encryption.decrypt(purpose, token);
    return payload !== null && 'caller' in payload && payload.caller === callerBinding(caller);
  };
  return Object.freeze({
    issuesTokens: encryption !== null,
    source,
    allowsAnonymous: anonymous === 'allow' ? () => true : (request: GatewayRequest) => source(request) !== 'cross-site',
    allows: async (request: GatewayRequest, caller: Caller): Promise<boolean> => {
      if (!caller.sentByBrowser) return true;
      const from = source(request);
      if (from === 'trusted' || (from === 'unknown' && nonBrowserSchemes.includes(caller.scheme))) return true;
      return await hasToken(request, caller);
    },
    issue: async (caller: Caller, request?: GatewayRequest): Promise<AntiforgeryToken> => {
      if (encryption === null) throw new TypeError('antiforgery tokens need encryption keys');
      const expires = Math.floor(now() / 1000) + lifetime;
      const token = await encryption.encrypt(purpose, { caller: callerBinding(caller) }, expires);
      const cookie = stringifySetCookie({
        name: cookieName,
        value: token,
        path: cookiePath,
        maxAge: lifetime,
        sameSite: 'strict',
        secure: request === undefined || isSecure(request),
      });
      return { token, headers: ['set-cookie', cookie] };
    },
  });
}

/** `Sec-Fetch-Site` takes precedence over a comparison of `Origin` and `Host`. */
function sourceOf(
  request: GatewayRequest,
  allowed: ReadonlySet<string>,
  isSecure: (request: GatewayRequest) => boolean,
): RequestSource {
  const site = request.header('sec-fetch-site');
  const origin = request.header('origin');
  if (site === 'same-origin' || site === 'none') return 'trusted';
  if (origin !== undefined) {
    if (allowed.has(origin)) return 'trusted';
    return site === undefined && isSameOrigin(origin, request, isSecure) ? 'trusted' : 'cross-site';
  }
  return site === undefined ? 'unknown' : 'cross-site';
}

/**
 * Whether the origin is the host of the request. On an encrypted connection the origin must be https, because a page without
 * encryption can be forged on its way. On an unencrypted connection both are accepted: a proxy may have ended TLS.
 */
function isSameOrigin(
  origin: string,
  request: GatewayRequest,
  isSecure: (request: GatewayRequest) => boolean,
): boolean {
  const [, scheme, authority] = /^(https?):\/\/([^/?#@\\\s]+)$/.exec(origin) ?? [];
  if (scheme === undefined || (scheme === 'http' && isSecure(request))) return false;
  const host = request.header('host');
  if (host === undefined || !/^[^/?#@\\\s,]+$/.test(host)) return false;
  const called = hostOf(`${scheme}://${host}`);
  return called !== null && called === hostOf(`${scheme}://${authority!}`);
}

/** Returns name and port, without the scheme's default port. */
function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}

function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (plain && !url.host.includes('*')) return url.origin;
  throw new TypeError(`"${text}" is not an origin; give scheme and host, as in https://app.example.org`);
}

/** Returns the value that binds a token to the session, or to the claims of a caller without one. */
function callerBinding({ scheme, session, claims }: Caller): string {
  return createHash('sha256')
    .update(JSON.stringify(session === null ? [scheme, null, claims] : [scheme, session]))
    .digest('base64url');
}
