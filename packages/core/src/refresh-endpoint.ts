import { Problem } from './http/problem.ts';
import type { GatewayRequest } from './http/request.ts';
import type { GatewayResponse, Handle } from './http/response.ts';
import type { Options } from './options.ts';
import { admit } from './pipeline/admit.ts';
import { refuse, type RefuseOptions } from './pipeline/refuse.ts';

/** Puts the refresh endpoint before the others, where it is asked for: 204, or 500 with the reason and the old endpoints. */
export function withRefreshEndpoint(handle: Handle, refresh: () => Promise<void>, options: Options): Handle {
  const { refreshEndpointEnabled, refreshMethod, refreshPath } = options;
  if (!refreshEndpointEnabled) return handle;
  const path = withoutSlash(refreshPath);
  return async (request) => {
    if (withoutSlash(request.path) !== path) return handle(request);
    if (request.method === refreshMethod) return answer(request, refresh, options);
    // A routine may answer another method at the same path.
    return (await handle(request)) ?? otherMethod(request, options);
  };
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function refusal({ errorFormat, returnGatewayExceptionMessage }: Options): RefuseOptions {
  return { format: errorFormat, showDatabaseMessage: returnGatewayExceptionMessage, mappedCodes: {} };
}

function otherMethod(request: GatewayRequest, options: Options): GatewayResponse {
  const headers = ['allow', `${options.refreshMethod}, OPTIONS`];
  if (request.method === 'OPTIONS') return { kind: 'whole', status: 204, headers, body: null, passable: true };
  return { ...refuse(new Problem('method-not-allowed', { headers }), null, refusal(options)), passable: true };
}

/** Guarded like an endpoint where the host says so. */
async function guard(request: GatewayRequest, { refreshRoles }: Options): Promise<void> {
  if (refreshRoles === null) return;
  await admit([{ endpoint: { authorization: { required: true, roles: refreshRoles } } }], request, []);
}

async function answer(
  request: GatewayRequest,
  refresh: () => Promise<void>,
  options: Options,
): Promise<GatewayResponse> {
  try {
    await guard(request, options);
    await refresh();
    return { kind: 'whole', status: 204, headers: [], body: null };
  } catch (error) {
    return refuse(error instanceof Problem ? error : refreshFailed(error, options), null, refusal(options));
  }
}

function refreshFailed(error: unknown, { returnGatewayExceptionMessage }: Options): Problem {
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem('refresh-failed', { ...(returnGatewayExceptionMessage ? { detail } : {}), cause: error });
}
