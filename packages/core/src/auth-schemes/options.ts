import { optionalOption, option, optionGroup, type OptionGroup, requiredOption } from '../validation/option.ts';
import {
  arrayOf,
  boolean,
  callback,
  hidden,
  implementation,
  integer,
  jsonObject,
  nonEmptyString,
  nullable,
  number,
  oneOf,
  recordOf,
  secret,
  string,
  union,
  type Validator,
} from '../validation/validators.ts';
import type { JwtKey } from './jwt-keys.ts';
import type {
  BearerOptions,
  CookieOptions,
  JwksOptions,
  JwtOptions,
  JwtVersions,
  LoginRateLimitOptions,
  RateLimitOptions,
} from './options.generated.ts';
import type { SessionStore } from './sessions.ts';

export type {
  BearerOptions,
  CookieOptions,
  JwksOptions,
  JwtOptions,
  JwtVersions,
  LoginRateLimitOptions,
  RateLimitOptions,
} from './options.generated.ts';

const day = 86_400;
const isPartial = true;

const count = integer({ min: 1, max: 1_000_000 });
/** Seconds; at most a century. */
const lifetime = integer({ min: 1, max: 3_153_600_000 });
/** Seconds; at most a year. */
const duration = number({ min: 0, max: 31_536_000 });
const window = number({ above: 0, max: 31_536_000 });
const clock = callback<() => number>('() => number');
const clockText = 'Milliseconds since 1970.';

const name = (byDefault: string) => option(nonEmptyString, byDefault, 'The name by which a login selects the scheme.');

export const cookieOptions: OptionGroup<CookieOptions> = optionGroup<CookieOptions>(
  'CookieOptions',
  'The scheme `cookie`.',
  {
    name: name('cookie'),
    cookieName: option(
      nonEmptyString,
      'pgway',
      'The name of the cookie; prefer `__Host-pgway` if every client uses TLS: browsers accept it from this host only, so that other hosts of the domain cannot set it.',
    ),
    lifetime: option(lifetime, 14 * day, 'Seconds from login to the end of the session.'),
    sliding: option(
      nullable(lifetime),
      null,
      'Seconds without a request after which the session ends earlier; null: no idle timeout.',
    ),
    secure: option(
      oneOf('auto', 'always'),
      'auto',
      'The `Secure` attribute: on encrypted connections (`auto`), or always.',
    ),
    sameSite: option(
      oneOf('lax', 'strict'),
      'lax',
      'The `SameSite` attribute: `lax` sends the cookie with links from other sites, `strict` does not.',
    ),
    path: option(nonEmptyString, '/', 'The `Path` attribute.'),
    domain: option(nullable(nonEmptyString), null, 'The `Domain` attribute; null: this host alone.'),
  },
  { isPartial },
);

export const bearerOptions: OptionGroup<BearerOptions> = optionGroup<BearerOptions>(
  'BearerOptions',
  'The scheme `bearer`: opaque tokens.',
  {
    name: name('bearer'),
    accessLifetime: option(lifetime, 3_600, 'Seconds that an access token is valid.'),
    refreshLifetime: option(lifetime, 14 * day, 'Seconds that a refresh token is valid.'),
    sessionLifetime: option(lifetime, 90 * day, 'Seconds from login in which tokens can be refreshed.'),
    refreshPath: option(
      nonEmptyString,
      '/api/auth/refresh',
      'The path that takes `{"refresh": "…"}` by POST and returns new tokens.',
    ),
    renewClaims: optionalOption(
      callback('(claims: readonly Claim[], session: string) => Promise<readonly Claim[] | null>', {
        Claim: '../ports/ports.ts',
      }),
      'Returns the claims of refreshed tokens; null ends the session. Absent: the claims of the login.',
    ),
  },
  { isPartial },
);

export const jwksOptions: OptionGroup<JwksOptions> = optionGroup<JwksOptions>(
  'JwksOptions',
  'The keys of the issuer, read from its JWKS document.',
  {
    url: requiredOption(
      string,
      'The URL of the public keys of the issuer (JWKS): https; http for loopback addresses, and for other hosts outside production.',
    ),
    algorithms: option(arrayOf(oneOf('RS256', 'ES256')), ['RS256', 'ES256'], 'The algorithms of the keys.'),
    timeout: option(number({ above: 0, max: 300 }), 5, 'Seconds before the request times out.'),
    cooldown: option(duration, 30, 'Minimum seconds between two requests because of unknown keys.'),
    cacheMaxAge: option(
      number({ above: 0, max: 31_536_000 }),
      600,
      'Maximum seconds that keys are cached; a key that the issuer has removed is refused after that.',
    ),
  },
  { isPartial },
);

export const jwtVersions: OptionGroup<JwtVersions> = optionGroup<JwtVersions>(
  'JwtVersions',
  'Revocation by a version of each user: a change of the version invalidates the tokens issued before.',
  {
    claim: option(string, 'version', 'The claim with the version at login.'),
    current: requiredOption(
      callback('(userId: string) => Promise<string | null>'),
      'Returns the current version of a user id; null for an unknown user. An error fails the request.',
    ),
    cacheSeconds: option(duration, 5, 'Seconds that a version is cached.'),
  },
  { isPartial },
);

interface KeyMembers {
  readonly secret?: string | Uint8Array;
  readonly pem?: string;
  readonly jwk?: object;
  readonly id?: string;
}

const keyForms = ['secret', 'pem', 'jwk'];

