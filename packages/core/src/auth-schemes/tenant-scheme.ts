import type { AuthScheme, Caller, Claim, GatewayRequest } from '../ports/ports.ts';
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
