import { tokenAlgorithms } from '@pgway/core/internal';
import { z } from 'zod';
import { count, flag, optionalText, optionalTextList, secret, text, type Text, textList, textMap } from './fields.ts';

const lifetime = (byDefault: number, description: string): z.ZodDefault<z.ZodNumber> =>
  count(byDefault, description, 3_153_600_000);

const duration = (byDefault: number, description: string): z.ZodDefault<z.ZodNumber> =>
  z.number().positive().max(31_536_000).default(byDefault).describe(description);

const day = 86_400;

const schemeName = (byDefault: string): Text => text(byDefault, 'The name by which a login selects the scheme.');
const realm = text('pgway', 'The realm that the challenge names.');
const cacheSize = z.int().min(0).max(1_000_000).default(5_000).describe('Maximum number of tokens in the cache.');

const login = {
  production: z
    .boolean()
    .nullable()
    .default(null)
    .describe(
      'Refuses to start without what a public service needs: persistent keys encrypted with a secret. Null: true unless `host` is a loopback address. Unless false, JWTs need `issuer` and `audience`.',
    ),
  defaultAuthenticationType: optionalText(
    'The scheme of logins whose routine names none; null: the first enabled scheme, with the database name as authentication type.',
  ),
  statusColumnName: text('status', 'The column of a login row with a success flag or the HTTP status.'),
  messageColumnName: text('message', 'The column of a login row with the response body.'),
  schemeColumnName: text('scheme', 'The column of a login row that selects the scheme.'),
  hashColumnName: text('hash', 'The column of a login row with the password hash.'),
  passwordParameterNameContains: text(
    'pass',
    'The password is the first parameter of a login whose name contains this text.',
  ),
  allowNullHash: flag(
    false,
    'A NULL hash of a login or a challenge command means that the database has verified the password; false: the verification fails.',
  ),
  passwordVerificationFailedStatus: z
    .number()
    .int()
    .min(400)
    .max(499)
    .default(404)
    .describe(
      'The status after a wrong password and for an unknown user, where the row has a hash; 401 is what browsers and clients expect.',
    ),
  passwordVerificationFailedCommand: optionalText(
    'SQL to run after a wrong password, without delaying the response: `$1` scheme (if the row has one), `$2` user id, `$3` user name.',
  ),
  passwordVerificationSucceededCommand: optionalText('SQL to run after a correct password, with the same parameters.'),
  serializeAuthEndpointsResponse: flag(
    false,
    'Login and logout respond with the row of their routine where the scheme sends no response of its own.',
  ),
  obfuscateAuthParameterLogValues: flag(
    true,
    'Masks in the log the parameter values of login and logout, and of routines with a hashed parameter.',
  ),
};

const claimsAndContext = {
  defaultNameClaimType: text('name', 'The claim with the user name.'),
  defaultRoleClaimType: text('roles', 'The claim with the roles of the user.'),
  defaultUserIdClaimType: text('id', 'The claim with the user id.'),
  useUserContext: flag(false, 'Passes the caller to every call in settings of its transaction.'),
  useUserParameters: flag(false, 'Passes the caller to every call in those of the parameters below that it has.'),
  userIdContextKey: text('request.user_id', 'The setting that holds the id.'),
  userNameContextKey: text('request.user_name', 'The setting that holds the name.'),
  userRolesContextKey: text('request.user_roles', 'The setting that holds the roles, as the text of an array.'),
  ipAddressContextKey: text('request.ip_address', 'The setting that holds the address of the client.'),
  userClaimsContextKey: optionalText('The setting that holds all claims as JSON; null: none.'),
  userIdParameterName: text('_user_id', 'The parameter that receives the id.'),
  userNameParameterName: text('_user_name', 'The parameter that receives the name.'),
  userRolesParameterName: text('_user_roles', 'The parameter that receives the roles.'),
  userClaimsParameterName: text('_user_claims', 'The parameter that receives all claims as JSON.'),
  ipAddressParameterName: text('_ip_address', 'The parameter that receives the address of the client.'),
  databaseRole: z
    .strictObject({
      claim: optionalText('The claim that names the database role; null: calls run under the role of the connection.'),
      anonymous: optionalText('The role of callers without that claim; null: the role of the connection.'),
    })
    .prefault({})
    .describe('The database role that each call runs under (`set local role`).'),
};

