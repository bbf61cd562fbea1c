import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { Options } from '../options/options.ts';
import { type Access, authorize } from '../../auth/authorize.ts';
import type { Caller, SchemeRoute } from '../../ports/ports.ts';

/** The endpoint that reads the catalog again, where it is asked for: 204, or 500 with the reason and the old endpoints. */
export function refreshEndpoint(
  refresh: () => Promise<void>,
  options: Options,
  access: Access,
): readonly SchemeRoute[] {
  const { refreshEndpointEnabled, refreshMethod: method, refreshPath } = options;
  if (!refreshEndpointEnabled) return [];
  return [
    {
      method,
      // As with every path of an author's, the first slash may be missing.
      path: refreshPath.startsWith('/') ? refreshPath : `/${refreshPath}`,
      handle: async (request) => {
        const caller = await callerOf(request, options, access);
        try {
          await refresh();
        } catch (error) {
          throw refreshFailed(error, caller, options);
        }
        return { kind: 'whole', status: 204, headers: [], body: null };
      },
    },
  ];
}

/**
 * The caller that may refresh; null where no role is asked for and none is signed in.
 * @throws Problem 401, 403; 403 too where a page of another site made the browser call, whatever the method
 */
async function callerOf(request: GatewayRequest, { refreshRoles }: Options, access: Access): Promise<Caller | null> {
  const guarded = {
    endpoint: { authorization: { required: refreshRoles !== null, roles: refreshRoles ?? [] }, basic: null },
    needsCaller: true,
    changesData: true,
    ownScheme: null,
  };
  return (await authorize([guarded], request, access)).caller;
}

/** The reason may name hosts, ports and roles: it is for a signed-in caller. The log has it under the id of the request. */
function refreshFailed(error: unknown, caller: Caller | null, { returnGatewayExceptionMessage }: Options): Problem {
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem('refresh-failed', {
    ...(caller !== null && returnGatewayExceptionMessage ? { detail } : {}),
    cause: error,
  });
}
