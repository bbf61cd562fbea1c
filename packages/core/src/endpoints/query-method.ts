import type { Endpoint } from './endpoint.ts';
import { fromRoutine, type Resolved } from './origin.ts';

/**
 * Whether an endpoint answers QUERY: it is GET, only reads, by its declaration, and has parameters that a body can contain. A dialect defines
 * its own requests.
 */
export function takesQuery(endpoint: Endpoint): boolean {
  return hasQuery(endpoint) && findObstacle(endpoint) === null;
}

/** Explains whether an endpoint with GET and parameters answers QUERY; null for other endpoints. */
export function explainQuery(endpoint: Endpoint): Resolved<'answered' | 'not answered'> | null {
  if (!hasQuery(endpoint)) return null;
  const obstacle = findObstacle(endpoint);
  return obstacle === null ? fromRoutine('answered', 'it only reads') : fromRoutine('not answered', obstacle);
}

function hasQuery({ method, dialect, loginOrLogout, upload, parameters }: Endpoint): boolean {
  if (method !== 'GET' || dialect !== undefined || loginOrLogout !== null || upload !== null) return false;
  return parameters.some(({ inPath, injectedValue }) => !inPath && injectedValue === undefined);
}

function findObstacle({ kind, volatility, bodyParameter }: Endpoint): string | null {
  if (volatility === 'volatile' || kind === 'procedure') return 'it may write';
  return bodyParameter === null ? null : 'the body is the value of a parameter';
}
