import type { CallSetting, ContextKeys } from '../../auth/context.ts';
import { documentSlice, sliceToJson, visitChildren } from '../../http/json-slice.ts';
import type { Caller } from '../../ports/ports.ts';
import type { ChangeIdentity } from '../../ports/changes.ts';

/** Claims that differ between two tokens of one caller. */
const claimsOfToken: ReadonlySet<string> = new Set(['exp', 'iat', 'nbf', 'jti']);

/** The setting that functions such as `auth.uid()` read. */
export const jwtClaimsSetting = 'request.jwt.claims';

/**
 * Returns the identity that rows are read with. The address of the client is part of it only where the endpoint says so, as each client
 * would have lookups of its own. The key has every setting, as callers with one key get the rows of one of them.
 */
export function toChangeIdentity(
  settings: readonly CallSetting[],
  role: string | null | undefined,
  {
    caller,
    keys,
    byAddress,
  }: { readonly caller: Caller | null; readonly keys: ContextKeys; readonly byAddress: boolean },
): ChangeIdentity {
  const used = settings.map(([name, value]) => [name, name === keys.ipAddress && !byAddress ? '' : value] as const);
  const compared = used.map(([name, value]) => {
    const hasClaims = (name === keys.claims || name === jwtClaimsSetting) && value !== '';
    return [name, hasClaims ? membersOfCaller(value) : value];
  });
  // Endpoints without settings of the caller may fill parameters from its claims.
  const claims = caller?.claims.filter(([name]) => !claimsOfToken.has(name)) ?? null;
  return {
    role,
    settings: used,
    key: JSON.stringify([caller?.scheme ?? null, caller?.issuer ?? null, claims, compared]),
  };
}

/**
 * Returns the claims that two tokens of one caller share, as they are written: JavaScript would round their large numbers, and PostgreSQL
 * can read each of several members with one name.
 */
function membersOfCaller(json: string): readonly (readonly [name: string, value: string])[] {
  const members: (readonly [name: string, value: string])[] = [];
  visitChildren(documentSlice(json), (name, value) => {
    if (name !== null && !claimsOfToken.has(name)) members.push([name, sliceToJson(value)]);
    return true;
  });
  return members;
}
