import { type AuthScheme, type Caller, type Claim, type GatewayRequest, Problem } from '../ports/ports.ts';
import type { TokenEncryption } from './keys/key-ring.ts';

/**
 * Restricts a scheme to the tokens of a tenant: those that have its name, and no other one, in the claim. Tokens of logins get the claim.
 * Issuers of tokens serve several tenants, so that their signature alone does not tell the tenant.
 */
export function tenantScheme(scheme: AuthScheme, tenant: string, claim: string): AuthScheme {
  const refused = new WeakSet<GatewayRequest>();
  const check = (request: GatewayRequest, caller: Caller | null): Caller | null => {
    if (caller === null || isOfTenant(caller, tenant, claim)) return caller;
    refused.add(request);
    return null;
  };
  const { signIn } = scheme;
  return {
    name: scheme.name,
    authenticate: (request) => {
      const result = scheme.authenticate(request);
      return result instanceof Promise ? result.then((caller) => check(request, caller)) : check(request, result);
    },
    refusal: (request) =>
      refused.has(request) ? 'The token is not one of this tenant' : (scheme.refusal?.(request) ?? null),
    removal: (request) => scheme.removal?.(request) ?? [],
    challenge: (request) => scheme.challenge(request),
    signIn: signIn === null ? null : (claims, request) => signIn(withTenant(claims, tenant, claim), request),
    signOut: scheme.signOut === null ? null : (request) => scheme.signOut!(request),
    routes: scheme.routes,
  };
}

function isOfTenant({ claims }: Caller, tenant: string, claim: string): boolean {
  const values = claims.filter(([name]) => name === claim);
  return values.length === 1 && values[0]![1] === tenant;
}

/**
 * Returns a scheme whose logins stay in the tenant of the caller, where a claim selects the tenant: the claims of a login may come from the
 * database of that tenant, which must not choose another one.
 * @param tenantOf null: the login chooses the tenant
 */
export function loginsOfTenant(
  scheme: AuthScheme,
  claim: string,
  tenantOf: (request: GatewayRequest) => string | null | Promise<string | null>,
): AuthScheme {
  const { signIn } = scheme;
  if (signIn === null) return scheme;
  return {
    ...scheme,
    signIn: async (claims, request) => {
      const tenant = await tenantOf(request);
      if (tenant === null) return signIn(claims, request);
      if (claims.every(([name, value]) => name !== claim || value === tenant)) {
        return signIn(withTenant(claims, tenant, claim), request);
      }
      throw new Problem('forbidden', {
        title: 'The login names another tenant',
        detail: 'A caller who is signed in to a tenant can log in to the same one only; sign out first.',
      });
    },
  };
}

/** A login cannot choose another tenant. */
function withTenant(claims: readonly Claim[], tenant: string, claim: string): readonly Claim[] {
  return [...claims.filter(([name]) => name !== claim), [claim, tenant]];
}

/** Returns an encryption whose keys are derived for a tenant: a token of another tenant does not decrypt. */
export function tenantEncryption(encryption: TokenEncryption, tenant: string): TokenEncryption {
  const purposeOf = (purpose: string): string => JSON.stringify(['tenant', tenant, purpose]);
  return {
    encrypt: (purpose, payload, expires) => encryption.encrypt(purposeOf(purpose), payload, expires),
    decrypt: (purpose, token, maxLength) => encryption.decrypt(purposeOf(purpose), token, maxLength),
  };
}
