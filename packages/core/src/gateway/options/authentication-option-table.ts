import type { ExternalSignIn } from '../external-sign-in.ts';
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
import type { LoginRateLimiter, AuthScheme, PasswordHasher, RateLimiter } from '../../ports/ports.ts';
import { tokenAlgorithms } from '../../auth-schemes/keys/token-algorithm.ts';
import type { KeyStorage } from '../../auth-schemes/keys/key-storage.ts';
import type { LoginRateLimitOptions } from '../../auth-schemes/login-rate-limiter.ts';
import type { RateLimitOptions } from '../../auth-schemes/rate-limiter.ts';
import {
  callback,
  boolean,
  optionGroup,
  type Validator,
  arrayOf,
  nonEmptyString,
  nullable,
  number,
  objectWithMethods,
  oneOf,
  type OptionValidators,
  union,
  recordOf,
  secret,
  secondsOrZero,
  string,
  integer,
} from '../../validation/validators.ts';

const count = integer({ min: 1 });
/** Seconds. */
const lifetime = integer({ min: 1 });
const duration = number({ min: 0 });

const cookie: OptionValidators<CookieOptions> = {
  name: nonEmptyString,
  realm: string,
  cacheSize: integer({ min: 0 }),
  cookieName: nonEmptyString,
  lifetime,
  sliding: nullable(lifetime),
  secure: oneOf('auto', 'always'),
  sameSite: oneOf('lax', 'strict'),
  path: string,
  domain: nullable(string),
};

