import type {
  AuthenticationOptions,
  BasicOptions,
  BearerOptions,
  CookieOptions,
  DatabaseRoleOptions,
  DataProtectionOptions,
  JwtOptions,
  SessionOptions,
} from './authentication-options.ts';
import type { LoginRateLimiter, AuthScheme, PasswordHasher } from '../../ports/ports.ts';
import type { LoginRateLimitOptions } from '../../auth-schemes/login-rate-limiter.ts';
import type { RateLimitOptions } from '../../auth-schemes/rate-limiter.ts';
import {
  callback,
  flag,
  group,
  type Kind,
  listOf,
  name,
  nullable,
  number,
  objectWith,
  oneOf,
  type OptionTable,
  or,
  recordOf,
  secret,
  secondsOrZero,
  text,
  whole,
} from '../../validation/validators.ts';

const count = whole({ min: 1 });
/** Seconds that no timer waits for. */
const lifetime = whole({ min: 1 });
const duration = number({ min: 0 });

const cookie: OptionTable<CookieOptions> = {
  name,
  realm: text,
  cacheSize: whole({ min: 0 }),
  cookieName: name,
  lifetime,
  sliding: nullable(lifetime),
  secure: oneOf('auto', 'always'),
  sameSite: oneOf('lax', 'strict'),
  path: text,
  domain: nullable(text),
};

const bearer: OptionTable<BearerOptions> = {
  name,
  realm: text,
  cacheSize: whole({ min: 0 }),
  accessLifetime: lifetime,
  refreshLifetime: lifetime,
  sessionLifetime: lifetime,
  refreshPath: text,
  renewClaims: callback(),
};

type JwtKey = NonNullable<JwtOptions['keys']>[number];
type Jwks = NonNullable<JwtOptions['jwks']>;
type Versions = NonNullable<JwtOptions['versions']>;
type Sessions = NonNullable<JwtOptions['sessions']>;

interface KeyMembers {
  readonly secret: string | Uint8Array;
  readonly pem: string;
  readonly jwk: object;
  readonly id: string;
}

const keyMembers: OptionTable<KeyMembers> = {
  secret: or(secret, objectWith<Uint8Array>()),
  pem: secret,
  jwk: objectWith<object>(),
  id: text,
};

const keyGroup = group(keyMembers);

/** One of `secret`, `pem` and `jwk`, with or without an id. */
const jwtKey: Kind<JwtKey> = {
  takes: keyGroup.takes,
  types: keyGroup.types,
  faults: (value, path) => {
    const faults = keyGroup.faults(value, path);
    if (faults.length > 0) return faults;
    const given = ['secret', 'pem', 'jwk'].filter((member) => Object.hasOwn(value as object, member));
    return given.length === 1 ? [] : [`${path}: give one of secret, pem and jwk`];
  },
};

const jwks: OptionTable<Jwks> = {
  url: text,
  algorithms: listOf(oneOf('RS256', 'ES256')),
  timeout: number({ above: 0 }),
  cooldown: duration,
  maximalAge: number({ above: 0 }),
};

const versions: OptionTable<Versions> = { claim: text, current: callback(), trust: duration };

const jwt: OptionTable<JwtOptions> = {
  name,
  realm: text,
  cacheSize: whole({ min: 0 }),
  userIdClaim: text,
  userNameClaim: text,
  address: callback(),
  keys: listOf(jwtKey),
  jwks: nullable(group(jwks, ['url'])),
  signingKey: nullable(jwtKey),
  lifetime,
  issuer: nullable(or(text, listOf(text))),
  audience: nullable(or(text, listOf(text))),
  production: flag,
  clockTolerance: duration,
  requireExpiry: flag,
  maximalAge: nullable(number({ above: 0 })),
  type: nullable(text),
  claims: recordOf(or(text, listOf(text))),
  sessions: objectWith<Sessions>('begin', 'alive', 'end', 'advance', 'forget', 'forgetAll'),
  versions: nullable(group(versions, ['current'])),
  report: callback(),
};

const basic: OptionTable<BasicOptions> = {
  user: nullable(text),
  hash: nullable(secret),
  command: nullable(text),
  realm: text,
};

const dataProtection: OptionTable<DataProtectionOptions> = {
  folder: nullable(text),
  readCommand: nullable(text),
  writeCommand: nullable(text),
  secret: nullable(secret),
  application: text,
  keyLifetime: lifetime,
};

const sessions: OptionTable<SessionOptions> = {
  beginCommand: name,
  checkCommand: name,
  endCommand: name,
  refreshCommand: nullable(text),
  trust: secondsOrZero,
  channel: nullable(text),
};

const databaseRole: OptionTable<DatabaseRoleOptions> = { claim: text, anonymous: nullable(text) };

const attempts: OptionTable<LoginRateLimitOptions> = {
  perUser: count,
  perAddress: count,
  window: number({ above: 0 }),
  firstWait: duration,
  longestWait: duration,
  capacity: count,
  now: callback(),
};

const hashRateLimit: OptionTable<RateLimitOptions> = {
  perAddress: count,
  window: number({ above: 0 }),
  capacity: count,
  now: callback(),
};

const authenticationOptions: OptionTable<AuthenticationOptions> = {
  useUserContext: flag,
  useUserParameters: flag,
  userIdParameterName: text,
  userNameParameterName: text,
  userRolesParameterName: text,
  userClaimsParameterName: text,
  ipAddressParameterName: text,
  statusColumnName: text,
  messageColumnName: text,
  schemeColumnName: text,
  hashColumnName: text,
  passwordParameterNameContains: text,
  obfuscateAuthParameterLogValues: flag,
  cookie: or(flag, group(cookie)),
  bearer: or(flag, group(bearer)),
  jwt: nullable(or(group(jwt), listOf(group(jwt)))),
  basic: nullable(group(basic)),
  schemes: listOf(objectWith<AuthScheme>('authenticate', 'challenge')),
  dataProtection: group(dataProtection),
  sessions: nullable(group(sessions, ['beginCommand', 'checkCommand', 'endCommand'])),
  defaultAuthenticationType: nullable(text),
  defaultNameClaimType: text,
  defaultRoleClaimType: text,
  defaultUserIdClaimType: text,
  userIdContextKey: text,
  userNameContextKey: text,
  userRolesContextKey: text,
  ipAddressContextKey: text,
  userClaimsContextKey: nullable(text),
  databaseRole: nullable(group(databaseRole, ['claim'])),
  passwordHasher: nullable(objectWith<PasswordHasher>('hash', 'verify', 'verifyDummy')),
  allowNullHash: flag,
  passwordVerificationFailedCommand: nullable(text),
  passwordVerificationSucceededCommand: nullable(text),
  serializeAuthEndpointsResponse: flag,
  loginRateLimit: or(group(attempts), objectWith<LoginRateLimiter>('mayTry', 'failed', 'succeeded', 'withdrawn')),
  hashRateLimit: group(hashRateLimit),
  trustedProxies: listOf(text),
  allowedOrigins: listOf(text),
  crossSiteRequests: oneOf('refuse', 'allow'),
  antiforgeryPath: nullable(text),
  production: flag,
};

export const authentication: Kind<AuthenticationOptions> = group(authenticationOptions);
