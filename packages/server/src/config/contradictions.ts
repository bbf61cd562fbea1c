/** Settings that are valid by themselves and contradict each other, or need one another. */
import { GeneratorError, httpFiles, openApiFiles, typescriptClientFiles } from '@pgway/generators';
import { isLoopbackHost } from '../address.ts';
import { toHttpFileOptions, toOpenApiOptions, toTypescriptClientOptions } from './generator-options.ts';
import type { Configuration } from './schema.ts';

/** Returns one line for each contradiction. */
export function contradictions(configuration: Configuration): readonly string[] {
  return [
    ...databaseIssues(configuration),
    ...portIssues(configuration),
    ...tenantIssues(configuration),
    ...listingIssues(configuration.crud.listingLimits),
    ...broadcastIssues(configuration.events),
    ...databaseRoleIssues(configuration.authentication),
    ...jwtIssues(configuration),
    ...dataProtectionIssues(configuration.dataProtection),
    ...sessionIssues(configuration.sessions),
    ...cookieIssues(configuration),
    ...externalSignInIssues(configuration),
    ...mcpIssues(configuration),
    ...corsIssues(configuration.cors),
    ...staticFileIssues(configuration.staticFiles),
    ...generatorIssues(configuration),
  ];
}

function databaseIssues({ connectionString, embedded }: Configuration): readonly string[] {
  if (connectionString === null || embedded.enabled !== true) return [];
  return ['embedded.enabled: a connection is configured as well; set only one of them'];
}

function portIssues({ port, tls: { redirectPort } }: Configuration): readonly string[] {
  if (redirectPort === null || redirectPort === 0 || redirectPort !== port) return [];
  return [`tls.redirectPort: ${port} is also port; set another one, such as 80`];
}

function tenantIssues({ tenant }: Configuration): readonly string[] {
  const { by, host, claim, connectionString, connectionStrings, query } = tenant;
  const isUsed = [host, claim, connectionString, query].some((value) => value !== null);
  if (by !== null || (!isUsed && Object.keys(connectionStrings).length === 0)) return [];
  return ['tenant.by: missing; set it to host or claim'];
}

function listingIssues({ defaultLimit, maxLimit }: Configuration['crud']['listingLimits']): readonly string[] {
  if (defaultLimit <= maxLimit) return [];
  return [
    `crud.listingLimits.defaultLimit: ${defaultLimit} exceeds crud.listingLimits.maxLimit, ${maxLimit}; lower it, or raise maxLimit`,
  ];
}

function broadcastIssues({ broadcast, redisUrl }: Configuration['events']): readonly string[] {
  return broadcast === 'redis' && redisUrl === null
    ? ['events.redisUrl: missing; events.broadcast redis needs it']
    : [];
}

function databaseRoleIssues({ databaseRole }: Configuration['authentication']): readonly string[] {
  if (databaseRole.claim !== null || databaseRole.anonymous === null) return [];
  return ['authentication.databaseRole.anonymous has no effect without a claim; set authentication.databaseRole.claim'];
}

function jwtIssues({ jwt, authentication }: Configuration): readonly string[] {
  const { enabled, jwks, secret, keys, signingKey, signWithSecret } = jwt;
  if (!enabled) return [];
  const isKeyless = keys.length === 0 && [jwks.url, secret, signingKey].every((key) => key === null);
  const missing =
    authentication.production === false ? [] : (['issuer', 'audience'] as const).filter((name) => jwt[name] === null);
  return [
    ...(isKeyless ? ['jwt: set jwks.url, secret, keys or signingKey'] : []),
    ...(signWithSecret && secret === null ? ['jwt.signWithSecret: set jwt.secret'] : []),
    ...missing.map((name) => `jwt.${name}: missing; set it, or authentication.production to false for development`),
  ];
}

