import { endpointAuthenticationOptions } from '../../endpoints/authentication-options.ts';
import { tokenAlgorithms } from '../../auth-schemes/keys/token-algorithm.ts';
import type { KeyStorage } from '../../auth-schemes/keys/key-storage.ts';
import {
  bearerOptions,
  cookieOptions,
  hashRateLimitOptions,
  jwtOptions,
  loginRateLimitOptions,
} from '../../auth-schemes/options.ts';
import type { AuthScheme, LoginRateLimiter, PasswordHasher, RateLimiter } from '../../ports/ports.ts';
import { option, optionGroup, type OptionGroup, requiredOption } from '../../validation/option.ts';
import {
  arrayOf,
  boolean,
  callback,
  implementation,
  integer,
  nonEmptyString,
  nullable,
  number,
  oneOf,
  secret,
  string,
  union,
} from '../../validation/validators.ts';
import type { ExternalSignIn } from '../external-sign-in.ts';
import type {
  AuthenticationOptions,
  BasicOptions,
  DatabaseRoleOptions,
  DataProtectionOptions,
  SessionOptions,
} from './options.generated.ts';

export type {
  AuthenticationOptions,
  BasicOptions,
  DatabaseRoleOptions,
  DataProtectionOptions,
  SessionOptions,
} from './options.generated.ts';

const ports = '../../ports/ports.ts';
const isPartial = true;
const optionalText = nullable(nonEmptyString);

export const basicOptions: OptionGroup<BasicOptions> = optionGroup<BasicOptions>(
  'BasicOptions',
  'The scheme `basic` (HTTP Basic), for all endpoints: one user, or the users that the command finds.',
  {
    user: option(optionalText, null, 'The user name, for a single user.'),
    hash: option(nullable(secret), null, 'The password hash of that user.'),
    command: option(
      optionalText,
      null,
      'SQL that authenticates a user and returns claims: `$1` user, `$2` password, `$3` realm, `$4` path.',
    ),
  },
  { isPartial },
);

export const dataProtectionOptions: OptionGroup<DataProtectionOptions> = optionGroup<DataProtectionOptions>(
  'DataProtectionOptions',
  'The keys of cookies and tokens.',
  {
    folder: option(
      optionalText,
      null,
      'The folder of the keys that encrypt cookies and tokens. Without folder and commands, keys last as long as the process.',
    ),
    readCommand: option(optionalText, null, 'Instead of the folder: SQL that returns a row with the text of each key.'),
    writeCommand: option(optionalText, null, 'SQL that inserts a key unless it exists: `$1` id, `$2` text.'),
    storage: option(
      nullable(
        implementation<KeyStorage>('KeyStorage', '../../auth-schemes/keys/key-storage.ts', [
          'read',
          'write',
          'warning',
        ]),
      ),
      null,
      'Instead of the folder and the commands: a custom storage.',
    ),
    secret: option(
      nullable(secret),
      null,
      'Encrypts the stored keys, and values of the configuration (`pgway encrypt`); at least 16 characters.',
    ),
    previousSecrets: option(
      arrayOf(secret),
      [],
      'Earlier values of `secret`, which still decrypt stored keys and values of the configuration, so that the secret can be changed.',
    ),
    algorithm: option(
      oneOf(...tokenAlgorithms),
      'A256GCM',
      'The algorithm of new cookies and tokens (JWE): AES-GCM, or AES-CBC with HMAC. Those of the other algorithms stay valid.',
    ),
    application: option(nonEmptyString, 'pgway', 'Separates the keys of several applications in one store.'),
    keyLifetime: option(
      integer({ min: 1, max: 3_153_600_000 }),
      90 * 86_400,
      'Seconds that a key is used for encryption; older keys still decrypt.',
    ),
  },
  { isPartial },
);

export const sessionOptions: OptionGroup<SessionOptions> = optionGroup<SessionOptions>(
  'SessionOptions',
  'A session table, shared by all instances. Without it, each instance remembers the sessions that ended on it.',
  {
    beginCommand: requiredOption(
      nonEmptyString,
      'SQL that inserts a session at login: `$1` session, `$2` user id, `$3` user name, `$4` scheme, `$5` address, `$6` user agent, `$7` end.',
    ),
    checkCommand: requiredOption(nonEmptyString, 'SQL that returns a row with true while the session `$1` is valid.'),
    endCommand: requiredOption(nonEmptyString, 'SQL that ends the session `$1`.'),
    refreshCommand: option(
      optionalText,
      null,
      'SQL that returns a row with true, once, for the refresh token number `$2` of the session `$1`.',
    ),
    cacheSeconds: option(
      number({ min: 0, max: 86_400 }),
      5,
      'Seconds that the result of `checkCommand` is cached for a valid session.',
    ),
    channel: option(
      optionalText,
      null,
      'A NOTIFY channel whose payloads are ended sessions, which every instance evicts at once, with their streams.',
    ),
  },
  { isPartial },
);

export const databaseRoleOptions: OptionGroup<DatabaseRoleOptions> = optionGroup<DatabaseRoleOptions>(
  'DatabaseRoleOptions',
  'The database role that each call runs under (`set local role`).',
  {
    claim: requiredOption(string, 'The claim whose first value names the database role.'),
    anonymous: option(
      optionalText,
      null,
      'The role of callers without that claim, anonymous ones included; null: the role of the connection.',
    ),
  },
  { isPartial },
);

