import { z } from 'zod';

const text = (what: string): z.ZodDefault<z.ZodNullable<z.ZodString>> =>
  z.string().min(1).nullable().default(null).describe(what);
const name = (fallback: string, what: string): z.ZodDefault<z.ZodString> =>
  z.string().min(1).default(fallback).describe(what);
const flag = (fallback: boolean, what: string): z.ZodDefault<z.ZodBoolean> =>
  z.boolean().default(fallback).describe(what);
const lifetime = (fallback: number, what: string): z.ZodDefault<z.ZodNumber> =>
  z.int().min(1).max(3_153_600_000).default(fallback).describe(what);

const day = 86_400;

const authentication = z
  .strictObject({
    production: z
      .boolean()
      .nullable()
      .default(null)
      .describe(
        'Refuses to start where what a public service needs is missing: kept keys with a secret; null: when `host` is not an address of this machine alone. Issuer and audience of JWTs have to be said unless this is false.',
      ),
    defaultAuthenticationType: text(
      'The scheme that signs in where the login routine names none; null: the first there is, under the name of the database.',
    ),
    statusColumnName: name('status', 'The column of a login that tells success, or the status of the answer.'),
    messageColumnName: name('message', 'The column of a login that is the body of the answer.'),
    schemeColumnName: name('scheme', 'The column of a login that chooses the scheme.'),
    hashColumnName: name('hash', 'The column of a login that holds the hash of the password.'),
    passwordParameterNameContains: name(
      'pass',
      'The first parameter of a login whose name contains this is the password.',
    ),
    allowNullHash: flag(
      false,
      'A NULL in the hash column of a login or of a challenge command means that the database has verified the password itself; false: it is a failed verification.',
    ),
    passwordVerificationFailedCommand: text(
      'SQL after a wrong password, which the answer does not wait for: `$1` scheme, where the row names one, `$2` user id, `$3` user name.',
    ),
    passwordVerificationSucceededCommand: text('SQL after a right password, with the same values.'),
    serializeAuthEndpointsResponse: flag(
      false,
      'Login and logout answer with the row of their routine, where the scheme says nothing.',
    ),
    obfuscateAuthParameterLogValues: flag(
      true,
      'The values of login and logout, and of routines that take a hash of a parameter, never reach the log.',
    ),
    defaultNameClaimType: name('name', "The claim that is the user's name."),
    defaultRoleClaimType: name('roles', "The claim that holds the user's roles."),
    defaultUserIdClaimType: name('id', "The claim that is the user's id."),
    useUserContext: flag(false, 'Every call is told of its caller by settings of its transaction.'),
    useUserParameters: flag(false, 'Every call is told of its caller by the parameters below that it has.'),
    userIdContextKey: name('request.user_id', 'The setting that holds the id.'),
    userNameContextKey: name('request.user_name', 'The setting that holds the name.'),
    userRolesContextKey: name('request.user_roles', 'The setting that holds the roles, as the text of an array.'),
    ipAddressContextKey: name('request.ip_address', "The setting that holds the client's address."),
    userClaimsContextKey: text('The setting that holds all claims as JSON; null: none does.'),
    userIdParameterName: name('_user_id', 'The parameter that takes the id.'),
    userNameParameterName: name('_user_name', 'The parameter that takes the name.'),
    userRolesParameterName: name('_user_roles', 'The parameter that takes the roles.'),
    userClaimsParameterName: name('_user_claims', 'The parameter that takes all claims as JSON.'),
    ipAddressParameterName: name('_ip_address', "The parameter that takes the client's address."),
    userRoleContext: text(
      'The claim that names the database role which calls run under (`set local role`); null: none.',
    ),
    anonymousRole: text(
      'With `userRoleContext`, the role of callers without that claim; null: that of the connection.',
    ),
    trustedProxies: z
      .array(z.string())
      .default([])
      .describe(
        'Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed: addresses, CIDR blocks, `loopback`.',
      ),
    allowedOrigins: z
      .array(z.string())
      .default([])
      .describe('Origins whose pages may act for callers, besides those of this host: `https://app.example.org`.'),
    crossSite: z
      .enum(['refuse', 'allow'])
      .nullable()
      .default(null)
      .describe(
        'What becomes of requests that may change data, of callers who are not signed in, when a page of another site makes them; null: refused, unless `host` is an IP address that other machines reach. With cookies and HTTP Basic they are always refused.',
      ),
    antiforgeryPath: text(
      'Where callers with cookies get an antiforgery token, such as `/api/auth/antiforgery`; null: nowhere.',
    ),
    attemptsPerUser: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(5)
      .describe('Failed sign-ins of a user from an address before it has to wait.'),
    attemptsPerAddress: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(50)
      .describe('Failed sign-ins from an address before it has to wait.'),
    hashRequestsPerAddress: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(20)
      .describe(
        'Requests of an address in a minute that have a parameter hashed (`param … is hash of …`), such as sign-ups.',
      ),
  })
  .prefault({})
  .describe('Who calls: sign-in, and what routines learn of their callers.');

