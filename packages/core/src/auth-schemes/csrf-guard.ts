import { createHash } from 'node:crypto';
import { stringifySetCookie } from 'cookie';
import type { GatewayRequest } from '../http/request.ts';
import type { HeaderList } from '../http/response.ts';
import type { Caller, CsrfGuard } from '../ports/ports.ts';
import type { TokenEncryption } from './keys/key-ring.ts';

export interface CsrfGuardOptions {
  /** Null: there are no tokens, and only where a request comes from counts. */
  readonly encryption: TokenEncryption | null;
  /** Other origins whose pages may act for callers: `https://app.example.org`. */
  readonly allowedOrigins?: readonly string[];
  /** What becomes of anonymous requests that a page of another site has made. Default `refuse`. */
  readonly crossSiteRequests?: 'refuse' | 'allow';
  /**
   * Schemes whose callers may come without any mark of a browser, because programs are what mostly uses them: browsers have marked
   * unsafe requests for years, and programs cannot be lured. Never a scheme of cookies.
   */
  readonly nonBrowserSchemes?: readonly string[];
  readonly headerName?: string;
  /** Readable by script, which copies it into the header. */
  readonly cookieName?: string;
  readonly cookiePath?: string;
  /** Seconds for which a token is good. */
  readonly lifetime?: number;
  /** Whether the client's connection is encrypted; behind trusted proxies, what these say. */
  readonly isSecure?: (request: GatewayRequest) => boolean;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

type RequestSource = ReturnType<CsrfGuard['source']>;

export interface AntiforgeryToken {
  readonly token: string;
  /** The cookie that brings it to our pages; names and values in turn. */
  readonly headers: HeaderList;
}

export interface CsrfTokenGuard extends CsrfGuard {
  /**
   * Whether a request that may change data comes from a page of this site, or from no page at all. Always true for credentials that
   * no browser sends by itself. A cookie has to come from a page of this site, or with the token: without any mark of an origin it
   * is not enough, so that a program sends an `Origin`, or the token.
   */
  allows(request: GatewayRequest, caller: Caller): Promise<boolean>;
  /** A token of this caller's session. With its request, the cookie is `Secure` as that is; without, it is. Rejects without a encryption. */
  issue(caller: Caller, request?: GatewayRequest): Promise<AntiforgeryToken>;
}

const purpose = 'antiforgery';
const longestToken = 4096;

/**
 * Keeps other sites from acting through the browsers of our callers.
 * @throws TypeError for an allowed origin that is none
 */
export function csrfGuard(options: CsrfGuardOptions): CsrfTokenGuard {
  const { encryption, nonBrowserSchemes: programs = ['basic'], lifetime = 86_400, now = Date.now } = options;
  const { headerName = 'X-XSRF-TOKEN', cookieName = 'XSRF-TOKEN', cookiePath = '/' } = options;
  const anonymous = options.crossSiteRequests ?? 'refuse';
  const isSecure = options.isSecure ?? (({ secure }: GatewayRequest) => secure);
  const allowed = new Set(options.allowedOrigins?.map(parseOrigin));
  const source = (request: GatewayRequest): RequestSource => sourceOf(request, allowed, isSecure);
  const hasToken = async (request: GatewayRequest, caller: Caller): Promise<boolean> => {
    const token = request.header(headerName.toLowerCase());
    if (token === undefined || token.length > longestToken || encryption === null) return false;
    const payload = await encryption.decrypt(purpose, token);
    return payload !== null && 'caller' in payload && payload.caller === callerBinding(caller);
  };
  return Object.freeze({
    source,
    allowsAnonymous: anonymous === 'allow' ? () => true : (request: GatewayRequest) => source(request) !== 'foreign',
    allows: async (request: GatewayRequest, caller: Caller): Promise<boolean> => {
      if (!caller.sentByBrowser) return true;
      const from = source(request);
      if (from === 'own' || (from === 'unmarked' && programs.includes(caller.scheme))) return true;
      return await hasToken(request, caller);
    },
    issue: async (caller: Caller, request?: GatewayRequest): Promise<AntiforgeryToken> => {
      if (encryption === null) throw new TypeError('Antiforgery tokens need a encryption.');
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

/** What browsers say by themselves counts more than what a comparison of names can find out. */
function sourceOf(
  request: GatewayRequest,
  allowed: ReadonlySet<string>,
  isSecure: (request: GatewayRequest) => boolean,
): RequestSource {
  const site = request.header('sec-fetch-site');
  const origin = request.header('origin');
  if (site === 'same-origin' || site === 'none') return 'own';
  if (origin !== undefined) {
    if (allowed.has(origin)) return 'own';
    return site === undefined && isOwnOrigin(origin, request, isSecure) ? 'own' : 'foreign';
  }
  return site === undefined ? 'unmarked' : 'foreign';
}

/**
 * Whether the origin is the host that was called. On an encrypted connection it has to be encrypted as well: a page without
 * encryption is anybody's on the way. On an open one nothing is known of what a proxy does before us.
 */
function isOwnOrigin(origin: string, request: GatewayRequest, isSecure: (request: GatewayRequest) => boolean): boolean {
  const [, scheme, authority] = /^(https?):\/\/([^/?#@\\\s]+)$/.exec(origin) ?? [];
  if (scheme === undefined || (scheme === 'http' && isSecure(request))) return false;
  const host = request.header('host') ?? request.header(':authority');
  if (host === undefined || !/^[^/?#@\\\s,]+$/.test(host)) return false;
  const called = hostOf(`${scheme}://${host}`);
  return called !== null && called === hostOf(`${scheme}://${authority!}`);
}

/** Name and port as the scheme has them: without its own port. */
function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}

function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (plain && !url.host.includes('*')) return url.origin;
  throw new TypeError(`"${text}" is no origin: give a scheme and a host, as in https://app.example.org.`);
}

/** Whose a token is: of the session; where there is none, of exactly this caller. */
function callerBinding({ scheme, session, claims }: Caller): string {
  return createHash('sha256')
    .update(JSON.stringify(session === null ? [scheme, null, claims] : [scheme, session]))
    .digest('base64url');
}
