/** Metadata of an OAuth 2 protected resource (RFC 9728), from which clients learn where to sign in. */
import type { Configuration } from '../config/schema.ts';

type McpSettings = Configuration['mcp'];

const wellKnown = '/.well-known/oauth-protected-resource';

/** The paths of the metadata: that of the resource as clients know it, and that of this server. Empty without authorization servers. */
export function metadataPaths({ path, resource, authorizationServers }: McpSettings): readonly string[] {
  if (path === null || resource === null || authorizationServers.length === 0) return [];
  return [metadataUrl(resource).pathname, `${wellKnown}${path}`, wellKnown];
}

/** The well-known part stands before the path of the resource (RFC 9728, section 3.1). */
function metadataUrl(resource: string): URL {
  const url = new URL(resource);
  url.pathname = `${wellKnown}${url.pathname === '/' ? '' : url.pathname}`;
  return url;
}

/** Returns the metadata document. */
export function resourceMetadata({ resource, authorizationServers }: McpSettings, name: string): string {
  return JSON.stringify({
    resource,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ['header'],
    resource_name: name,
  });
}

/** Adds the address of the metadata to the challenge of token schemes (RFC 9728, section 5.1). */
export function withMetadata(challenge: string, mcp: McpSettings): string {
  if (metadataPaths(mcp).length === 0 || !/^bearer\b/i.test(challenge)) return challenge;
  const separator = /^bearer\s*$/i.test(challenge) ? ' ' : ', ';
  return `${challenge.trimEnd()}${separator}resource_metadata="${metadataUrl(mcp.resource!).href}"`;
}
