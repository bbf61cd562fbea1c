import type { Endpoint } from './endpoint.ts';

/** Methods that change data. A GET is sent again by browsers and proxies, without its key. */
const methods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Returns why requests of an endpoint cannot have an idempotency key, and what to do; null when they can. */
export function findIdempotencyFault(endpoint: Endpoint): string | null {
  if (endpoint.idempotency === undefined) return null;
  const { kind, method, volatility, loginOrLogout, upload, cache, outputs, result } = endpoint;
  if (kind !== 'function' && kind !== 'procedure')
    return 'only calls of functions and procedures can have idempotency keys';
  if (loginOrLogout !== null)
    return `a ${loginOrLogout.kind} cannot be repeated with the same credentials; remove the line`;
  if (upload !== null)
    return 'the files of an upload are not compared with those of an earlier request; remove the line';
  if (volatility !== 'volatile')
    return `the function is ${volatility}, so that requests can be repeated anyway; remove the line`;
  if (!methods.has(method))
    return `${method} requests are repeated without a key; use POST, or declare the function stable`;
  if (cache !== null) return 'responses of the endpoint are cached; remove one of the lines';
  if (kind === 'procedure' && (outputs.length > 0 || result.kind !== 'nothing')) {
    return 'the outputs of a procedure cannot be stored with its call; use a function, or a procedure without outputs';
  }
  return null;
}