function dataProtectionIssues({ secret, previousSecrets }: Configuration['dataProtection']): readonly string[] {
  return secret === null && previousSecrets.length > 0
    ? ['dataProtection.secret: missing; dataProtection.previousSecrets only decrypt']
    : [];
}

function externalSignInIssues({ externalSignIn, cookie, bearer, jwt }: Configuration): readonly string[] {
  const { providers, loginCommand } = externalSignIn;
  const hasProviders = Object.keys(providers).length > 0;
  const canSignIn = cookie.enabled || bearer.enabled || jwt.signingKey !== null || jwt.signWithSecret;
  return [
    ...(hasProviders && loginCommand === null
      ? ['externalSignIn.loginCommand: missing; externalSignIn.providers needs it']
      : []),
    ...(!hasProviders && loginCommand !== null
      ? ['externalSignIn.providers: is empty; externalSignIn.loginCommand has no effect without providers']
      : []),
    ...(hasProviders && !canSignIn
      ? ['externalSignIn: no scheme can hold a session; set cookie.enabled or bearer.enabled']
      : []),
  ];
}

/** In production, a cookie without the attribute `Secure` would be sent over connections that are not encrypted. */
function cookieIssues({ cookie, tls, authentication, externalSignIn, host }: Configuration): readonly string[] {
  const isProduction = authentication.production ?? !isLoopbackHost(host);
  const isKnown =
    cookie.secure === 'always' ||
    tls.certificate !== null ||
    tls.pfx !== null ||
    authentication.trustedProxies.length > 0 ||
    externalSignIn.publicOrigin?.startsWith('https:') === true;
  if (!cookie.enabled || !isProduction || isKnown) return [];
  return [
    'cookie.secure: the server cannot know whether browsers use https, and would send session cookies without Secure; enable tls, list the proxy in authentication.trustedProxies, set cookie.secure to "always", or authentication.production to false for development',
  ];
}

function mcpIssues({ mcp, bearer, jwt }: Configuration): readonly string[] {
  const { path, resource, authorizationServers, requireSignIn } = mcp;
  const isUsed = resource !== null || authorizationServers.length > 0 || requireSignIn;
  if (path === null) return isUsed ? ['mcp.path: missing; the other settings of mcp need it'] : [];
  if (authorizationServers.length === 0) return [];
  return [
    ...(resource === null ? ['mcp.resource: missing; mcp.authorizationServers needs it'] : []),
    ...(jwt.enabled || bearer.enabled
      ? []
      : ['mcp.authorizationServers: no scheme accepts tokens; set jwt.enabled, with the keys of the issuer']),
  ];
}

function corsIssues({ origins, credentials }: Configuration['cors']): readonly string[] {
  return credentials && origins.length === 0
    ? ['cors.origins: is empty; cors.credentials has no effect without it']
    : [];
}

function staticFileIssues({ root, mounts }: Configuration['staticFiles']): readonly string[] {
  return root === null && Object.keys(mounts).length > 0
    ? ['staticFiles.root: missing; staticFiles.mounts needs it']
    : [];
}

function sessionIssues(sessions: Configuration['sessions']): readonly string[] {
  const { beginCommand, checkCommand, endCommand, refreshCommand, channel } = sessions;
  const commands = [beginCommand, checkCommand, endCommand].filter((command) => command !== null);
  const isUsed = commands.length > 0 || refreshCommand !== null || channel !== null;
  return isUsed && commands.length < 3 ? ['sessions: set beginCommand, checkCommand and endCommand together'] : [];
}

/** The generators check their options when they run, also without endpoints. */
function generatorIssues(configuration: Configuration): readonly string[] {
  try {
    const at = new Date();
    typescriptClientFiles([], toTypescriptClientOptions(configuration), at);
    httpFiles([], toHttpFileOptions(configuration, ''), at);
    openApiFiles([], toOpenApiOptions(configuration));
    return [];
  } catch (error) {
    if (error instanceof GeneratorError) return [error.message];
    throw error;
  }
}
