import type { Gateway } from '@pgway/core';
import type { Realtime } from '@pgway/realtime';
import { ConfigurationError } from './config/configuration-error.ts';
import type { Configuration } from './config/schema.ts';

/**
 * Opens the WebSockets; null without their path.
 * @throws ConfigurationError with tenants
 */
export async function openRealtime(
  { realtime: { path, publicChannels }, tenant, cors, authentication, limits }: Configuration,
  gateway: Gateway,
): Promise<Realtime | null> {
  if (path === null) return null;
  if (tenant.by !== null)
    throw new ConfigurationError(['realtime.path: not with tenant.by; clients of tenants use the streams of changes']);
  // Imported when needed: most servers do not need it.
  const { realtime } = await import('@pgway/realtime');
  return realtime(gateway, {
    path,
    allowedOrigins: [...cors.origins, ...authentication.allowedOrigins],
    publicChannels,
    maxConnections: limits.maxConnections,
  });
}
