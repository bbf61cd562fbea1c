import type { GatewayRequest } from '../http/request.ts';
import type { Claim } from '../ports/ports.ts';
import type { JwtKey } from './jwt-keys.ts';
import type { SessionStore } from './sessions.ts';
// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** The scheme `bearer`: opaque tokens. */
export interface BearerOptions {
  /** The name by which a login selects the scheme. Default `bearer`. */
  readonly name?: string;
  /** Seconds that an access token is valid. Default 3,600. */
  readonly accessLifetime?: number;
  /** Seconds that a refresh token is valid. Default 1,209,600. */
  readonly refreshLifetime?: number;
  /** Seconds from login in which tokens can be refreshed. Default 7,776,000. */
  readonly sessionLifetime?: number;
  /** The path that takes `{"refresh": "…"}` by POST and returns new tokens. Default `/api/auth/refresh`. */
  readonly refreshPath?: string;
  /** Returns the claims of refreshed tokens; null ends the session. Absent: the claims of the login. */
  readonly renewClaims?: (claims: readonly Claim[], session: string) => Promise<readonly Claim[] | null>;
}

/** The scheme `cookie`. */
export interface CookieOptions {
  /** The name by which a login selects the scheme. Default `cookie`. */
  readonly name?: string;
  /**
   * The name of the cookie; prefer `__Host-pgway` if every client uses TLS: browsers accept it from this host only, so
   * that other hosts of the domain cannot set it. Default `pgway`.
   */
  readonly cookieName?: string;
  /** Seconds from login to the end of the session. Default 1,209,600. */
  readonly lifetime?: number;
  /** Seconds without a request after which the session ends earlier; null: no idle timeout. */
  readonly sliding?: number | null;
  /** The `Secure` attribute: on encrypted connections (`auto`), or always. Default `auto`. */
  readonly secure?: 'auto' | 'always';
  /** The `SameSite` attribute: `lax` sends the cookie with links from other sites, `strict` does not. Default `lax`. */
  readonly sameSite?: 'lax' | 'strict';
  /** The `Path` attribute. Default `/`. */
  readonly path?: string;
  /** The `Domain` attribute; null: this host alone. */
  readonly domain?: string | null;
}

/** Requests that hash a parameter (`param … is hash of …`), such as sign-ups, before further ones are throttled. */
export interface RateLimitOptions {
  /** Requests of an address in a window. Default 20. */
  readonly perAddress?: number;
  /** Seconds of a window. Default 60. */
  readonly window?: number;
  /** Maximum number of addresses that are remembered; the least recently used one is evicted. Default 10,000. */
  readonly capacity?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The keys of the issuer, read from its JWKS document. */
export interface JwksOptions {
  /**
   * The URL of the public keys of the issuer (JWKS): https; http for loopback addresses, and for other hosts outside
   * production.
   */
  readonly url: string;
  /** The algorithms of the keys. */
  readonly algorithms?: readonly ('RS256' | 'ES256')[];
  /** Seconds before the request times out. Default 5. */
  readonly timeout?: number;
  /** Minimum seconds between two requests because of unknown keys. Default 30. */
  readonly cooldown?: number;
  /** Maximum seconds that keys are cached; a key that the issuer has removed is refused after that. Default 600. */
  readonly cacheMaxAge?: number;
}

/** The scheme `jwt`: signed tokens of an external issuer, or of this server. */
export interface JwtOptions {
  /** The name by which a login selects the scheme. Default `jwt`. */
  readonly name?: string;
  /** The claim with the id of the user. Absent: that of the gateway. */
  readonly userIdClaim?: string;
  /** The claim with the name of the user. Absent: that of the gateway. */
  readonly userNameClaim?: string;
  /** Returns the address of the client. Absent: `remoteAddress` of the request. */
  readonly address?: (request: GatewayRequest) => string | null;
  /** Keys that verify tokens; several during a rotation. Each one is trusted for all accepted issuers. */
  readonly keys?: readonly JwtKey[];
  /** The public keys of an issuer by URL, in place of `keys` and `signingKey`. */
  readonly jwks?: JwksOptions | null;
  /** The key that signs the tokens of logins, and verifies tokens too. Null: the scheme does not support login. */
  readonly signingKey?: JwtKey | null;
  /** Seconds that the tokens of logins are valid. Default 3,600. */
  readonly lifetime?: number;
  /** Accepted issuers; the first one is the issuer of the tokens of logins. Null: any issuer. */
  readonly issuer?: string | readonly string[] | null;
  /** Accepted audiences; a token must name one of them. Null: any audience. */
  readonly audience?: string | readonly string[] | null;
  /**
   * Tokens that are accepted whatever their issuer and audience, such as the keys of Supabase, which have no audience.
   * Each must be signed by a key of the scheme, and not be expired.
   */
  readonly apiKeys?: readonly string[];
  /** Requires `issuer` and `audience`, which may be null, and https for `jwks`. Default true. */
  readonly production?: boolean;
  /** Seconds of clock skew that are tolerated. Default 30. */
  readonly clockTolerance?: number;
  /** Refuses tokens without an expiry. Default true. */
  readonly requireExpiry?: boolean;
  /** Maximum seconds since a token was issued, besides its own expiry; null: no maximum. */
  readonly maxTokenAge?: number | null;
  /** The required `typ` of the header, such as `at+jwt`; null: any. */
  readonly type?: string | null;
  /** Paths of claims in a token: `{"id": "sub", "roles": "realm_access.roles"}`. */
  readonly claims?: Readonly<Record<string, string | readonly string[]>>;
  /**
   * The sessions, by the `jti` of tokens; a token without `jti` is refused. Absent: the sessions that ended on this
   * instance, in memory.
   */
  readonly sessions?: SessionStore;
  /** Revocation by a version of each user: a change of the version invalidates the tokens issued before. */
  readonly versions?: JwtVersions | null;
  /** Reports why keys cannot be read. */
  readonly report?: (error: Error) => void;
}

/** Revocation by a version of each user: a change of the version invalidates the tokens issued before. */
export interface JwtVersions {
  /** The claim with the version at login. Default `version`. */
  readonly claim?: string;
  /** Returns the current version of a user id; null for an unknown user. An error fails the request. */
  readonly current: (userId: string) => Promise<string | null>;
  /** Seconds that a version is cached. Default 5. */
  readonly cacheSeconds?: number;
}

/** Failed logins before further ones are throttled: `perUser` of a user from an address, `perAddress` of all users. */
export interface LoginRateLimitOptions {
  /** Failed logins of a user from an address. Default 5. */
  readonly perUser?: number;
  /** Failed logins from an address. Default 50. */
  readonly perAddress?: number;
  /** Seconds that a failed login counts. Default 900. */
  readonly window?: number;
  /** Seconds of the first wait; each further failure doubles it. Default 1. */
  readonly firstWait?: number;
  /** Seconds of the longest wait. Default 900. */
  readonly longestWait?: number;
  /**
   * Maximum number of users and of addresses that are remembered; the least recently used ones are evicted. Default
   * 10,000.
   */
  readonly capacity?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}
