import type { Endpoint } from '@pgway/core';
import type { Configuration } from '../config/schema.ts';

/** Returns the endpoints whose path is taken by the metrics. */
export function endpointsBehindMetrics(
  endpoints: readonly Endpoint[],
  { metrics: { path } }: Configuration,
): readonly Endpoint[] {
  return endpoints.filter((endpoint) => endpoint.path.replace(/\/$/, '') === path);
}