const protection = {
  trustedProxies: textList(
    [],
    'Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted: addresses, CIDR blocks, `loopback`.',
  ),
  allowedOrigins: textList(
    [],
    'Origins that may send requests with credentials, besides the origin of this host: `https://app.example.org`.',
  ),
  crossSiteRequests: z
    .enum(['refuse', 'allow'])
    .nullable()
    .default(null)
    .describe(
      'Cross-site requests of unauthenticated callers that may change data; null: refused, unless `host` is an IP address that other machines reach. With cookies and HTTP Basic they are always refused.',
    ),
  antiforgeryPath: optionalText(
    'The path where callers with cookies get a CSRF (antiforgery) token, such as `/api/auth/antiforgery`; null: none.',
  ),
  loginRateLimit: z
    .strictObject({
      perUser: count(5, 'Failed logins of a user from an address.'),
      perAddress: count(50, 'Failed logins from an address.'),
      window: duration(900, 'Seconds that a failed login counts.'),
      firstWait: duration(1, 'Seconds of the first wait; each further failure doubles it.'),
      longestWait: duration(900, 'Seconds of the longest wait.'),
      capacity: count(10_000, 'Maximum number of users and of addresses that are remembered.'),
    })
    .prefault({})
    .describe(
      'Failed logins before further ones are throttled: `perUser` of a user from an address, `perAddress` of all users.',
    ),
  hashRateLimit: z
    .strictObject({
      perAddress: count(20, 'Requests of an address in a window.'),
      window: duration(60, 'Seconds of a window.'),
      capacity: count(10_000, 'Maximum number of addresses that are remembered.'),
    })
    .prefault({})
    .describe(
      'Requests that hash a parameter (`param … is hash of …`), such as sign-ups, before further ones are throttled.',
    ),
};

const authentication = z
  .strictObject({ ...login, ...claimsAndContext, ...protection })
  .prefault({})
  .describe('Authentication: logins, and what routines receive about the caller.');

const cookie = z
  .strictObject({
    enabled: flag(false, 'Enables logins with a session cookie.'),
    name: schemeName('cookie'),
    realm,
    cacheSize,
    cookieName: text('pgway', 'The name of the cookie; prefer `__Host-pgway` if every client uses TLS.'),
    lifetime: lifetime(14 * day, 'Seconds from login to the end of the session.'),
    sliding: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .describe('Seconds without a request after which the session ends earlier; null: no idle timeout.'),
    secure: z
      .enum(['auto', 'always'])
      .default('auto')
      .describe('The `Secure` attribute: on encrypted connections (`auto`), or always.'),
    sameSite: z
      .enum(['lax', 'strict'])
      .default('lax')
      .describe('The `SameSite` attribute: `lax` sends the cookie with links from other sites, `strict` does not.'),
    path: text('/', 'The `Path` attribute.'),
    domain: optionalText('The `Domain` attribute; null: this host alone.'),
  })
  .prefault({})
  .describe('The scheme `cookie`.');

const bearer = z
  .strictObject({
    enabled: flag(false, 'Enables logins with bearer tokens.'),
    name: schemeName('bearer'),
    realm,
    cacheSize,
    accessLifetime: lifetime(3600, 'Seconds that an access token is valid.'),
    refreshLifetime: lifetime(14 * day, 'Seconds that a refresh token is valid.'),
    sessionLifetime: lifetime(90 * day, 'Seconds from login in which tokens can be refreshed.'),
    refreshPath: text('/api/auth/refresh', 'The path that takes `{"refresh": "…"}` by POST and returns new tokens.'),
  })
  .prefault({})
  .describe('The scheme `bearer`: opaque tokens.');

const jwks = z
  .strictObject({
    url: optionalText('The URL of the public keys of the issuer (JWKS).'),
    algorithms: z
      .array(z.enum(['RS256', 'ES256']))
      .default(['RS256', 'ES256'])
      .describe('The algorithms of the keys.'),
    timeout: duration(5, 'Seconds before a request of the keys times out.'),
    cooldown: z
      .number()
      .min(0)
      .max(86_400)
      .default(30)
      .describe('Minimum seconds between two requests because of unknown keys.'),
    cacheMaxAge: duration(600, 'Maximum seconds that keys are cached; removed keys are refused after that.'),
  })
  .prefault({})
  .describe('The public keys of an issuer.');

/** Exactly one of `secret`, `pem` and `jwk`. */
const jwtKey = z
  .strictObject({
    secret: z.string().min(1).optional().describe('The secret of HS256, at least 32 bytes.'),
    pem: z.string().min(1).optional().describe('A public key, a private key or a certificate (PEM).'),
    jwk: z.record(z.string(), z.unknown()).optional().describe('A key in JSON (JWK).'),
    id: z.string().min(1).optional().describe('The `kid` of its tokens.'),
  })
  .refine(({ secret, pem, jwk }) => [secret, pem, jwk].filter((key) => key !== undefined).length === 1, {
    error: 'must have one of secret, pem and jwk',
  });