export const authenticationOptions: OptionGroup<AuthenticationOptions> = optionGroup<AuthenticationOptions>(
  'AuthenticationOptions',
  'Authentication: logins, and what routines receive about the caller.',
  {
    ...endpointAuthenticationOptions.options,
    cookie: option(union(boolean, cookieOptions), false, 'Logins with a session cookie; true: with the defaults.'),
    bearer: option(union(boolean, bearerOptions), false, 'Logins with bearer tokens; true: with the defaults.'),
    jwt: option(
      nullable(union(jwtOptions, arrayOf(jwtOptions))),
      null,
      'Signed tokens (JWT) of external issuers or of this server. Several schemes are tried in order.',
    ),
    basic: option(nullable(basicOptions), null, 'HTTP Basic for the whole gateway.'),
    externalSignIn: option(
      nullable(implementation<ExternalSignIn>('ExternalSignIn', '../external-sign-in.ts', ['routes'])),
      null,
      'Sign-in through external providers in the browser, of `@pgway/external-sign-in`; its users get a session of a scheme above.',
    ),
    realm: option(string, 'pgway', 'The realm that the challenges of the schemes name.'),
    schemes: option(
      arrayOf(implementation<AuthScheme>('AuthScheme', ports, ['authenticate', 'challenge'])),
      [],
      'Custom schemes, tried before the built-in ones.',
    ),
    dataProtection: option(dataProtectionOptions, {}, 'The keys of cookies and tokens.'),
    sessions: option(nullable(sessionOptions), null, 'A session table, shared by all instances.'),
    wrapSessions: option(
      nullable(
        callback('(sessions: SessionStore) => SessionStore', { SessionStore: '../../auth-schemes/sessions.ts' }),
      ),
      null,
      'Wraps the session store, for a host of several processes that share ended sessions; null: each instance has its own.',
    ),
    defaultAuthenticationType: option(
      optionalText,
      null,
      'The scheme of logins whose routine names none; null: the first enabled scheme, with the database name as authentication type.',
    ),
    defaultNameClaimType: option(nonEmptyString, 'name', 'The claim with the user name.'),
    defaultRoleClaimType: option(nonEmptyString, 'roles', 'The claim with the roles of the user.'),
    defaultUserIdClaimType: option(nonEmptyString, 'id', 'The claim with the user id.'),
    userIdContextKey: option(nonEmptyString, 'request.user_id', 'The setting that holds the id.'),
    userNameContextKey: option(nonEmptyString, 'request.user_name', 'The setting that holds the name.'),
    userRolesContextKey: option(
      nonEmptyString,
      'request.user_roles',
      'The setting that holds the roles, as the text of an array.',
    ),
    ipAddressContextKey: option(
      nonEmptyString,
      'request.ip_address',
      'The setting that holds the address of the client.',
    ),
    userClaimsContextKey: option(optionalText, null, 'The setting that holds all claims as JSON; null: none.'),
    databaseRole: option(
      nullable(databaseRoleOptions),
      null,
      'Runs each call under the database role of its caller (`set local role`); null: under the role of the connection.',
    ),
    passwordHasher: option(
      nullable(implementation<PasswordHasher>('PasswordHasher', ports, ['hash', 'verify', 'verifyDummy'])),
      null,
      'Hashes and verifies passwords; null: PBKDF2-HMAC-SHA256 with 600,000 rounds.',
    ),
    allowNullHash: option(
      boolean,
      false,
      'A NULL hash of a login or a challenge command means that the database has verified the password; false: the verification fails.',
    ),
    passwordVerificationFailedStatus: option(
      integer({ min: 400, max: 499 }),
      404,
      'The status after a wrong password and for an unknown user, where the row has a hash; 401 is what browsers and clients expect.',
    ),
    passwordVerificationFailedCommand: option(
      optionalText,
      null,
      'SQL to run after a wrong password, without delaying the response: `$1` scheme (if the row has one), `$2` user id, `$3` user name.',
    ),
    passwordVerificationSucceededCommand: option(
      optionalText,
      null,
      'SQL to run after a correct password, with the same parameters.',
    ),
    serializeAuthEndpointsResponse: option(
      boolean,
      false,
      'Login and logout respond with the row of their routine where the scheme sends no response of its own.',
    ),
    loginRateLimit: option(
      union(
        loginRateLimitOptions,
        implementation<LoginRateLimiter>('LoginRateLimiter', ports, ['consume', 'complete']),
      ),
      {},
      'The rate limit of failed logins: a custom limiter, or the limits of the built-in one.',
    ),
    hashRateLimit: option(
      union(hashRateLimitOptions, implementation<RateLimiter>('RateLimiter', ports, ['consume'])),
      {},
      'The rate limit of requests that hash a parameter (`param … is hash of …`): a custom limiter, or the limits of the built-in one.',
    ),
    trustedProxies: option(
      arrayOf(string),
      [],
      'Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted: addresses, CIDR blocks, `loopback`.',
    ),
    allowedOrigins: option(
      arrayOf(string),
      [],
      'Origins that may send requests with credentials, besides the origin of this host: `https://app.example.org`.',
    ),
    crossSiteRequests: option(
      oneOf('refuse', 'allow'),
      'refuse',
      'Cross-site requests of unauthenticated callers that may change data: `refuse` (403) or `allow`, which is for public services only: on a loopback address or in an intranet, any web page that a user opens could write. With cookies and HTTP Basic they are always refused.',
    ),
    antiforgeryPath: option(
      optionalText,
      null,
      'The path where callers with cookies get a CSRF (antiforgery) token, such as `/api/auth/antiforgery`; null: none.',
    ),
    production: option(
      boolean,
      false,
      'Refuses to start without what a public service needs: persistent keys encrypted with a secret.',
    ),
  },
);
