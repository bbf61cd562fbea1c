import type { HeaderList } from '../http/response.ts';

/**
 * A claim about the caller. A name may occur several times, with one value each. With `json` the value is the JSON text of a number,
 * a boolean, an object or an array, else a string.
 */
export type Claim = readonly [name: string, value: string, kind?: 'json'];

/** An authenticated caller. */
export interface Caller {
  /** The name of the scheme that authenticated the caller. */
  readonly scheme: string;
  readonly claims: readonly Claim[];
  /**
   * The issuer of the identity, such as that of a JWT: two issuers may have users of one name. Null for logins at this gateway; omitted: the
   * scheme itself.
   */
  readonly issuer?: string | null;
  /** The claims of a token as JSON text, as they were signed; omitted: the caller has no token with claims. */
  readonly payload?: string;
  /** The session id, which logout and revocation end; null: credentials without a session. */
  readonly session: string | null;
  /** Whether browsers send the credentials automatically (cookies, Basic), so that requests need a CSRF check. */
  readonly sentByBrowser: boolean;
  /**
   * Headers of every response to the caller, such as a renewed cookie; omitted for login and logout. A response with them is not
   * cached.
   */
  readonly headers?: HeaderList;
}
