import { Problem } from '../http/problem.ts';
import type { Options } from '../options.ts';
import { type Access, admit, refuseAnonymousCrossSite } from '../pipeline/caller/admit.ts';
import type { SchemeRoute } from '../pipeline/ports.ts';

/** The endpoint that reads the catalog again, where it is asked for: 204, or 500 with the reason and the old endpoints. */
export function refreshEndpoint(
  refresh: () => Promise<void>,
  options: Options,
  access: Access,
): readonly SchemeRoute[] {
  const { refreshEndpointEnabled, refreshMethod: method, refreshPath, refreshRoles } = options;
  if (!refreshEndpointEnabled) return [];
  const guarded = {
    endpoint: { authorization: { required: true, roles: refreshRoles ?? [] }, basic: null },
    needsCaller: true,
    changesData: true,
    ownScheme: null,
  };
  return [
    {
      method,
      // As with every path of an author's, the first slash may be missing.
      path: refreshPath.startsWith('/') ? refreshPath : `/${refreshPath}`,
      handle: async (request) => {
        if (refreshRoles === null) refuseAnonymousCrossSite([guarded], request, access);
        else await admit([guarded], request, access);
        try {
          await refresh();
        } catch (error) {
          throw refreshFailed(error, options);
        }
        return { kind: 'whole', status: 204, headers: [], body: null };
      },
    },
  ];
}

function refreshFailed(error: unknown, { returnGatewayExceptionMessage }: Options): Problem {
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem('refresh-failed', { ...(returnGatewayExceptionMessage ? { detail } : {}), cause: error });
}
