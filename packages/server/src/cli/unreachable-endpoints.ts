import type { Endpoint } from '@pgway/core';
import { shadowedEndpoints } from '../pages/api-docs.ts';
import type { Configuration } from '../config/schema.ts';
import { endpointsBehindHealth } from '../health/health-handler.ts';
import { endpointsBehindMetrics } from '../metrics/metrics-path.ts';
import { isMcpPath } from '../mcp/mcp-handler.ts';

/** Returns a warning for each endpoint at a path that the server itself answers. */
export function unreachableEndpoints(endpoints: readonly Endpoint[], configuration: Configuration): readonly string[] {
  const docs = shadowedEndpoints(endpoints, configuration).map(({ id, path }) => {
    return `${id} cannot be reached: the API docs are served at its path, ${path}`;
  });
  const health = endpointsBehindHealth(endpoints, configuration).map(({ id, path }) => {
    return `${id} cannot be reached: health checks are answered at its path, ${path}; set health.path to another one`;
  });
  const metrics = endpointsBehindMetrics(endpoints, configuration).map(({ id, path }) => {
    return `${id} cannot be reached: metrics are answered at its path, ${path}; set metrics.path to another one`;
  });
  const tools = endpoints
    .filter(({ path }) => isMcpPath(path, configuration))
    .map(({ id, path }) => {
      return `${id} cannot be reached: MCP is served at its path, ${path}; set mcp.path to another one`;
    });
  return [...tools, ...docs, ...health, ...metrics];
}
