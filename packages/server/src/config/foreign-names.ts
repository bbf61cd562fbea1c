/** Names that other programs have for a setting: PostgREST, Fastify, Express and tools of PostgreSQL. */
const namesBySetting: Readonly<Record<string, string>> = {
  connectionString: 'db, database, db-uri, db-url, database-url, connection, url, uri',
  port: 'server-port, http-port',
  host: 'server-host, hostname, bind',
  'gateway.includeSchemas': 'schema, schemas, db-schema, db-schemas, gateway.schema, gateway.schemas',
  'gateway.urlPathPrefix': 'prefix, base-path, api-prefix',
  'gateway.poolSize': 'db-pool, pool, gateway.pool, gateway.max',
  'gateway.maxBodySize': 'body-limit',
  'gateway.refreshOnNotify': 'db-channel',
  'authentication.databaseRole.anonymous': 'anon-role, db-anon-role',
  'authentication.trustedProxies': 'trust-proxy',
  'jwt.secret': 'jwt-secret',
  'jwt.audience': 'jwt-aud, jwt.aud',
  'jwt.issuer': 'jwt.iss',
  'cors.origins': 'cors.origin, cors.allowed-origins, cors.allow-origin, server-cors-allowed-origins',
  'crud.listingLimits.maxLimit': 'max-rows, db-max-rows',
  'crud.postgrest.preRequest': 'db-pre-request',
  'crud.postgrest.extraSearchPath': 'db-extra-search-path',
  'staticFiles.root': 'static, public, staticFiles.folder, staticFiles.path, staticFiles.rootPath',
};

const normalize = (name: string): string => name.replaceAll(/[-_]/g, '').toLowerCase();

const settingsByName = new Map(
  Object.entries(namesBySetting).flatMap(([setting, names]) =>
    names.split(', ').map((name) => [normalize(name), setting] as const),
  ),
);

/** The settings that have such names. */
export const settingsWithForeignNames: readonly string[] = Object.keys(namesBySetting);

/** Returns the setting that another program calls by the name, or null. */
export function settingOfForeignName(name: string): string | null {
  return settingsByName.get(normalize(name)) ?? null;
}
