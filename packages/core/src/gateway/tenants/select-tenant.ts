import { authorize, type ProtectedEndpoint, signInRoute } from '../../auth/authorize.ts';
import { loginsOfTenant } from '../../auth-schemes/tenant-scheme.ts';
import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { Caller } from '../../ports/ports.ts';
import type { Authentication } from '../open-authentication.ts';
import type { TenantOptions } from '../options/tenant-options.ts';
import { compileHostPattern, isTenantName } from './tenant-name.ts';

/**
 * Returns the name of the tenant of a request, which need not exist; null for a request to another host.
 * @throws Problem 401, 403, 404, 503
 */
export type SelectTenant = (request: GatewayRequest) => string | null | Promise<string | null>;

/** @param authentication the authentication that all tenants share, for `by: 'claim'` */
export function createTenantSelector(options: TenantOptions, authentication: Authentication): SelectTenant {
  if (options.by === 'claim') return (request) => selectByClaim(request, options, authentication);
  const match = compileHostPattern(options.host!);
  return (request) => match(request.header('host')) ?? options.default;
}

/** The authorization of a request before its tenant, and so its endpoint, is known. */
const signedInCaller: ProtectedEndpoint = {
  endpoint: { authorization: { required: true, roles: [] }, basicAuthentication: null },
  needsCaller: true,
  changesData: false,
  endpointScheme: null,
};
async function selectByClaim(
  request: GatewayRequest,
  { claim, default: byDefault }: TenantOptions,
  { access }: Authentication,
): Promise<string> {
  // With refused credentials, the endpoints of the default tenant admit to a login only.
  const { caller } = await authorize([byDefault === null ? signedInCaller : signInRoute], request, access);
  const tenant = (caller && readClaim(caller, claim!)) ?? byDefault;
  if (tenant !== null) return tenant;
  throw new Problem('forbidden', { title: 'The caller belongs to no tenant' });
}

/**
 * Returns the authentication of tenants that a claim selects. A login of a caller who is signed in stays in the tenant; the default tenant
 * alone may sign in to other ones.
 * @param tenantOf the tenant of a request; default: that of its caller
 */
export function tenantLogins(
  authentication: Authentication,
  { claim, default: byDefault }: TenantOptions,
  tenantOf: (request: GatewayRequest) => string | null | Promise<string | null> = async (request) => {
    const { caller } = await authorize([signInRoute], request, authentication.access);
    return caller && readClaim(caller, claim!);
  },
): Authentication {
  const bound = async (request: GatewayRequest): Promise<string | null> => {
    const tenant = await tenantOf(request);
    return tenant === byDefault ? null : tenant;
  };
  const schemes = authentication.access.schemes.map((scheme) => loginsOfTenant(scheme, claim!, bound));
  return {
    ...authentication,
    access: { ...authentication.access, schemes },
    login: { ...authentication.login, schemes },
  };
}

/** @throws Problem 403 for several tenants; 404 for a value that is not a name of a tenant */
function readClaim({ claims }: Caller, claim: string): string | null {
  const values = claims.flatMap(([name, value]) => (name === claim ? [value] : []));
  if (values.length > 1) throw new Problem('forbidden', { title: 'The caller belongs to several tenants' });
  const [value = null] = values;
  if (value !== null && !isTenantName(value)) throw new Problem('unknown-tenant');
  return value;
}
