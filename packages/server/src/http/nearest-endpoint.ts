import type { Endpoint } from '@pgway/core';
import { nearestName } from '@pgway/core/internal';

/** The longest path that is compared, and the most paths that it is compared with: each pair takes the product of their lengths. */
const maxLength = 100;
const maxPaths = 1000;

/**
 * Returns the endpoint that a request for a path without one may mean, as in `GET /api/add-note`; null: none is near. A path parameter
 * takes the segment of the request. A path that lacks its beginning, as `/add-note`, means the endpoint that ends so.
 */
export function nearestEndpoint(endpoints: readonly Endpoint[], method: string, path: string): string | null {
  if (path.length > maxLength) return null;
  const segments = path.split('/');
  const byPath = new Map<string, Endpoint>();
  for (const endpoint of endpoints) {
    if (byPath.size === maxPaths) break;
    const candidate = fillPath(endpoint.path, segments);
    if (!byPath.has(candidate) || endpoint.method === method) byPath.set(candidate, endpoint);
  }
  const paths = [...byPath.keys()];
  const nearest = nearestName(path, paths) ?? nearestEnding(path, paths);
  return nearest === null ? null : `${byPath.get(nearest)!.method} ${nearest}`;
}

function nearestEnding(path: string, paths: readonly string[]): string | null {
  const count = path.split('/').length - 1;
  const byEnding = new Map(paths.map((candidate) => [`/${candidate.split('/').slice(-count).join('/')}`, candidate]));
  const ending = nearestName(path, [...byEnding.keys()]);
  return ending === null ? null : byEnding.get(ending)!;
}

/** Returns the path with the segments of the request for its parameters, if it has as many segments. */
function fillPath(path: string, segments: readonly string[]): string {
  const own = path.split('/');
  if (!path.includes('{') || own.length !== segments.length) return path;
  return own.map((segment, index) => (segment.startsWith('{') ? segments[index]! : segment)).join('/');
}
