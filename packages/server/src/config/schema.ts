/**
 * The configuration schema: sections of options. Types, defaults, validation, the JSON Schema, `--help` and the reference derive from it.
 */
import {
  arrayOf,
  boundedText,
  integer,
  matching,
  nonEmptyString,
  nullable,
  oneOf,
  option,
  optionalOption,
  string,
  union,
} from '@pgway/core/internal';
import { authenticationSections } from './schema/authentication.ts';
import { count, flag, optionalFlag, optionalSecret, optionalText, seconds, text } from './schema/fields.ts';
import { gatewaySection } from './schema/gateway.ts';
import { healthSection } from './schema/health.ts';
import { compressionSection, corsSection, securityHeadersSection } from './schema/http.ts';
import {
  changesSection,
  crudSection,
  eventsSection,
  databaseTypesSection,
  httpFileSection,
  idempotencySection,
  openApiSection,
  rateLimitsSection,
  realtimeSection,
  readReplicasSection,
  redisCacheSection,
  redisRateLimitsSection,
  tenantSection,
  typescriptClientSection,
  uploadsSection,
} from './schema/library.ts';
import { logSection, requestTrackingSection } from './schema/log.ts';
import { mcpSection } from './schema/mcp.ts';
import { metricsSection } from './schema/metrics.ts';
import { section, type SectionValues } from './schema/section.ts';
import { startPageSection } from './schema/start-page.ts';
import { staticFilesSection } from './schema/static-files.ts';
import { tlsSection } from './schema/tls.ts';
import { tracingSection } from './schema/tracing.ts';

/** A DNS name or an IPv4 address; IPv6 in brackets. */
const hostName = matching(
  /^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-fA-F:.]+\])$/,
  'a host name without scheme and port, such as api.example.org',
);

const embedded = section('The embedded PostgreSQL, for a start without a database server.', {
  enabled: optionalFlag('Runs an embedded PostgreSQL; null: when no connection is configured.'),
  dataDirectory: optionalText(
    'The data directory, relative to the working directory. Null: `.pgway/postgres`, or a folder in `/var/lib/pgway` for root in a directory that is closed to other users.',
  ),
  example: flag(true, 'Creates the example database `library` once, and publishes it.'),
});

const limits = section('Limits for clients of the HTTP server.', {
  headersTimeout: seconds(15, { min: null }, 'Seconds within which the headers of a request must arrive.'),
  requestTimeout: seconds(
    60,
    { min: null },
    'Seconds within which the body of a request must arrive, unless it is an upload, which has a minimum rate.',
  ),
  keepAliveTimeout: seconds(65, { min: null }, 'Seconds that an idle keep-alive connection stays open.'),
  maxConnections: count(10_000, 'Maximum number of client connections; another one is answered 503.'),
  maxConnectionsPerAddress: option(
    nullable(integer({ min: 1, max: 1_000_000 })),
    1000,
    'Maximum number of connections from one address, or from one /64 network of IPv6; another one is answered 503, with TLS closed. Proxies of `authentication.trustedProxies` have no limit. Null: no limit.',
  ),
  maxRequestsPerConnection: option(
    nullable(integer({ min: 1, max: 1_000_000_000 })),
    10_000,
    'Maximum number of requests on a connection, which is closed after the last one. Null: no limit.',
  ),
  maxConcurrentStreams: count(
    100,
    'Maximum number of concurrent requests on a connection of HTTP/2. On one of HTTP/1.1, a client that sends more without waiting for responses is disconnected.',
  ),
  maxHeaderSize: option(
    integer({ min: 1024, max: 1_048_576 }),
    32_768,
    'Maximum bytes of the request line and all headers of a request. A path with its query may have a quarter of it; a longer one is answered 414.',
  ),
});

export const configurationSchema = section('The database, and the address to listen on.', {
  $schema: optionalOption(string, 'The JSON Schema of this file, for editors.'),
  connectionString: optionalSecret(
    'The database: `postgres://user:password@host:5432/name`, or `Host=…;Port=…;Database=…;Username=…;Password=…`. Null: the embedded PostgreSQL.',
  ),
  host: text('127.0.0.1', 'The address to listen on; `0.0.0.0` or `::` for every address of the machine.'),
  allowedHosts: option(
    arrayOf(hostName),
    [],
    'Host names that requests may use in `Host`. On a loopback `host`, loopback names are always accepted and every other name must be listed; elsewhere an empty list accepts every name.',
  ),
  name: option(
    boundedText(63),
    'pgway',
    'The name of this gateway, which all of its instances have, and no other gateway with the same Redis, database or store of keys. It is the prefix of keys in Redis, the channel of messages between instances, and part of the encryption of cookies and tokens, which become invalid when it changes. Challenges (`realm`), MCP clients and traces show it.',
  ),
  port: option(integer({ min: 0, max: 65_535 }), 8080, 'The port to listen on; 0: any free port.'),
  workers: option(
    nullable(union(integer({ min: 1, max: 1024 }), oneOf('auto'))),
    null,
    'The number of processes that serve requests; `auto`: one for each core. Null: `auto` in production, else 1, where production is `authentication.production`, or a `host` that is not a loopback address. They share the connections of `gateway.poolSize`, of which each needs two.',
  ),
  fastPath: flag(
    true,
    'Whether requests of a simple form for endpoints are read by a strict parser instead of `node:http`, which takes less CPU for a short call. `node:http` serves all other requests, and every request with CORS, compression, security headers, tenants or the example database.',
  ),
  shutdownDelay: seconds(
    0,
    { min: 0, max: 3600 },
    'Seconds between a stop signal, after which `/health/ready` answers 503, and the shutdown of the listener. Give load balancers this time to notice.',
  ),
  readReplicas: readReplicasSection,
  gateway: gatewaySection,
  crud: crudSection,
  sqlFiles: option(
    union(arrayOf(nonEmptyString), nonEmptyString),
    [],
    'SQL files that are endpoints, as patterns below the working directory: `api/**/*.sql`, or a list. A file needs an `HTTP` line in its comments; `*.test.sql` is never an endpoint.',
  ),
  sqlFilesFolders: flag(
    false,
    'Whether the folders of SQL files, behind the one that all of a pattern have, are part of the paths of their endpoints: `/api/admin/users` for `api/admin/users.sql` of `api/**/*.sql`.',
  ),
  testFiles: option(
    union(arrayOf(nonEmptyString), nonEmptyString),
    '**/*.test.sql',
    'The files of `pgway test`, as patterns below the working directory, or a list. Their names end with `.test.sql`.',
  ),
  tenant: tenantSection,
  events: eventsSection,
  changes: changesSection,
  realtime: realtimeSection,
  redisCache: redisCacheSection,
  idempotency: idempotencySection,
  rateLimits: rateLimitsSection,
  redisRateLimits: redisRateLimitsSection,
  uploadOptions: uploadsSection,
  ...authenticationSections,
  embedded,
  log: logSection,
  requestTracking: requestTrackingSection,
  limits,
  tls: tlsSection,
  health: healthSection,
  metrics: metricsSection,
  tracing: tracingSection,
  cors: corsSection,
  compression: compressionSection,
  securityHeaders: securityHeadersSection,
  staticFiles: staticFilesSection,
  startPage: startPageSection,
  mcp: mcpSection,
  typescriptClient: typescriptClientSection,
  httpFile: httpFileSection,
  databaseTypes: databaseTypesSection,
  openApi: openApiSection,
});

export type Configuration = SectionValues<typeof configurationSchema>;
