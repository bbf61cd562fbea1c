import { Problem } from './http/problem.ts';
import type { GatewayResponse, Handle } from './http/response.ts';
import type { Options } from './options.ts';
import { refuse, type RefuseOptions } from './pipeline/refuse.ts';

/** Puts the refresh endpoint before the others, where it is asked for: 204, or 500 with the reason and the old endpoints. */
export function withRefreshEndpoint(handle: Handle, refresh: () => Promise<void>, options: Options): Handle {
  const { refreshEndpointEnabled, refreshMethod, refreshPath } = options;
  if (!refreshEndpointEnabled) return handle;
  return async (request) => {
    if (request.path !== refreshPath) return handle(request);
    if (request.method === refreshMethod) return answer(refresh);
    // A routine may answer another method at the same path.
    return (await handle(request)) ?? wrongMethod(refreshMethod);
  };
}

const refusal: RefuseOptions = { format: 'problem', showDatabaseMessage: true, mappedCodes: {} };

function wrongMethod(method: string): GatewayResponse {
  return {
    ...refuse(new Problem('method-not-allowed', { headers: ['allow', method] }), null, refusal),
    passable: true,
  };
}

async function answer(refresh: () => Promise<void>): Promise<GatewayResponse> {
  try {
    await refresh();
    return { kind: 'whole', status: 204, headers: [], body: null };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    const problem = new Problem('refresh-failed', { detail, cause: error });
    return refuse(problem, null, refusal);
  }
}
