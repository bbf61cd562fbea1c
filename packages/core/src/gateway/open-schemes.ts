/** The authentication schemes of the options. */
import type { AccessControl } from '../auth/authorize.ts';
import type { ClaimTypes } from '../auth/claims.ts';
import { basicScheme } from '../auth-schemes/basic.ts';
import { bearerScheme } from '../auth-schemes/bearer.ts';
import { challengeCommand } from '../auth-schemes/challenge.ts';
import type { CommandRunner } from '../auth-schemes/command-runner.ts';
import { cookieScheme } from '../auth-schemes/cookie.ts';
import type { jwtScheme } from '../auth-schemes/jwt.ts';
import type { TokenEncryption } from '../auth-schemes/keys/key-ring.ts';
import type { SessionStore } from '../auth-schemes/sessions.ts';
import type { BasicAuthentication } from '../endpoints/endpoint.ts';
import type { AuthScheme, LoginRateLimiter, Observer, PasswordHasher, RateLimiter } from '../ports/ports.ts';
import type { JwtOptions } from '../auth-schemes/options.ts';
import type { AuthenticationOptions, BasicOptions } from './options/authentication-options.ts';
import { OptionsError } from './start-error.ts';

/** The dependencies of the schemes. */
export interface AuthenticationParts {
  readonly options: AuthenticationOptions;
  readonly query: CommandRunner;
  readonly claimTypes: ClaimTypes;
  readonly hasher: PasswordHasher;
  readonly loginRateLimiter: LoginRateLimiter;
  readonly hashRateLimiter: RateLimiter;
  readonly sessions: SessionStore;
  readonly report: (error: Error) => void;
  /** Restricts a scheme whose tokens others may issue to those of a tenant. */
  readonly restrict: (scheme: AuthScheme) => AuthScheme;
}

/** @throws OptionsError for two schemes with one name */
export async function openSchemes(
  parts: AuthenticationParts,
  ring: TokenEncryption | null,
  observe: Observer,
): Promise<readonly AuthScheme[]> {
  const { options, claimTypes, sessions, restrict } = parts;
  const { cookie, bearer, jwt, basic } = options;
  const common = { realm: options.realm, sessions, userIdClaim: claimTypes.id, userNameClaim: claimTypes.name };
  const schemes = [
    ...options.schemes.map(restrict),
    ...(cookie === false
      ? []
      : [
          cookieScheme({
            name: 'cookie',
            encryption: ring!,
            ...common,
            ...enabledOptions(cookie),
            ...secureCookie(options),
          }),
        ]),
    ...(bearer === false
      ? []
      : [bearerScheme({ name: 'bearer', encryption: ring!, ...common, ...enabledOptions(bearer) })]),
    ...(await openJwtSchemes([jwt ?? []].flat(), parts, observe)).map(restrict),
    ...(basic === null ? [] : [openBasicScheme({ ...basic, name: 'basic' }, parts)]),
  ];
  const names = schemes.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new OptionsError(`two schemes have the name "${duplicate}"; rename one of them`);
  return schemes;
}

async function openJwtSchemes(
  options: readonly JwtOptions[],
  parts: AuthenticationParts,
  observe: Observer,
): Promise<readonly AuthScheme[]> {
  if (options.length === 0) return [];
  const { jwtScheme: create } = await import('../auth-schemes/jwt.ts');
  return options.map((jwt) => openJwtScheme(create, jwt, parts, observe));
}

/** Sessions apply to the tokens of this server only, not to those of other issuers. */
function openJwtScheme(
  create: typeof jwtScheme,
  jwt: JwtOptions,
  { options: { realm }, sessions, claimTypes, report }: AuthenticationParts,
  observe: Observer,
): AuthScheme {
  const sessionOptions = (jwt.signingKey ?? null) === null ? {} : { sessions };
  const common = { realm, userIdClaim: claimTypes.id, userNameClaim: claimTypes.name };
  const scheme = create({ name: 'jwt', ...common, ...sessionOptions, ...jwt, report });
  for (const message of scheme.warnings) observe({ kind: 'start-warning', code: 'authentication', message });
  return scheme;
}

