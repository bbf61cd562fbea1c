/** The authentication options of the gateway from the sections of the configuration. */
import { externalSignIn } from '@pgway/external-sign-in';
import type { GatewayOptions } from '@pgway/core';
import type { Configuration } from './config/schema.ts';
import { isLoopbackHost, isPublicAddress } from './address.ts';

type Authentication = NonNullable<GatewayOptions['authentication']>;
type JwtOptions = Exclude<NonNullable<Authentication['jwt']>, readonly unknown[]>;
type Option<Name extends keyof Authentication> = Exclude<Authentication[Name], undefined>;

export function authenticationOptions(configuration: Configuration): Authentication {
  const { production: _, crossSiteRequests, databaseRole, ...names } = configuration.authentication;
  const { cookie, bearer, cors } = configuration;
  return {
    ...names,
    realm: configuration.name,
    // A page whose requests CORS allows may also change data.
    allowedOrigins: [...names.allowedOrigins, ...cors.origins.filter((origin) => origin !== '*')],
    databaseRole: databaseRoleOptions(databaseRole),
    production: isProduction(configuration),
    crossSiteRequests: crossSiteRequests ?? (isPublicAddress(configuration.host) ? 'allow' : 'refuse'),
    cookie: cookie.enabled && omit(cookie, 'enabled'),
    bearer: bearer.enabled && omit(bearer, 'enabled'),
    jwt: jwtOptions(configuration),
    basic: basicOptions(configuration),
    externalSignIn: externalSignInOptions(configuration),
    dataProtection: { ...configuration.dataProtection, application: configuration.name },
    sessions: sessionOptions(configuration),
  };
}

/** Whether the server is one for the public: configured, or because other machines reach it. */
export function isProduction({ authentication, host }: Configuration): boolean {
  return authentication.production ?? !isLoopbackHost(host);
}

function databaseRoleOptions({
  claim,
  anonymous,
}: Configuration['authentication']['databaseRole']): Option<'databaseRole'> {
  return claim === null ? null : { claim, anonymous };
}

/** Whether any authentication scheme is enabled. */
export function hasScheme({ cookie, bearer, jwt, basic }: Authentication): boolean {
  return [cookie, bearer, jwt, basic].some((scheme) => scheme !== false && (scheme ?? null) !== null);
}

function omit<Section extends object, Key extends keyof Section>(section: Section, key: Key): Omit<Section, Key> {
  return Object.fromEntries(Object.entries(section).filter(([name]) => name !== key)) as Omit<Section, Key>;
}

function jwtOptions({ jwt, authentication }: Configuration): Option<'jwt'> {
  if (!jwt.enabled) return null;
  const { jwks, lifetime, requireExpiry, maxTokenAge, type, claims, issuer, audience, apiKeys } = jwt;
  return {
    ...jwtKeys(jwt),
    jwks: jwks.url === null ? null : { ...jwks, url: jwks.url },
    // Not derived from the host: behind a local proxy, too, tokens issued for other services must be rejected.
    production: authentication.production ?? true,
    lifetime,
    requireExpiry,
    maxTokenAge,
    type,
    claims,
    apiKeys,
    ...(issuer === null ? {} : { issuer }),
    ...(audience === null ? {} : { audience }),
  };
}

/** Returns the keys that verify tokens, and the key that signs the tokens of logins. */
function jwtKeys({
  secret,
  keys: furtherKeys,
  signingKey,
  signWithSecret,
}: Configuration['jwt']): Pick<JwtOptions, 'keys' | 'signingKey'> {
  const keys = [...(secret === null || signWithSecret ? [] : [{ secret }]), ...furtherKeys];
  const ownKey = signWithSecret ? { secret: secret! } : signingKey === null ? null : { pem: signingKey };
  return { ...(keys.length === 0 ? {} : { keys }), signingKey: ownKey };
}

function basicOptions({ basic }: Configuration): Option<'basic'> {
  return basic.user === null && basic.hash === null && basic.command === null ? null : basic;
}

function externalSignInOptions({ externalSignIn: section }: Configuration): Option<'externalSignIn'> {
  const { providers, loginCommand, links: _, ...options } = section;
  if (Object.keys(providers).length === 0 || loginCommand === null) return null;
  return externalSignIn({ providers, loginCommand, ...options, signOutPath: signOutPath(section) });
}

/** Returns the path that ends a session of the sign-in page. */
export function signOutPath({ path }: Configuration['externalSignIn']): string {
  return path.replace(/[^/]*$/, 'signout');
}

function sessionOptions({ sessions }: Configuration): Option<'sessions'> {
  const { beginCommand, checkCommand, endCommand, ...options } = sessions;
  if (beginCommand === null || checkCommand === null || endCommand === null) return null;
  return { beginCommand, checkCommand, endCommand, ...options };
}