const bearer: OptionValidators<BearerOptions> = {
  name: nonEmptyString,
  realm: string,
  cacheSize: integer({ min: 0 }),
  accessLifetime: lifetime,
  refreshLifetime: lifetime,
  sessionLifetime: lifetime,
  refreshPath: string,
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

const keyMembers: OptionValidators<KeyMembers> = {
  secret: union(secret, objectWithMethods<Uint8Array>()),
  pem: secret,
  jwk: objectWithMethods<object>(),
  id: string,
};

const keyGroup = optionGroup(keyMembers);

/** One of `secret`, `pem` and `jwk`, with or without an id. */
const jwtKey: Validator<JwtKey> = {
  expected: keyGroup.expected,
  runtimeTypes: keyGroup.runtimeTypes,
  validate: (value, path) => {
    const faults = keyGroup.validate(value, path);
    if (faults.length > 0) return faults;
    const present = ['secret', 'pem', 'jwk'].filter((member) => Object.hasOwn(value as object, member));
    return present.length === 1 ? [] : [`${path}: give one of secret, pem and jwk`];
  },
};

const jwks: OptionValidators<Jwks> = {
  url: string,
  algorithms: arrayOf(oneOf('RS256', 'ES256')),
  timeout: number({ above: 0 }),
  cooldown: duration,
  cacheMaxAge: number({ above: 0 }),
};

const versions: OptionValidators<Versions> = { claim: string, current: callback(), cacheSeconds: duration };

const jwt: OptionValidators<JwtOptions> = {
  name: nonEmptyString,
  realm: string,
  cacheSize: integer({ min: 0 }),
  userIdClaim: string,
  userNameClaim: string,
  address: callback(),
  keys: arrayOf(jwtKey),
  jwks: nullable(optionGroup(jwks, ['url'])),
  signingKey: nullable(jwtKey),
  lifetime,
  issuer: nullable(union(string, arrayOf(string))),
  audience: nullable(union(string, arrayOf(string))),
  production: boolean,
  clockTolerance: duration,
  requireExpiry: boolean,
  maxTokenAge: nullable(number({ above: 0 })),
  type: nullable(string),
  claims: recordOf(union(string, arrayOf(string))),
  sessions: objectWithMethods<Sessions>('begin', 'isAlive', 'end', 'useRefreshToken', 'invalidate', 'invalidateAll'),
  versions: nullable(optionGroup(versions, ['current'])),
  report: callback(),
};

const basic: OptionValidators<BasicOptions> = {
  user: nullable(string),
  hash: nullable(secret),
  command: nullable(string),
  realm: string,
};

const dataProtection: OptionValidators<DataProtectionOptions> = {
  folder: nullable(string),
  readCommand: nullable(string),
  writeCommand: nullable(string),
  storage: nullable(objectWithMethods<KeyStorage>('read', 'write', 'warning')),
  secret: nullable(secret),
  previousSecrets: arrayOf(secret),
  algorithm: oneOf(...tokenAlgorithms),
  application: string,
  keyLifetime: lifetime,
};

const sessions: OptionValidators<SessionOptions> = {
  beginCommand: nonEmptyString,
  checkCommand: nonEmptyString,
  endCommand: nonEmptyString,
  refreshCommand: nullable(string),
  cacheSeconds: secondsOrZero,
  channel: nullable(string),
};

const databaseRole: OptionValidators<DatabaseRoleOptions> = { claim: string, anonymous: nullable(string) };

const loginRateLimit: OptionValidators<LoginRateLimitOptions> = {
  perUser: count,
  perAddress: count,
  window: number({ above: 0 }),
  firstWait: duration,
  longestWait: duration,
  capacity: count,
  now: callback(),
};

const hashRateLimit: OptionValidators<RateLimitOptions> = {
  perAddress: count,
  window: number({ above: 0 }),
  capacity: count,
  now: callback(),
};

const authenticationOptions: OptionValidators<AuthenticationOptions> = {
  useUserContext: boolean,
  useUserParameters: boolean,
  userIdParameterName: string,
  userNameParameterName: string,
  userRolesParameterName: string,
  userClaimsParameterName: string,
  ipAddressParameterName: string,
  statusColumnName: string,
  messageColumnName: string,
  schemeColumnName: string,
  hashColumnName: string,
  passwordParameterNameContains: string,
  obfuscateAuthParameterLogValues: boolean,
  cookie: union(boolean, optionGroup(cookie)),
  bearer: union(boolean, optionGroup(bearer)),
  jwt: nullable(union(optionGroup(jwt), arrayOf(optionGroup(jwt)))),
  basic: nullable(optionGroup(basic)),
  externalSignIn: nullable(objectWithMethods<ExternalSignIn>('routes')),
  schemes: arrayOf(objectWithMethods<AuthScheme>('authenticate', 'challenge')),
  dataProtection: optionGroup(dataProtection),
  sessions: nullable(optionGroup(sessions, ['beginCommand', 'checkCommand', 'endCommand'])),
  wrapSessions: nullable(callback()),
  defaultAuthenticationType: nullable(string),
  defaultNameClaimType: string,
  defaultRoleClaimType: string,
  defaultUserIdClaimType: string,
  userIdContextKey: string,
  userNameContextKey: string,
  userRolesContextKey: string,
  ipAddressContextKey: string,
  userClaimsContextKey: nullable(string),
  databaseRole: nullable(optionGroup(databaseRole, ['claim'])),
  passwordHasher: nullable(objectWithMethods<PasswordHasher>('hash', 'verify', 'verifyDummy')),
  allowNullHash: boolean,
  passwordVerificationFailedStatus: integer({ min: 400, max: 499 }),
  passwordVerificationFailedCommand: nullable(string),
  passwordVerificationSucceededCommand: nullable(string),
  serializeAuthEndpointsResponse: boolean,
  loginRateLimit: union(optionGroup(loginRateLimit), objectWithMethods<LoginRateLimiter>('consume', 'complete')),
  hashRateLimit: union(optionGroup(hashRateLimit), objectWithMethods<RateLimiter>('consume')),
  trustedProxies: arrayOf(string),
  allowedOrigins: arrayOf(string),
  crossSiteRequests: oneOf('refuse', 'allow'),
  antiforgeryPath: nullable(string),
  production: boolean,
};

export const authentication: Validator<AuthenticationOptions> = optionGroup(authenticationOptions);
