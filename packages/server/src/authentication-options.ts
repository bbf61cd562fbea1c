/** The gateway's authentication options out of the sections of the configuration. */
import { isIP } from 'node:net';
import type { GatewayOptions } from '@pgway/core';
import type { Configuration } from './config/schema.ts';
import { isLoopback } from './http/address.ts';
import { ConfigurationError } from './config/configuration-error.ts';

type Authentication = NonNullable<GatewayOptions['authentication']>;
/** What the option can be when it is given. */
type JwtOptions = Exclude<NonNullable<Authentication['jwt']>, readonly unknown[]>;
type Given<Name extends keyof Authentication> = Exclude<Authentication[Name], undefined>;

/** @throws ConfigurationError for settings that need each other */
export function authenticationOptions(configuration: Configuration): Authentication {
  const {
    attemptsPerUser,
    attemptsPerAddress,
    hashRequestsPerAddress,
    production,
    crossSiteRequests,
    databaseRole,
    ...names
  } = configuration.authentication;
  const { cookie, bearer } = configuration;
  return {
    ...names,
    databaseRole: databaseRoleOptions(databaseRole),
    production: production ?? !isOwnAddress(configuration.host),
    crossSiteRequests: crossSiteRequests ?? (isPublicAddress(configuration.host) ? 'allow' : 'refuse'),
    loginRateLimit: { perUser: attemptsPerUser, perAddress: attemptsPerAddress },
    hashRateLimit: { perAddress: hashRequestsPerAddress },
    cookie: cookie.enabled && without(cookie, 'enabled'),
    bearer: bearer.enabled && without(bearer, 'enabled'),
    jwt: jwtOptions(configuration),
    basic: basicOptions(configuration),
    dataProtection: configuration.dataProtection,
    sessions: sessionOptions(configuration),
  };
}

/** @throws ConfigurationError for a role without a claim */
function databaseRoleOptions({
  claim,
  anonymous,
}: Configuration['authentication']['databaseRole']): Given<'databaseRole'> {
  if (claim !== null) return { claim, anonymous };
  if (anonymous === null) return null;
  throw new ConfigurationError([
    'authentication.databaseRole.anonymous has no effect: give authentication.databaseRole.claim',
  ]);
}

/** Whether somebody can sign in at all. */
export function hasScheme({ cookie, bearer, jwt, basic }: Authentication): boolean {
  return [cookie, bearer, jwt, basic].some((scheme) => scheme !== false && (scheme ?? null) !== null);
}

export function isOwnAddress(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** A name may stand for a loopback address: what is not known to be public is not taken for it. */
function isPublicAddress(host: string): boolean {
  return isIP(host) !== 0 && !isLoopback(host);
}

function without<Section extends object, Key extends keyof Section>(section: Section, key: Key): Omit<Section, Key> {
  return Object.fromEntries(Object.entries(section).filter(([name]) => name !== key)) as Omit<Section, Key>;
}

function jwtOptions({ jwt, authentication }: Configuration): Given<'jwt'> {
  if (!jwt.enabled) return null;
  const { jwksUrl, secret, publicKey, signingKey, signWithSecret, issuer, audience } = jwt;
  if ([jwksUrl, secret, publicKey, signingKey].every((key) => key === null)) {
    throw new ConfigurationError(['jwt: give jwksUrl, secret, publicKey or signingKey']);
  }
  if (signWithSecret && secret === null) throw new ConfigurationError(['jwt.signWithSecret: give jwt.secret']);
  return {
    ...keysOf(jwt),
    jwks: jwksUrl === null ? null : { url: jwksUrl },
    // A proxy of the same machine is no reason to take tokens that were made for others.
    production: authentication.production ?? true,
    lifetime: jwt.lifetime,
    clockTolerance: jwt.clockTolerance,
    claims: jwt.claims,
    ...(issuer === null ? {} : { issuer }),
    ...(audience === null ? {} : { audience }),
  };
}

/** What tokens are verified with, and what ours are signed with. */
function keysOf({
  secret,
  publicKey,
  signingKey,
  signWithSecret,
}: Configuration['jwt']): Pick<JwtOptions, 'keys' | 'signingKey'> {
  const keys = [
    ...(secret === null || signWithSecret ? [] : [{ secret }]),
    ...(publicKey === null ? [] : [{ pem: publicKey }]),
  ];
  const own = signWithSecret ? { secret: secret! } : signingKey === null ? null : { pem: signingKey };
  return { ...(keys.length === 0 ? {} : { keys }), signingKey: own };
}

function basicOptions({ basic }: Configuration): Given<'basic'> {
  return basic.user === null && basic.hash === null && basic.command === null ? null : basic;
}

function sessionOptions({ sessions }: Configuration): Given<'sessions'> {
  const { beginCommand, checkCommand, endCommand, refreshCommand, trust, channel } = sessions;
  const given = [beginCommand, checkCommand, endCommand].filter((command) => command !== null);
  if (given.length === 0 && refreshCommand === null && channel === null) return null;
  if (given.length < 3) {
    throw new ConfigurationError(['sessions: beginCommand, checkCommand and endCommand need each other']);
  }
  return {
    beginCommand: beginCommand!,
    checkCommand: checkCommand!,
    endCommand: endCommand!,
    refreshCommand,
    trust,
    channel,
  };
}
