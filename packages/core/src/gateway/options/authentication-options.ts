import type { LoginRateLimiter, AuthScheme, PasswordHasher, RateLimiter } from '../../ports/ports.ts';
import { type EndpointAuthenticationOptions, endpointAuthenticationDefaults } from '../../endpoints/options.ts';
import type { LoginRateLimitOptions } from '../../auth-schemes/login-rate-limiter.ts';
import type { BearerSchemeOptions } from '../../auth-schemes/bearer.ts';
import type { CookieSchemeOptions } from '../../auth-schemes/cookie.ts';
import type { ExternalSignIn } from '../external-sign-in.ts';
import type { JwtSchemeOptions } from '../../auth-schemes/jwt.ts';
import type { KeyStorage } from '../../auth-schemes/keys/key-storage.ts';
import type { TokenAlgorithm } from '../../auth-schemes/keys/token-algorithm.ts';
import type { RateLimitOptions } from '../../auth-schemes/rate-limiter.ts';
import type { SessionStore } from '../../auth-schemes/sessions.ts';

/** The scheme options that the gateway sets. */
type GatewayProvided = 'encryption' | 'sessions' | 'userIdClaim' | 'userNameClaim' | 'address' | 'now';

export type CookieOptions = Partial<Omit<CookieSchemeOptions, GatewayProvided>>;
export type BearerOptions = Partial<Omit<BearerSchemeOptions, GatewayProvided>>;
export type JwtOptions = Partial<Pick<JwtSchemeOptions, 'name'>> & Omit<JwtSchemeOptions, 'name' | 'now' | 'isAlive'>;

/** HTTP Basic for the whole gateway: one user, or the users that the command finds. */
export interface BasicOptions {
  readonly user?: string | null;
  /** The hash of the user's password. */
  readonly hash?: string | null;
  /** `$1` user, `$2` password, `$3` realm, `$4` path; its row is read like the row of a login. */
  readonly command?: string | null;
  readonly realm?: string;
}

/** The storage of the keys that encrypt cookies and tokens. Default: in memory, lost at the end of the process. */
export interface DataProtectionOptions {
  /** The folder of the keys. */
  readonly folder?: string | null;
  /** Instead of the folder: SQL that returns a row with the text of each key. */
  readonly readCommand?: string | null;
  /** SQL that inserts a key unless it exists: `$1` id, `$2` text. */
  readonly writeCommand?: string | null;
  /** Instead of the folder and the commands: a custom storage. */
  readonly storage?: KeyStorage | null;
  /** Encrypts the stored keys; at least 16 characters. */
  readonly secret?: string | null;
  /** Earlier secrets, which still decrypt stored keys, so that the secret can be changed. */
  readonly previousSecrets?: readonly string[];
  /** The algorithm of new cookies and tokens (RFC 7518, section 5.1). Those of the other algorithms stay valid. Default `A256GCM`. */
  readonly algorithm?: TokenAlgorithm;
  /** Separates the tokens of applications that share a storage. */
  readonly application?: string;
  /** Seconds for which a key encrypts; it decrypts after that, too. Default 90 days. */
  readonly keyLifetime?: number;
}

/** A session table, by SQL commands. Without them, each instance remembers the sessions that ended on it. */
export interface SessionOptions {
  /** `$1` session, `$2` user id, `$3` user name, `$4` scheme, `$5` address, `$6` user agent, `$7` end. */
  readonly beginCommand: string;
  /** `$1` session. Returns a row with true while the session is alive. */
  readonly checkCommand: string;
  /** `$1` session. */
  readonly endCommand: string;
  /** `$1` session, `$2` number of the refresh token. Returns a row with true once for each number, in order. */
  readonly refreshCommand?: string | null;
  /** Seconds for which an alive session is cached. Default 5; 0: each request runs the command. */
  readonly cacheSeconds?: number;
  /** A NOTIFY channel whose payloads are ended sessions, which every instance evicts at once. */
  readonly channel?: string | null;
}

/** The database role of a call, for row level security and privileges. */
export interface DatabaseRoleOptions {
  /** The claim whose first value is the role. */
  readonly claim: string;
  /** The role of callers without that claim, anonymous ones included; null: the role of the connection. */
  readonly anonymous?: string | null;
}

