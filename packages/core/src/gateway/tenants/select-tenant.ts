import { authorize, type ProtectedEndpoint } from '../../auth/authorize.ts';
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
/** As for a login: a refused token is no caller. The endpoint of the tenant decides about it. */
const anyCaller: ProtectedEndpoint = {
  ...signedInCaller,
  endpoint: {
    authorization: { required: false, roles: [] },
    basicAuthentication: null,
    loginOrLogout: { kind: 'login' },
  },
};

async function selectByClaim(
  request: GatewayRequest,
  { claim, default: byDefault }: TenantOptions,
  { access }: Authentication,
): Promise<string> {
  const { caller } = await authorize([byDefault === null ? signedInCaller : anyCaller], request, access);
  const tenant = caller === null ? byDefault : (readClaim(caller, claim!) ?? byDefault);
  if (tenant !== null) return tenant;
  throw new Problem('forbidden', { title: 'The caller belongs to no tenant' });
}

/** @throws Problem 403 for several tenants; 404 for a value that is no name of a tenant */
function readClaim({ claims }: Caller, claim: string): string | null {
  const values = claims.flatMap(([name, value]) => (name === claim ? [value] : []));
  if (values.length > 1) throw new Problem('forbidden', { title: 'The caller belongs to several tenants' });
  const [value = null] = values;
  if (value !== null && !isTenantName(value)) throw new Problem('unknown-tenant');
  return value;
}
