import type { AuthenticationOptions, BasicOptions } from './options/authentication-options.ts';
import type { ResolvedOptions } from './options/options.ts';
import { StartError } from './start-error.ts';

/**
 * What is said of sign-in and cannot be meant so. Most of it would leave a door open that its author believes to be closed.
 * @throws StartError
 */
export function validateAuthentication({ authentication, requestHeadersContextKey }: ResolvedOptions): void {
  checkSettings(authentication, requestHeadersContextKey);
  checkRoles(authentication);
  checkRoleClaim(authentication);
  if (authentication.basic !== null) checkBasic(authentication.basic);
  checkNames(authentication);
  const { antiforgeryPath: path } = authentication;
  if (path !== null && !/^\/[^?#\s]*$/.test(path)) {
    throw new StartError(`antiforgeryPath: ${JSON.stringify(path)} must begin with a slash`);
  }
}

/** What PostgreSQL takes for a setting that is not its own. */
const settingName = /^[a-z_][\w$]*(?:\.[a-z_][\w$]*)+$/i;

/** One setting for two things, or for one of PostgreSQL's own, would let what a client sends stand for who it is. */
function checkSettings(options: AuthenticationOptions, requestHeadersContextKey: string): void {
  const { userIdContextKey, userNameContextKey, userRolesContextKey, ipAddressContextKey, userClaimsContextKey } =
    options;
  const keys = { userIdContextKey, userNameContextKey, userRolesContextKey, ipAddressContextKey, userClaimsContextKey };
  const taken = new Map<string, string>();
  for (const [option, key] of Object.entries({ requestHeadersContextKey, ...keys })) {
    if (key === null) continue;
    if (!settingName.test(key)) {
      throw new StartError(`${option}: ${JSON.stringify(key)} is no setting; give two names and a dot, as in app.user`);
    }
    const other = taken.get(key.toLowerCase());
    if (other !== undefined) throw new StartError(`${option} and ${other} are the same setting, ${key}`);
    taken.set(key.toLowerCase(), option);
  }
}

function checkRoles({ databaseRole }: AuthenticationOptions): void {
  const anonymous = databaseRole?.anonymous;
  if (anonymous === 'none' || anonymous === '') {
    throw new StartError(
      `authentication.databaseRole.anonymous: ${JSON.stringify(anonymous)} is not a role; name one, or null for the role of the connection`,
    );
  }
}

/** A claim that a scheme moves to another name is never there under its old one: all callers would have the role of anonymous ones. */
function checkRoleClaim({ databaseRole, jwt }: AuthenticationOptions): void {
  if (databaseRole === null) return;
  const { claim } = databaseRole;
  for (const { name = 'jwt', claims = {} } of [jwt ?? []].flat()) {
    if (Object.hasOwn(claims, claim)) continue;
    const renamed = Object.entries(claims).find(([, path]) => takes(path, claim));
    if (renamed === undefined) continue;
    throw new StartError(
      `authentication.databaseRole.claim: the scheme "${name}" has no claim ${JSON.stringify(claim)}, because its option claims makes ${JSON.stringify(renamed[0])} of it: set it to ${JSON.stringify(renamed[0])}, or add ${JSON.stringify(claim)} to claims`,
    );
  }
}

/** Whether a claim that is read from this place in the token is no claim under the given name any more. */
function takes(path: string | readonly string[], claim: string): boolean {
  return path === claim || (typeof path === 'string' ? path.split('.') : path)[0] === claim;
}

function checkBasic({ user = null, hash = null, command = null }: BasicOptions): void {
  if (user !== null && hash === null) throw new StartError('basic: the user needs the hash of its password');
  if (user === null && hash !== null) throw new StartError('basic: the hash needs the user whose password it is of');
  if (user === null && command === null) throw new StartError('basic: give a user and a hash, or a command');
}

function checkNames(options: AuthenticationOptions): void {
  const names = {
    statusColumnName: options.statusColumnName,
    messageColumnName: options.messageColumnName,
    schemeColumnName: options.schemeColumnName,
    hashColumnName: options.hashColumnName,
    passwordParameterNameContains: options.passwordParameterNameContains,
    defaultUserIdClaimType: options.defaultUserIdClaimType,
    defaultNameClaimType: options.defaultNameClaimType,
    defaultRoleClaimType: options.defaultRoleClaimType,
  };
  const empty = Object.entries(names).find(([, name]) => name === '');
  if (empty !== undefined) throw new StartError(`${empty[0]} is empty: give a name`);
}
