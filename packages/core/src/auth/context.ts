import { minimalArrayLiteral } from '../postgres/literal.ts';
import { Problem } from '../http/problem.ts';
import type { Caller } from '../ports/ports.ts';
import type { CallContext } from './injected-values.ts';
import { firstClaim, type ClaimTypes, claimsAsJson, callerRoles } from './claims.ts';

/** A setting of the call's transaction. */
export type CallSetting = readonly [name: string, value: string];

/** The names of the settings that pass the caller to a call. */
export interface ContextKeys {
  readonly id: string;
  readonly name: string;
  readonly roles: string;
  readonly ipAddress: string;
  /** Null: claims are not passed. */
  readonly claims: string | null;
}

/**
 * Returns the caller as settings of the transaction. Unknown values are empty strings: PostgreSQL settings cannot be NULL, and an
 * omitted setting would keep the value of an earlier call.
 */
export function contextSettings(
  { request, caller }: CallContext,
  { id, name, roles, ipAddress, claims }: ContextKeys,
  types: ClaimTypes,
): readonly CallSetting[] {
  return [
    [id, (caller && firstClaim(caller.claims, types.id)) ?? ''],
    [name, (caller && firstClaim(caller.claims, types.name)) ?? ''],
    [roles, caller === null ? '' : minimalArrayLiteral(callerRoles(caller, types))],
    [ipAddress, request.remoteAddress ?? ''],
    ...(claims === null ? [] : [[claims, caller === null ? '' : claimsAsJson(caller, types)] as const]),
  ];
}

/** How the database role of a call follows from its caller. */
export interface DatabaseRole {
  /** The claim with the role. */
  readonly claim: string;
  /** The role of callers without that claim, anonymous ones included; null: the role of the connection. */
  readonly anonymous: string | null;
}

/**
 * Returns the role of a caller; null: the role of the connection.
 * @throws Problem 403 for `none`, which PostgreSQL reads as the role of the connection
 */
export function selectRole(caller: Caller | null, { claim, anonymous }: DatabaseRole): string | null {
  const role = (caller && firstClaim(caller.claims, claim)) ?? anonymous;
  if (role === 'none') throw new Problem('forbidden');
  return role;
}

/**
 * Returns the role as a setting of the transaction. PostgreSQL refuses it unless the role of the connection is a member.
 * @throws Problem 403 for `none`
 */
export function roleSettings({ caller }: CallContext, context: DatabaseRole): readonly CallSetting[] {
  const role = selectRole(caller, context);
  return role === null ? [] : [['role', role]];
}
