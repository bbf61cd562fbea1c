import type { Endpoint } from './endpoint.ts';

/**
 * Whether an endpoint answers QUERY: it is GET, only reads, by its declaration, and has parameters that a body can contain. A dialect defines
 * its own requests.
 */
export function takesQuery(endpoint: Endpoint): boolean {
  const { method, kind, volatility, bodyParameter, dialect, loginOrLogout, upload, parameters } = endpoint;
  if (method !== 'GET' || volatility === 'volatile' || kind === 'procedure' || dialect !== undefined) return false;
  if (bodyParameter !== null || loginOrLogout !== null || upload !== null) return false;
  return parameters.some(({ inPath, injectedValue }) => !inPath && injectedValue === undefined);
}
