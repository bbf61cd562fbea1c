/**
 * The configuration schema. Types, defaults, validation, the JSON Schema, `--help` and the reference derive from it.
 * Options that the gateway takes itself have its names, units and defaults.
 */
import { z } from 'zod';
import { authenticationSections } from './schema/authentication.ts';
import { redisCacheSection } from './schema/cache.ts';
import { crudSection } from './schema/crud.ts';
import { externalSignInSection, signInPageSection } from './schema/external-sign-in.ts';
import { eventsSection } from './schema/events.ts';
import { count, flag, optionalText, secret, text } from './schema/fields.ts';
import { gatewaySection } from './schema/gateway.ts';
import { healthSection } from './schema/health.ts';
import { mcpSection } from './schema/mcp.ts';
import { metricsSection } from './schema/metrics.ts';
import { httpFileSection, openApiSection, typescriptClientSection } from './schema/generators.ts';
import { compressionSection, corsSection, securityHeadersSection } from './schema/http.ts';
import { startPageSection } from './schema/start-page.ts';
import { idempotencySection } from './schema/idempotency.ts';
import { readReplicasSection } from './schema/read-replicas.ts';
import { rateLimitsSection, redisRateLimitsSection } from './schema/rate-limits.ts';
import { staticFilesSection } from './schema/static-files.ts';
import { tenantSection } from './schema/tenant.ts';
import { tlsSection } from './schema/tls.ts';
import { tracingSection } from './schema/tracing.ts';
import { logSection, requestTrackingSection } from './schema/log.ts';
import { uploadsSection } from './schema/uploads.ts';

/** A DNS name or an IPv4 address; IPv6 in brackets. */
const hostName = /^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-fA-F:.]+\])$/;

const embedded = z
  .strictObject({
    enabled: z
      .boolean()
      .nullable()
      .default(null)
      .describe('Runs an embedded PostgreSQL; null: when no connection is configured.'),
    dataDirectory: optionalText(
      'The data directory, relative to the working directory. Null: `.pgway/postgres`, or a folder in `/var/lib/pgway` for root in a directory that is closed to other users.',
    ),
    example: flag(true, 'Creates the example database `library` once, and publishes it.'),
  })
  .prefault({})
  .describe('The embedded PostgreSQL, for a start without a database server.');

const seconds = (byDefault: number, description: string): z.ZodDefault<z.ZodNumber> =>
  z.number().positive().max(86_400).default(byDefault).describe(description);

const limits = z
  .strictObject({
    headersTimeout: seconds(15, 'Seconds within which the headers of a request must arrive.'),
    requestTimeout: seconds(
      60,
      'Seconds within which the body of a request must arrive, unless it is an upload, which has a minimum rate.',
    ),
    keepAliveTimeout: seconds(65, 'Seconds that an idle keep-alive connection stays open.'),
    keepAliveInitialDelay: seconds(
      60,
      'Seconds without traffic after which TCP keep-alive probes a client; one that has vanished without closing its connection is disconnected some seconds later.',
    ),
    maxConnections: count(10_000, 'Maximum number of client connections; another one is answered 503.'),
    maxConnectionsPerAddress: z
      .int()
      .min(1)
      .max(1_000_000)
      .nullable()
      .default(1000)
      .describe(
        'Maximum number of connections from one address, or from one /64 network of IPv6; another one is answered 503, with TLS closed. Proxies of `authentication.trustedProxies` have no limit. Null: no limit.',
      ),
    maxRequestsPerConnection: z
      .int()
      .min(1)
      .max(1_000_000_000)
      .nullable()
      .default(10_000)
      .describe('Maximum number of requests on a connection, which is closed after the last one. Null: no limit.'),
    maxConcurrentStreams: count(
      100,
      'Maximum number of concurrent requests on a connection of HTTP/2. On one of HTTP/1.1, a client that sends more without waiting for responses is disconnected.',
    ),
    maxHeadersCount: count(100, 'Maximum number of headers of a request.', 10_000),
    maxHeaderSize: z
      .int()
      .min(1024)
      .max(1_048_576)
      .default(32_768)
      .describe('Maximum bytes of the request line and all headers of a request.'),
  })
  .prefault({})
  .describe('Limits for clients of the HTTP server.');

export const configurationSchema = z.strictObject({
  $schema: z.string().optional().describe('The JSON Schema of this file, for editors.'),
  connectionString: secret(
    optionalText(
      'The database: `postgres://user:password@host:5432/name`, or `Host=…;Port=…;Database=…;Username=…;Password=…`. Null: the embedded PostgreSQL.',
    ),
  ),
  host: text('127.0.0.1', 'The address to listen on; `0.0.0.0` or `::` for every address of the machine.'),
  allowedHosts: z
    .array(z.string().regex(hostName, 'must be a host name without scheme and port, such as api.example.org'))
    .default([])
    .describe(
      'Host names that requests may use in `Host`. On a loopback `host`, loopback names are always accepted and every other name must be listed; elsewhere an empty list accepts every name.',
    ),
  port: z.int().min(0).max(65_535).default(8080).describe('The port to listen on; 0: any free port.'),
  workers: z
    .union([z.int().min(1).max(1024), z.enum(['auto']), z.null()], 'must be a whole number from 1 to 1024, or auto')
    .default(null)
    .describe(
      'The number of processes that serve requests; `auto`: one for each core. Null: `auto` in production, else 1, where production is `authentication.production`, or a `host` that is not a loopback address. They share the connections of `gateway.poolSize`, of which each needs two.',
    ),
  threadPoolSize: z
    .int()
    .min(1)
    .max(1024)
    .nullable()
    .default(null)
    .describe(
      'The threads of a process for passwords, files, compression and look-ups of host names (`UV_THREADPOOL_SIZE` of Node.js), which has 4 of them. With it, requests are served in a worker process also if `workers` is 1: a running process cannot change its threads. Null: as the environment variable says.',
    ),
  shutdownDelay: z
    .number()
    .min(0)
    .max(3600)
    .default(0)
    .describe(
      'Seconds between a stop signal, after which `/health/ready` answers 503, and the shutdown of the listener. Give load balancers this time to notice.',
    ),
  readReplicas: readReplicasSection,
  gateway: gatewaySection,
  crud: crudSection,
  tenant: tenantSection,
  events: eventsSection,
  redisCache: redisCacheSection,
  idempotency: idempotencySection,
  rateLimits: rateLimitsSection,
  redisRateLimits: redisRateLimitsSection,
  uploadOptions: uploadsSection,
  ...authenticationSections,
  externalSignIn: externalSignInSection,
  signInPage: signInPageSection,
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
  openApi: openApiSection,
});

export type Configuration = z.output<typeof configurationSchema>;