function enabledOptions<Options extends object>(options: true | Options): Partial<Options> {
  return options === true ? {} : options;
}

function openBasicScheme(
  {
    name,
    user = null,
    hash = null,
    command = null,
    realm,
  }: BasicOptions & { readonly name: string; readonly realm?: string },
  parts: AuthenticationParts,
): AuthScheme {
  const { options, hasher, claimTypes, query } = parts;
  return basicScheme({
    name,
    realm: realm ?? options.realm,
    user: user === null ? null : { name: user, hash: hash ?? '' },
    command: command === null ? null : challengeCommand(command, query, options),
    hasher,
    loginRateLimiter: parts.loginRateLimiter,
    nameClaim: claimTypes.name,
    origin: (request) => ({ address: request.remoteAddress ?? null, secure: request.secure }),
  });
}

/** Opens the scheme of an endpoint with its own credentials once. */
export function endpointSchemes(parts: AuthenticationParts): AccessControl['endpointScheme'] {
  const schemes = new WeakMap<BasicAuthentication, AuthScheme>();
  return (credentials) => {
    const opened = schemes.get(credentials);
    if (opened !== undefined) return opened;
    const { realm, ...rest } = credentials;
    const scheme = openBasicScheme({ name: 'basic', ...rest, ...(realm === null ? {} : { realm }) }, parts);
    schemes.set(credentials, scheme);
    return scheme;
  };
}

/** An origin of https decides about `Secure`: the connection does not tell, behind a proxy that is not trusted. */
function secureCookie({ externalSignIn }: AuthenticationOptions): { readonly secure?: 'always' } {
  return externalSignIn?.publicOrigin?.startsWith('https:') === true ? { secure: 'always' } : {};
}

/** The gateway's own schemes read two headers; those of the host may read any. */
export function credentialsTest({
  cookie,
  bearer,
  jwt,
  basic,
  schemes,
}: AuthenticationOptions): AccessControl['mayHaveCredentials'] {
  if (schemes.some((scheme) => 'refusal' in scheme)) return () => true;
  const hasAuthorization = bearer !== false || basic !== null || [jwt ?? []].flat().length > 0;
  const hasCookie = cookie !== false;
  return (request) =>
    (hasAuthorization && request.header('authorization') !== undefined) ||
    (hasCookie && request.header('cookie') !== undefined);
}

/**
 * Returns whether the caller has the issuer that a user name alone means: the logins of this gateway, else the first issuer of the options.
 * Undefined: there is only one.
 */
export function defaultIssuerTest({
  cookie,
  bearer,
  jwt,
  basic,
  schemes,
}: AuthenticationOptions): ClaimTypes['hasDefaultIssuer'] {
  const tokens = [jwt ?? []].flat();
  const hasLogins = cookie !== false || bearer !== false || tokens.some(({ signingKey = null }) => signingKey !== null);
  const foreign = tokens.flatMap(({ name = 'jwt', issuer = null, signingKey = null }): readonly Issuer[] => {
    const issuers = issuer === null ? [null] : [issuer].flat();
    return (signingKey === null ? issuers : issuers.slice(1)).map((value) => ({ scheme: name, issuer: value }));
  });
  const others = [
    ...foreign,
    ...[...schemes.map(({ name }) => name), ...(basic === null ? [] : ['basic'])].map(ofScheme),
  ];
  if (hasLogins) return others.length === 0 ? undefined : ({ issuer }) => issuer === null;
  const [first] = others;
  if (first === undefined || others.length === 1) return undefined;
  return ({ scheme, issuer }) => scheme === first.scheme && (first.issuer === null || issuer === first.issuer);
}

/** Issuer null: any one of the scheme. */
interface Issuer {
  readonly scheme: string;
  readonly issuer: string | null;
}

function ofScheme(scheme: string): Issuer {
  return { scheme, issuer: null };
}
