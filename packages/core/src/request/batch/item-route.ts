import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { CompiledEndpoint } from '../compiled-endpoint.ts';
import type { RequestPipeline } from '../pipeline.ts';
import { lookUpRoute } from '../route-lookup.ts';
import type { RouteMatch } from '../router.ts';

/**
 * Finds the endpoints of a request of a batch.
 * @throws Problem 400 `not-in-batch`, 404, 405
 */
export function findItemRoute(
  request: Pick<GatewayRequest, 'method' | 'path'>,
  pipeline: RequestPipeline,
): RouteMatch<CompiledEndpoint> {
  const { method, path } = request;
  const route = lookUpRoute({ method, path, query: '', header: noHeader }, pipeline);
  switch (route.kind) {
    case 'not-found':
    case 'unknown-resource':
      throw new Problem('unknown-endpoint', { detail: 'A batch can call the endpoints of the database only.' });
    case 'method-not-allowed':
      throw new Problem('method-not-allowed', {
        detail: `${request.method} is not answered here; try ${route.allowed.join(', ')}.`,
      });
    case 'stream':
    case 'changes':
      throw notInBatch('An event stream');
    case 'match':
      for (const { endpoint } of route.targets) requireBatchable(endpoint);
      return route;
  }
}

/** Requests that choose a schema by a header have a dialect, and are refused. */
function noHeader(): undefined {
  return undefined;
}

/** @throws Problem `not-in-batch` for an endpoint that has effects outside its transaction, or a body that JSON cannot hold */
function requireBatchable({ upload, loginOrLogout, raw, connection, dialect, result }: Endpoint): void {
  if (dialect !== undefined) throw notInBatch(`A request in the dialect "${dialect}"`);
  if (upload !== null) throw notInBatch('An upload');
  if (loginOrLogout !== null) throw notInBatch(`A ${loginOrLogout.kind}`);
  if (raw !== null) throw notInBatch('An endpoint with a raw format');
  if (connection !== null) throw notInBatch('An endpoint of another connection');
  if (result.kind === 'value' && result.media === 'bytes') throw notInBatch('An endpoint that returns bytes');
}

function notInBatch(subject: string): Problem {
  return new Problem('not-in-batch', { detail: `${subject} cannot be part of a batch; send the request alone.` });
}

/** Whether the calls of the endpoints change nothing, so that an error after their commit leaves nothing half done. */
export function onlyReads(targets: readonly CompiledEndpoint[]): boolean {
  return targets.every(({ endpoint }) => endpoint.volatility !== 'volatile');
}

/** Whether the outcome of a call is known before its transaction commits: nothing after the database can refuse the response. */
export function isDecidedByDatabase(targets: readonly CompiledEndpoint[]): boolean {
  return targets.every(
    (target) =>
      target.queryBuilder === null &&
      !target.convertsOutput &&
      !target.endpoint.responseSettings &&
      // Many rows may be more than the response can hold.
      !target.hasManyRows,
  );
}
