import type { AuthenticationOptions, BasicOptions } from './options/authentication-options.ts';
import type { ResolvedOptions } from './options/options.ts';
import { OptionsError } from './start-error.ts';

/**
 * Validates combinations of the authentication options.
 * @throws StartError for a combination that would weaken the authentication
 */
export function validateAuthentication({ authentication, requestHeadersContextKey }: ResolvedOptions): void {
  checkSettings(authentication, requestHeadersContextKey);
  checkRoles(authentication);
  checkRoleClaim(authentication);
  if (authentication.basic !== null) checkBasic(authentication.basic);
  checkNames(authentication);
  const { antiforgeryPath: path } = authentication;
  if (path !== null && !/^\/[^?#\s]*$/.test(path)) {
    throw new OptionsError(`antiforgeryPath: ${JSON.stringify(path)} must begin with a slash`);
  }
}

/** The name of a customized option (PostgreSQL, "Customized Options"): two parts with a dot. */
const settingName = /^[a-z_][\w$]*(?:\.[a-z_][\w$]*)+$/i;

/** Each value needs its own setting: otherwise a request header could overwrite the identity of the caller. */
function checkSettings(options: AuthenticationOptions, requestHeadersContextKey: string): void {
  const { userIdContextKey, userNameContextKey, userRolesContextKey, ipAddressContextKey, userClaimsContextKey } =
    options;
  const keys = { userIdContextKey, userNameContextKey, userRolesContextKey, ipAddressContextKey, userClaimsContextKey };
  const taken = new Map<string, string>();
  for (const [option, key] of Object.entries({ requestHeadersContextKey, ...keys })) {
    if (key === null) continue;
    if (!settingName.test(key)) {
      throw new OptionsError(
        `${option}: ${JSON.stringify(key)} is not the name of a setting; give two names with a dot, as in app.user`,
      );
    }
    const other = taken.get(key.toLowerCase());
    if (other !== undefined)
      throw new OptionsError(`${option} and ${other} have the same setting ${key}; give each its own`);
    taken.set(key.toLowerCase(), option);
  }
}

function checkRoles({ databaseRole }: AuthenticationOptions): void {
  const anonymous = databaseRole?.anonymous;
  if (anonymous === 'none' || anonymous === '') {
    throw new OptionsError(
      `authentication.databaseRole.anonymous: ${JSON.stringify(anonymous)} is not a role; name one, or null for the role of the connection`,
    );
  }
}

/** A claim that `claims` maps to another name is missing under its original name: all callers would run under the anonymous role. */
function checkRoleClaim({ databaseRole, jwt }: AuthenticationOptions): void {
  if (databaseRole === null) return;
  const { claim } = databaseRole;
  for (const { name = 'jwt', claims = {} } of [jwt ?? []].flat()) {
    if (Object.hasOwn(claims, claim)) continue;
    const renamed = Object.entries(claims).find(([, path]) => removes(path, claim));
    if (renamed === undefined) continue;
    throw new OptionsError(
      `authentication.databaseRole.claim: the scheme "${name}" has no claim ${JSON.stringify(claim)}, because its option claims makes ${JSON.stringify(renamed[0])} of it: set it to ${JSON.stringify(renamed[0])}, or add ${JSON.stringify(claim)} to claims`,
    );
  }
}

/** Whether a claim with this path is missing under its original name. */
function removes(path: string | readonly string[], claim: string): boolean {
  return path === claim || (typeof path === 'string' ? path.split('.') : path)[0] === claim;
}

function checkBasic({ user = null, hash = null, command = null }: BasicOptions): void {
  if (user !== null && hash === null) throw new OptionsError('basic: user needs hash, the hash of the password');
  if (user === null && hash !== null) throw new OptionsError('basic: hash needs user');
  if (user === null && command === null) throw new OptionsError('basic: set user and hash, or command');
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
  if (empty !== undefined) throw new OptionsError(`${empty[0]} is empty; give a name`);
}