/** Options of authentication and authorization. */
export interface AuthenticationOptions extends EndpointAuthenticationOptions {
  /** Login with cookies; true: with the defaults. */
  readonly cookie: boolean | CookieOptions;
  /** Login with opaque tokens; true: with the defaults. */
  readonly bearer: boolean | BearerOptions;
  /** Signed tokens (JWT) of external issuers or of this server. Several schemes are tried in order. */
  readonly jwt: JwtOptions | readonly JwtOptions[] | null;
  readonly basic: BasicOptions | null;
  /** Sign-in through external providers in the browser, of `@pgway/external-sign-in`; its users get a session of a scheme above. */
  readonly externalSignIn: ExternalSignIn | null;
  /** Custom schemes, tried before the built-in ones. */
  readonly schemes: readonly AuthScheme[];
  readonly dataProtection: DataProtectionOptions;
  readonly sessions: SessionOptions | null;
  /** Wraps the session store, for a host of several processes that share ended sessions; null: each instance has its own. */
  readonly wrapSessions: ((sessions: SessionStore) => SessionStore) | null;
  /** The scheme of logins whose routine names none; null: the first scheme, with the database name as authentication type. */
  readonly defaultAuthenticationType: string | null;
  /** The claim that is the user's name. Default `name`. */
  readonly defaultNameClaimType: string;
  /** The claim that holds the user's roles. Default `roles`. */
  readonly defaultRoleClaimType: string;
  /** The claim that is the user's id. Default `id`. */
  readonly defaultUserIdClaimType: string;
  /** The setting that holds the id. Default `request.user_id`. */
  readonly userIdContextKey: string;
  /** The setting that holds the name. Default `request.user_name`. */
  readonly userNameContextKey: string;
  /** The setting that holds the roles, as the text of an array. Default `request.user_roles`. */
  readonly userRolesContextKey: string;
  /** The setting that holds the client's address. Default `request.ip_address`. */
  readonly ipAddressContextKey: string;
  /** The setting with all claims as JSON; null: none. */
  readonly userClaimsContextKey: string | null;
  /** Runs each call under the database role of its caller (`set local role`); null: under the role of the connection. */
  readonly databaseRole: DatabaseRoleOptions | null;
  /** Null: the built-in one, PBKDF2-HMAC-SHA256 with 600,000 rounds. */
  readonly passwordHasher: PasswordHasher | null;
  /**
   * Whether a NULL hash of a login or a challenge command means that the database has verified the password. Default false: the
   * verification fails.
   */
  readonly allowNullHash: boolean;
  /** The status after a wrong password and for an unknown user, where the row has a hash: 401, or another from 400 to 499. Default 404. */
  readonly passwordVerificationFailedStatus: number;
  /** SQL to run after a wrong password, without delaying the response: `$1` scheme, `$2` user id, `$3` user name. */
  readonly passwordVerificationFailedCommand: string | null;
  /** SQL to run after a correct password, with the same parameters. */
  readonly passwordVerificationSucceededCommand: string | null;
  /** Login and logout respond with the row of their routine where the scheme sends no response of its own. */
  readonly serializeAuthEndpointsResponse: boolean;
  /** The rate limit of failed logins: a custom limiter, or the limits of the built-in one. */
  readonly loginRateLimit: LoginRateLimiter | LoginRateLimitOptions;
  /**
   * The rate limit of requests that hash a parameter (`param … is hash of …`): a custom limiter, or the limits of the built-in one. Default:
   * 20 per address in 60 seconds.
   */
  readonly hashRateLimit: RateLimiter | RateLimitOptions;
  /** Addresses, CIDR blocks or `loopback` of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted. */
  readonly trustedProxies: readonly string[];
  /** Origins that may send requests with credentials, besides the origin of this host: `https://app.example.org`. */
  readonly allowedOrigins: readonly string[];
  /**
   * The treatment of cross-site requests of anonymous callers that may change data: `refuse` (403) or `allow`. Use `allow` for public
   * services only: on a loopback address or in an intranet, any web page that a user opens could write. Cross-site requests with
   * cookies or HTTP Basic are always refused. Default `refuse`.
   */
  readonly crossSiteRequests: 'refuse' | 'allow';
  /** The path where callers get a CSRF (antiforgery) token; null: none, the origin decides alone. */
  readonly antiforgeryPath: string | null;
  /** Refuses to start without what a public service needs: stored keys, encrypted with a secret. */
  readonly production: boolean;
}

export const authenticationDefaults: AuthenticationOptions = Object.freeze({
  ...endpointAuthenticationDefaults,
  cookie: false,
  bearer: false,
  jwt: null,
  basic: null,
  externalSignIn: null,
  schemes: [],
  dataProtection: {},
  sessions: null,
  wrapSessions: null,
  defaultAuthenticationType: null,
  defaultNameClaimType: 'name',
  defaultRoleClaimType: 'roles',
  defaultUserIdClaimType: 'id',
  userIdContextKey: 'request.user_id',
  userNameContextKey: 'request.user_name',
  userRolesContextKey: 'request.user_roles',
  ipAddressContextKey: 'request.ip_address',
  userClaimsContextKey: null,
  databaseRole: null,
  passwordHasher: null,
  allowNullHash: false,
  passwordVerificationFailedStatus: 404,
  passwordVerificationFailedCommand: null,
  passwordVerificationSucceededCommand: null,
  serializeAuthEndpointsResponse: false,
  loginRateLimit: {},
  hashRateLimit: {},
  trustedProxies: [],
  allowedOrigins: [],
  crossSiteRequests: 'refuse',
  antiforgeryPath: null,
  production: false,
});
