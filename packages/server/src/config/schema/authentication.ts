import {
  authenticationOptions,
  basicOptions,
  bearerOptions,
  cookieOptions,
  databaseRoleOptions,
  dataProtectionOptions,
  hashRateLimitOptions,
  hidden,
  jwksOptions,
  jwtOptions,
  loginRateLimitOptions,
  matching,
  nullable,
  option,
  recordOf,
  sessionOptions,
} from '@pgway/core/internal';
import { externalSignInOptions } from '@pgway/external-sign-in/internal';
import { flag, optionalFlag, optionalSecret, optionalText, optionalTextList } from './fields.ts';
import { fileOptions, section, changed } from './section.ts';

const library = authenticationOptions.options;

const authentication = section('Authentication: logins, and what routines receive about the caller.', {
  ...fileOptions(authenticationOptions, 'cookie', 'bearer', 'jwt', 'basic', 'dataProtection', 'sessions', 'realm'),
  databaseRole: section(databaseRoleOptions.description, {
    ...fileOptions(databaseRoleOptions),
    claim: optionalText('The claim that names the database role; null: calls run under the role of the connection.'),
  }),
  crossSiteRequests: option(
    nullable(library.crossSiteRequests),
    null,
    'Cross-site requests of unauthenticated callers that may change data; null: refused, unless `host` is an IP address that other machines reach. With cookies and HTTP Basic they are always refused.',
  ),
  production: optionalFlag(
    `${library.production.description} Null: true unless \`host\` is a loopback address. Unless false, JWTs need \`issuer\` and \`audience\`.`,
  ),
  loginRateLimit: section(
    loginRateLimitOptions.description,
    fileOptions(loginRateLimitOptions, 'window', 'firstWait', 'longestWait', 'capacity'),
  ),
  hashRateLimit: section(hashRateLimitOptions.description, fileOptions(hashRateLimitOptions, 'window', 'capacity')),
});

const cookie = section(cookieOptions.description, {
  enabled: flag(false, 'Enables logins with a session cookie.'),
  ...fileOptions(cookieOptions, 'name'),
});

const bearer = section(bearerOptions.description, {
  enabled: flag(false, 'Enables logins with bearer tokens.'),
  ...fileOptions(bearerOptions, 'name'),
});

const jwt = section(jwtOptions.description, {
  enabled: flag(false, 'Accepts signed tokens (JWT).'),
  ...fileOptions(jwtOptions, 'name', 'clockTolerance', 'userIdClaim', 'userNameClaim', 'production', 'versions'),
  jwks: section('The public keys of an issuer.', {
    ...fileOptions(jwksOptions, 'timeout', 'cooldown', 'cacheMaxAge'),
    url: optionalText(jwksOptions.options.url.description),
  }),
  secret: optionalSecret('Instead of `jwks.url`: the secret of HS256, at least 32 bytes.'),
  keys: option(
    hidden(jwtOptions.options.keys),
    [],
    'Keys that verify tokens, instead of `jwks.url` or beside it, such as public keys and certificates, and the previous ones during a rotation, each with `secret`, `pem` or `jwk`, and perhaps an `id`: `[{ "id": "2026", "secret": "…" }, { "pem": "…" }]`.',
  ),
  signingKey: optionalSecret('A private key (PEM) that signs the tokens of logins.'),
  signWithSecret: flag(false, 'Signs the tokens of logins with `secret`.'),
  issuer: optionalTextList('Accepted issuers; the first one is the issuer of the tokens of logins.'),
  audience: optionalTextList('Accepted audiences; a token must name one of them.'),
});

const basic = section(
  'The scheme `basic` (HTTP Basic), for all endpoints; enabled when a user or a command is set.',
  fileOptions(basicOptions),
);

const sessions = section('A session table, shared by all instances. Set the first three commands, or none.', {
  ...fileOptions(sessionOptions),
  beginCommand: optionalText(sessionOptions.options.beginCommand.description),
  checkCommand: optionalText(sessionOptions.options.checkCommand.description),
  endCommand: optionalText(sessionOptions.options.endCommand.description),
});

const dataProtection = section(
  dataProtectionOptions.description,
  fileOptions(dataProtectionOptions, 'application', 'algorithm', 'keyLifetime'),
);

const externalSignIn = section(
  'Sign-in with Google, GitHub and other OpenID Connect and OAuth 2 providers, enabled by `providers`.',
  {
    ...fileOptions(externalSignInOptions, 'timeout', 'lifetime', 'signOutPath'),
    path: changed(externalSignInOptions.options.path, {
      description:
        'The path of the sign-in routes and the sign-in page. Beside it is the path that signs out, at the provider too: `/signout`, or `/auth/signout` for `/auth/signin`.',
    }),
    providers: changed(externalSignInOptions.options.providers, { default: {} }),
    loginCommand: optionalText(externalSignInOptions.options.loginCommand.description),
    links: option(
      recordOf(matching(/^(?:\/(?![/\\])|https?:\/\/)[^\s\\]*$/, 'a path of this server such as /register, or a URL')),
      {},
      'Links below the form of the sign-in page, by their text: `{ "Forgot your password?": "/forgot" }`.',
    ),
  },
);

/** The sections of authentication. */
export const authenticationSections = {
  authentication,
  cookie,
  bearer,
  jwt,
  basic,
  dataProtection,
  sessions,
  externalSignIn,
};