const jwt = z
  .strictObject({
    enabled: flag(false, 'Accepts signed tokens (JWT).'),
    name: schemeName('jwt'),
    realm,
    jwks,
    secret: secret(optionalText('Instead of `jwks.url`: the secret of HS256, at least 32 bytes.')),
    publicKey: optionalText('Instead of `jwks.url`: a public key or certificate (PEM).'),
    keys: secret(
      z
        .array(jwtKey)
        .default([])
        .describe(
          'Further keys that verify tokens, such as the previous ones during a rotation, each with `secret`, `pem` or `jwk`, and perhaps an `id`: `[{ "id": "2026", "secret": "…" }, { "pem": "…" }]`.',
        ),
    ),
    signingKey: secret(optionalText('A private key (PEM) that signs the tokens of logins.')),
    signWithSecret: flag(false, 'Signs the tokens of logins with `secret`.'),
    issuer: optionalTextList('Accepted issuers; the first one is the issuer of the tokens of logins.'),
    audience: optionalTextList('Accepted audiences; a token must name one of them.'),
    lifetime: lifetime(3600, 'Seconds that the tokens of logins are valid.'),
    clockTolerance: z.int().min(0).max(3600).default(30).describe('Seconds of clock skew that are tolerated.'),
    requireExpiry: flag(true, 'Refuses tokens without an expiry.'),
    maxTokenAge: z
      .number()
      .positive()
      .nullable()
      .default(null)
      .describe('Maximum seconds since a token was issued, besides its own expiry; null: no maximum.'),
    type: optionalText('The required `typ` of the header, such as `at+jwt`; null: any.'),
    claims: textMap('Paths of claims in a token: `{"id": "sub", "roles": "realm_access.roles"}`.'),
  })
  .prefault({})
  .describe('The scheme `jwt`: signed tokens of an external issuer, or of this server.');

const basic = z
  .strictObject({
    user: optionalText('The user name, for a single user.'),
    hash: secret(optionalText('The password hash of that user.')),
    command: optionalText(
      'SQL that authenticates a user and returns claims: `$1` user, `$2` password, `$3` realm, `$4` path.',
    ),
    realm,
  })
  .prefault({})
  .describe('The scheme `basic` (HTTP Basic), for all endpoints; enabled when a user or a command is set.');

const dataProtection = z
  .strictObject({
    folder: optionalText(
      'The folder of the keys that encrypt cookies and tokens. Without folder and commands, keys last as long as the process.',
    ),
    readCommand: optionalText('Instead of the folder: SQL that returns a row with the text of each key.'),
    writeCommand: optionalText('SQL that inserts a key unless it exists: `$1` id, `$2` text.'),
    secret: secret(
      optionalText(
        'Encrypts the stored keys, and values of the configuration (`pgway encrypt`); at least 16 characters.',
      ),
    ),
    previousSecrets: secret(
      textList(
        [],
        'Earlier values of `secret`, which still decrypt stored keys and values of the configuration, so that the secret can be changed.',
      ),
    ),
    algorithm: z
      .enum(tokenAlgorithms)
      .default('A256GCM')
      .describe(
        'The algorithm of new cookies and tokens (JWE): AES-GCM, or AES-CBC with HMAC. Those of the other algorithms stay valid.',
      ),
    application: text('pgway', 'Separates the keys of several applications in one store.'),
    keyLifetime: lifetime(90 * day, 'Seconds that a key is used for encryption; older keys still decrypt.'),
  })
  .prefault({})
  .describe('The keys of cookies and tokens.');

const sessions = z
  .strictObject({
    beginCommand: optionalText(
      'SQL that inserts a session at login: `$1` session, `$2` user id, `$3` user name, `$4` scheme, `$5` address, `$6` user agent, `$7` end.',
    ),
    checkCommand: optionalText('SQL that returns a row with true while the session `$1` is valid.'),
    endCommand: optionalText('SQL that ends the session `$1`.'),
    refreshCommand: optionalText(
      'SQL that returns a row with true, once, for the refresh token number `$2` of the session `$1`.',
    ),
    cacheSeconds: z
      .number()
      .min(0)
      .max(86_400)
      .default(5)
      .describe('Seconds that the result of `checkCommand` is cached for a valid session.'),
    channel: optionalText('A NOTIFY channel whose payloads are ended sessions.'),
  })
  .prefault({})
  .describe('A session table, shared by all instances. Set the first three commands, or none.');

/** The sections of authentication. */
export const authenticationSections = { authentication, cookie, bearer, jwt, basic, dataProtection, sessions };