/** One of `secret`, `pem` and `jwk`, with or without an id. */
const keyMembers: OptionGroup<KeyMembers> = optionGroup<KeyMembers>(
  'JwtKey',
  'A key of tokens.',
  {
    secret: optionalOption(
      union(secret, implementation<Uint8Array>('Uint8Array', '', [])),
      'The secret of HS256, at least 32 bytes; text counts as UTF-8.',
    ),
    pem: optionalOption(secret, 'A public key, a private key or a certificate (PEM).'),
    jwk: optionalOption(hidden(jsonObject), 'A key in JSON (JWK).'),
    id: optionalOption(nonEmptyString, 'The `kid` of its tokens. Absent: the `kid` of the JWK.'),
  },
  {
    isPartial,
    check: (key) =>
      keyForms.filter((form) => key[form] !== undefined).length === 1
        ? []
        : [{ path: [], message: 'must have one of secret, pem and jwk' }],
  },
);

/** Not a group of options: the key is a value. */
const { table: _, ...keyValue } = keyMembers;
const jwtKey = {
  ...keyValue,
  source: { text: 'JwtKey', imports: { JwtKey: './jwt-keys.ts' } },
} as unknown as Validator<JwtKey>;

const claimNames = {
  userIdClaim: optionalOption(string, 'The claim with the id of the user. Absent: that of the gateway.'),
  userNameClaim: optionalOption(string, 'The claim with the name of the user. Absent: that of the gateway.'),
};

export const jwtOptions: OptionGroup<JwtOptions> = optionGroup<JwtOptions>(
  'JwtOptions',
  'The scheme `jwt`: signed tokens of an external issuer, or of this server.',
  {
    name: name('jwt'),
    ...claimNames,
    address: optionalOption(
      callback('(request: GatewayRequest) => string | null', { GatewayRequest: '../http/request.ts' }),
      'Returns the address of the client. Absent: `remoteAddress` of the request.',
    ),
    keys: option(
      arrayOf(jwtKey),
      [],
      'Keys that verify tokens; several during a rotation. Each one is trusted for all accepted issuers.',
    ),
    jwks: option(
      nullable(jwksOptions),
      null,
      'The public keys of an issuer by URL, in place of `keys` and `signingKey`.',
    ),
    signingKey: option(
      nullable(jwtKey),
      null,
      'The key that signs the tokens of logins, and verifies tokens too. Null: the scheme does not support login.',
    ),
    lifetime: option(lifetime, 3_600, 'Seconds that the tokens of logins are valid.'),
    issuer: optionalOption(
      nullable(union(string, arrayOf(string))),
      'Accepted issuers; the first one is the issuer of the tokens of logins. Null: any issuer.',
    ),
    audience: optionalOption(
      nullable(union(string, arrayOf(string))),
      'Accepted audiences; a token must name one of them. Null: any audience.',
    ),
    apiKeys: option(
      arrayOf(secret),
      [],
      'Tokens that are accepted whatever their issuer and audience, such as the keys of Supabase, which have no audience. Each must be signed by a key of the scheme, and not be expired.',
    ),
    production: option(boolean, true, 'Requires `issuer` and `audience`, which may be null, and https for `jwks`.'),
    clockTolerance: option(number({ min: 0, max: 3_600 }), 30, 'Seconds of clock skew that are tolerated.'),
    requireExpiry: option(boolean, true, 'Refuses tokens without an expiry.'),
    maxTokenAge: option(
      nullable(number({ above: 0, max: 31_536_000 })),
      null,
      'Maximum seconds since a token was issued, besides its own expiry; null: no maximum.',
    ),
    type: option(nullable(nonEmptyString), null, 'The required `typ` of the header, such as `at+jwt`; null: any.'),
    claims: option(
      recordOf(union(string, arrayOf(string))),
      {},
      'Paths of claims in a token: `{"id": "sub", "roles": "realm_access.roles"}`.',
    ),
    sessions: optionalOption(
      implementation<SessionStore>('SessionStore', './sessions.ts', [
        'begin',
        'isAlive',
        'end',
        'useRefreshToken',
        'invalidate',
        'invalidateAll',
      ]),
      'The sessions, by the `jti` of tokens; a token without `jti` is refused. Absent: the sessions that ended on this instance, in memory.',
    ),
    versions: option(
      nullable(jwtVersions),
      null,
      'Revocation by a version of each user: a change of the version invalidates the tokens issued before.',
    ),
    report: optionalOption(callback('(error: Error) => void'), 'Reports why keys cannot be read.'),
  },
  { isPartial },
);

export const loginRateLimitOptions: OptionGroup<LoginRateLimitOptions> = optionGroup<LoginRateLimitOptions>(
  'LoginRateLimitOptions',
  'Failed logins before further ones are throttled: `perUser` of a user from an address, `perAddress` of all users.',
  {
    perUser: option(count, 5, 'Failed logins of a user from an address.'),
    perAddress: option(count, 50, 'Failed logins from an address.'),
    window: option(window, 900, 'Seconds that a failed login counts.'),
    firstWait: option(duration, 1, 'Seconds of the first wait; each further failure doubles it.'),
    longestWait: option(duration, 900, 'Seconds of the longest wait.'),
    capacity: option(
      count,
      10_000,
      'Maximum number of users and of addresses that are remembered; the least recently used ones are evicted.',
    ),
    now: optionalOption(clock, clockText),
  },
  { isPartial },
);

export const hashRateLimitOptions: OptionGroup<RateLimitOptions> = optionGroup<RateLimitOptions>(
  'RateLimitOptions',
  'Requests that hash a parameter (`param … is hash of …`), such as sign-ups, before further ones are throttled.',
  {
    perAddress: option(count, 20, 'Requests of an address in a window.'),
    window: option(window, 60, 'Seconds of a window.'),
    capacity: option(
      count,
      10_000,
      'Maximum number of addresses that are remembered; the least recently used one is evicted.',
    ),
    now: optionalOption(clock, clockText),
  },
  { isPartial },
);
