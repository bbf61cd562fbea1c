import type { Endpoint, Routine } from '@pgway/core';
import type { ResolvedPostgrestOptions } from '../options.ts';
import { keepFunction } from './function-target.ts';

/**
 * Returns the endpoints of functions in the dialect: `<path>/rpc/<exact name>`, made of their endpoints, whose authorization, limits and
 * settings they have.
 */
export function createRpcEndpoints(
  endpoints: readonly Endpoint[],
  routines: readonly Routine[],
  options: ResolvedPostgrestOptions,
): readonly Endpoint[] {
  const offered = endpoints.filter(isOffered);
  if (offered.length === 0) return [];
  const bySignature = new Map(routines.map((routine) => [routine.signature, routine]));
  return offered.flatMap((endpoint) => {
    const routine = bySignature.get(endpoint.id);
    if (routine === undefined) return [];
    return methodsOf(endpoint).map((method) => {
      const made = toRpcEndpoint(endpoint, method, options);
      keepFunction(made, routine, options);
      return made;
    });
  });
}

/** Functions whose endpoint needs more than arguments are left out. */
function isOffered({ kind, table, dialect, upload, loginOrLogout, idempotency }: Endpoint): boolean {
  if (kind !== 'function' || table !== null || dialect !== undefined) return false;
  return upload === null && loginOrLogout === null && idempotency === undefined;
}

/** The arguments of a function that only reads, and whose comment asks for POST all the same, do not belong into URLs. */
function methodsOf({ method, volatility }: Endpoint): readonly ('GET' | 'POST')[] {
  return method === 'GET' || volatility === 'volatile' ? ['GET', 'POST'] : ['POST'];
}

function toRpcEndpoint(endpoint: Endpoint, method: 'GET' | 'POST', { path }: ResolvedPostgrestOptions): Endpoint {
  const { mcp: _, fieldErrors: __, citus: ___, ...rest } = endpoint;
  return Object.freeze({
    ...rest,
    id: `postgrest rpc ${method} ${endpoint.id}`,
    source: 'postgrest',
    dialect: 'postgrest',
    method,
    path: `${path}/rpc/${encodeURIComponent(endpoint.name)}`,
    parameterSource: 'body',
    // Clients of PostgREST know the exact names only.
    parameters: Object.freeze(
      endpoint.parameters.map((parameter) =>
        Object.freeze({ ...parameter, key: parameter.name, inPath: false, fields: null }),
      ),
    ),
    rejectsUnknownKeys: true,
    bodyParameter: null,
    events: null,
    cache: null,
    raw: null,
    contentType: null,
  } satisfies Endpoint);
}