const cookie = z
  .strictObject({
    enabled: flag(false, 'Login routines may sign in by a cookie.'),
    cookieName: name('pgway', 'The name of the cookie; `__Host-pgway` is better under TLS alone.'),
    lifetime: lifetime(14 * day, 'Seconds from sign-in to the end of the session.'),
    sliding: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .describe('Seconds without a request after which the session ends before that.'),
    secure: z
      .enum(['auto', 'always'])
      .default('auto')
      .describe('`Secure` when the connection is encrypted, or always.'),
    sameSite: z
      .enum(['lax', 'strict'])
      .default('lax')
      .describe('Whether the cookie comes along with links from other sites.'),
    path: name('/', 'The path that the cookie is for.'),
    domain: text('The domain that the cookie is for; null: this host alone.'),
  })
  .prefault({})
  .describe('The scheme `cookie`.');

const bearer = z
  .strictObject({
    enabled: flag(false, 'Login routines may sign in by tokens.'),
    accessLifetime: lifetime(3600, 'Seconds for which an access token counts.'),
    refreshLifetime: lifetime(14 * day, 'Seconds in which a refresh token can be used.'),
    sessionLifetime: lifetime(90 * day, 'Seconds from sign-in in which tokens can be refreshed.'),
    refreshPath: name('/api/auth/refresh', 'Where `{"refresh": "…"}` is posted for new tokens.'),
  })
  .prefault({})
  .describe('The scheme `bearer`: opaque tokens.');

const jwt = z
  .strictObject({
    enabled: flag(false, 'Signed tokens (JWT) are recognised.'),
    jwksUrl: text('Where the public keys of their issuer are.'),
    secret: text('In place of that, the secret of HS256; at least 32 bytes.'),
    publicKey: text('In place of that, a public key or certificate (PEM).'),
    signingKey: text('A private key (PEM): login routines may sign in by tokens that it signs.'),
    signWithSecret: flag(false, 'Login routines may sign in by tokens that `secret` signs.'),
    issuer: z
      .array(z.string())
      .nullable()
      .default(null)
      .describe('Who must have issued a token; the first is who we are.'),
    audience: z.array(z.string()).nullable().default(null).describe('Whom a token must be for: one of these.'),
    lifetime: lifetime(3600, 'Seconds for which our own tokens count.'),
    clockTolerance: z.int().min(0).max(3600).default(30).describe('Seconds by which clocks may differ.'),
    claims: z
      .record(z.string(), z.string())
      .default({})
      .describe('Where claims stand in a token: `{"id": "sub", "roles": "realm_access.roles"}`.'),
  })
  .prefault({})
  .describe('The scheme `jwt`: signed tokens of others, or of our own.');

const basic = z
  .strictObject({
    user: text('The one user.'),
    hash: text("The hash of the user's password."),
    command: text('SQL that knows who it is: `$1` user, `$2` password, `$3` realm, `$4` path.'),
    realm: name('pgway', 'What the password is for.'),
  })
  .prefault({})
  .describe('The scheme `basic` (HTTP Basic), for all endpoints; it is there when a user or a command is given.');

const dataProtection = z
  .strictObject({
    folder: text(
      'A folder for the keys that cookies and tokens are encrypted with; without one, nor commands, they end with the process.',
    ),
    readCommand: text('In place of the folder, SQL that gives a row for each key: its text.'),
    writeCommand: text('SQL that adds a key, and leaves one that is there: `$1` id, `$2` text.'),
    secret: text('Encrypts the keys where they are kept; at least 16 characters.'),
    application: name('pgway', 'Tells the keys of several applications in one place apart.'),
    keyLifetime: lifetime(
      90 * day,
      'Seconds for which a key encrypts; what it has encrypted can be read after that too.',
    ),
  })
  .prefault({})
  .describe('The keys of cookies and tokens.');

const sessions = z
  .strictObject({
    beginCommand: text(
      'SQL for a sign-in: `$1` session, `$2` user id, `$3` user name, `$4` scheme, `$5` address, `$6` user agent, `$7` end.',
    ),
    checkCommand: text('SQL that gives a row with true while the session `$1` is alive.'),
    endCommand: text('SQL that ends the session `$1`.'),
    refreshCommand: text(
      'SQL that gives a row with true, once, for the refresh token number `$2` of the session `$1`.',
    ),
    trust: z
      .number()
      .min(0)
      .max(86_400)
      .default(5)
      .describe('Seconds for which a session that was found alive is believed to be.'),
    channel: text('A channel of NOTIFY whose payloads are sessions that have ended.'),
  })
  .prefault({})
  .describe('A table of sessions, so that all instances know which have ended: all three commands, or none.');

export const signIn = { authentication, cookie, bearer, jwt, basic, dataProtection, sessions };
