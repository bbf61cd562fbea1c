import type { LoginRateLimiter, AuthScheme, PasswordHasher } from '../../ports/ports.ts';
import { type EndpointAuthenticationOptions, endpointAuthenticationDefaults } from '../../endpoints/options.ts';
import type { LoginRateLimitOptions } from '../../auth-schemes/login-rate-limiter.ts';
import type { BearerSchemeOptions } from '../../auth-schemes/bearer.ts';
import type { CookieSchemeOptions } from '../../auth-schemes/cookie.ts';
import type { JwtSchemeOptions } from '../../auth-schemes/jwt.ts';
import type { RateLimitOptions } from '../../auth-schemes/rate-limiter.ts';

/** What the gateway itself gives to a scheme. */
type Given = 'encryption' | 'sessions' | 'userIdClaim' | 'userNameClaim' | 'address' | 'now';

export type CookieOptions = Partial<Omit<CookieSchemeOptions, Given>>;
export type BearerOptions = Partial<Omit<BearerSchemeOptions, Given>>;
export type JwtOptions = Partial<Pick<JwtSchemeOptions, 'name'>> & Omit<JwtSchemeOptions, 'name' | 'now' | 'isAlive'>;

/** HTTP Basic for the whole gateway: one user, or whom the command knows. */
export interface BasicOptions {
  readonly user?: string | null;
  /** Of the user's password. */
  readonly hash?: string | null;
  /** `$1` user, `$2` password, `$3` realm, `$4` path; its row is read like that of a login. */
  readonly command?: string | null;
  readonly realm?: string;
}

/** Where the keys are kept that cookies and tokens are encrypted with; without any of it they end with the process. */
export interface DataProtectionOptions {
  /** A folder for the keys. */
  readonly folder?: string | null;
  /** In place of the folder: gives a row for each key, its text. */
  readonly readCommand?: string | null;
  /** `$1` id, `$2` text. A second write of an id has to leave the first. */
  readonly writeCommand?: string | null;
  /** Encrypts the keys where they are kept; at least 16 characters. */
  readonly secret?: string | null;
  /** Tells the keys of several applications in one place apart. */
  readonly application?: string;
  /** Seconds for which a key encrypts; what it has encrypted can be read after that too. Default 90 days. */
  readonly keyLifetime?: number;
}

/** A table of sessions, by commands; without them each instance remembers for itself which sessions have ended. */
export interface SessionOptions {
  /** `$1` session, `$2` user id, `$3` user name, `$4` scheme, `$5` address, `$6` user agent, `$7` end. */
  readonly beginCommand: string;
  /** `$1` session. A row with true: it is alive. */
  readonly checkCommand: string;
  /** `$1` session. */
  readonly endCommand: string;
  /** `$1` session, `$2` number of the refresh token. A row with true: it is this one's turn, and the next one's from now on. */
  readonly refreshCommand?: string | null;
  /** Seconds for which a session that was found alive is believed to be. Default 5; 0 asks at every call. */
  readonly cacheSeconds?: number;
  /** A channel of NOTIFY: the payload is a session that has ended, which every instance then knows at once. */
  readonly channel?: string | null;
}

/** The database role of a call, for row level security and privileges. */
export interface DatabaseRoleOptions {
  /** The claim whose first value is the role. */
  readonly claim: string;
  /** The role of callers without that claim, anonymous ones included; null: the role of the connection. */
  readonly anonymous?: string | null;
}

/** Everything about who calls. */
export interface AuthenticationOptions extends EndpointAuthenticationOptions {
  /** Sign-in by cookies: true for the defaults. */
  readonly cookie: boolean | CookieOptions;
  /** Sign-in by opaque tokens. */
  readonly bearer: boolean | BearerOptions;
  /** Tokens of others, or of our own, that are signed. Several are asked in their order. */
  readonly jwt: JwtOptions | readonly JwtOptions[] | null;
  readonly basic: BasicOptions | null;
  /** Schemes of the host's own, asked first. */
  readonly schemes: readonly AuthScheme[];
  readonly dataProtection: DataProtectionOptions;
  readonly sessions: SessionOptions | null;
  /** The scheme that signs in where the routine names none; null: the first there is, under the name of the database. */
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
  /** The setting that holds all claims as JSON; null: they are not told. */
  readonly userClaimsContextKey: string | null;
  /** Runs each call under the database role of its caller (`set local role`); null: under the role of the connection. */
  readonly databaseRole: DatabaseRoleOptions | null;
  /** Null: the built-in one, PBKDF2-HMAC-SHA256 with 600,000 rounds. */
  readonly passwordHasher: PasswordHasher | null;
  /**
   * Whether a NULL in the hash column of a login or of a challenge command means that the database has verified the password
   * itself. Default false: it is a failed verification.
   */
  readonly allowNullHash: boolean;
  /** SQL after a wrong password, which the answer does not wait for: `$1` scheme, `$2` user id, `$3` user name. */
  readonly passwordVerificationFailedCommand: string | null;
  /** SQL after a right password, with the same values. */
  readonly passwordVerificationSucceededCommand: string | null;
  /** Login and logout answer with the row of their routine, where the scheme says nothing. */
  readonly serializeAuthEndpointsResponse: boolean;
  /** How many sign-ins may fail; a limiter of the host's, or bounds of the built-in one. */
  readonly loginRateLimit: LoginRateLimiter | LoginRateLimitOptions;
  /** How many requests of an address may have parameters hashed (`param … is hash of …`): by default 20 in 60 seconds. */
  readonly hashRateLimit: RateLimitOptions;
  /** Addresses, CIDR blocks or `loopback` of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. */
  readonly trustedProxies: readonly string[];
  /** Origins whose pages may act for our callers besides our own: `https://app.example.org`. */
  readonly allowedOrigins: readonly string[];
  /**
   * What becomes of requests of anonymous callers that may change data and that a browser marks as made by a page of another site:
   * `refuse` answers 403. `allow` is for a public service alone: on a loopback address or in an intranet, any page that a user
   * opens could write. Callers with cookies or HTTP Basic are never allowed. Default `refuse`.
   */
  readonly crossSiteRequests: 'refuse' | 'allow';
  /** Where callers get an antiforgery token; null: nowhere, the origin alone decides. */
  readonly antiforgeryPath: string | null;
  /** Refuses to start without what a public service needs: kept keys with a secret. */
  readonly production: boolean;
}

export const authenticationDefaults: AuthenticationOptions = Object.freeze({
  ...endpointAuthenticationDefaults,
  cookie: false,
  bearer: false,
  jwt: null,
  basic: null,
  schemes: [],
  dataProtection: {},
  sessions: null,
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
