import type { CallSetting, ContextKeys } from '../../auth/context.ts';
import type { Caller } from '../../ports/ports.ts';
import type { ChangeIdentity } from '../../ports/changes.ts';

/** Claims that differ between two tokens of one caller. */
const claimsOfToken: ReadonlySet<string> = new Set(['exp', 'iat', 'nbf', 'jti']);

/**
 * Returns the identity that rows are read with. The address of the client is part of it only where the endpoint says so, as each client
 * would have lookups of its own.
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
  // The claims as they are: numbers that JavaScript rounds would make two callers one.
  const claims = caller?.claims.filter(([name]) => !claimsOfToken.has(name)) ?? null;
  const others = used.filter(([name]) => name !== keys.claims);
  return { role, settings: used, key: JSON.stringify([others, claims]) };
}
