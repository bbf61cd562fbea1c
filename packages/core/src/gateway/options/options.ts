import type { GatewayRequest } from '../../http/request.ts';
import { type BatchOptions, batchDefaults } from './batch-options.ts';
import { authenticationDefaults, type AuthenticationOptions } from './authentication-options.ts';
import { type ReadReplicasOptions, readReplicasDefaults } from './read-replica-options.ts';
import { idempotencyDefaults, type IdempotencyOptions } from './idempotency-options.ts';
import { rateLimitsDefaults, type RateLimitsOptions } from './rate-limit-options.ts';
import type { TenantOptions } from './tenant-options.ts';
import { uploadDefaults, type UploadOptions } from './upload-options.ts';
import type { Filters, RoutineSource } from '../../catalog/routine-source.ts';
import type { Hooks } from '../../request/hooks.ts';
import type {
  Broadcast,
  Cache,
  QuerySource,
  ConnectionConfiguration,
  ConnectionProvider,
  DataSource,
  Logger,
  Observer,
} from '../../ports/ports.ts';
import { type LogOptions, logDefaults } from '../../logging/log-observer.ts';
import type { DerivingSource } from '../../endpoints/deriving-source.ts';
import type { Diagnostic } from '../../endpoints/diagnostic.ts';
import type { Endpoint, Method } from '../../endpoints/endpoint.ts';
import type { EndpointExplanation } from '../../endpoints/explanation.ts';
import type { EndpointOptions } from '../../endpoints/options.ts';

/** A source of endpoints: it lists routines, and may build the query of each request in place of the call of the routine. */
export interface EndpointSource extends RoutineSource, DerivingSource, Partial<QuerySource> {}

/** Hooks that run at start and at every refresh. Each may be asynchronous. An error fails the start or the refresh. */
export interface StartHooks {
  /** May change the list of sources, which initially contains the functions and procedures of the database. */
  readonly sourcesCreated: ((sources: EndpointSource[]) => void | Promise<void>) | null;
  /** Called for each endpoint. Null drops the endpoint, another endpoint replaces it, undefined keeps it. */
  readonly endpointCreated:
    | ((endpoint: Endpoint) => Endpoint | null | undefined | void | Promise<Endpoint | null | undefined | void>)
    | null;
  /** Called once with all endpoints. */
  readonly endpointsCreated: ((endpoints: readonly Endpoint[]) => void | Promise<void>) | null;
  /**
   * Called at the end of each load with an explanation of every routine that the sources contain: how each line of its comment was read,
   * where its values come from, why it is an endpoint or not. Explanations are made only when this is set.
   */
  readonly endpointsExplained: ((explanations: readonly EndpointExplanation[]) => void | Promise<void>) | null;
  /**
   * Run one after the other after all endpoints are created, such as for code generation. Diagnostics that a handler returns become
   * diagnostics of the gateway.
   */
  readonly endpointCreateHandlers: readonly ((
    endpoints: readonly Endpoint[],
  ) => void | readonly Diagnostic[] | Promise<void | readonly Diagnostic[]>)[];
}

/** Connections to the databases. */
export interface GatewayConnectionOptions {
  /**
   * `postgres://user:password@host:5432/database`, or `Host=…;Database=…`. Several hosts are separated by commas;
   * `target_session_attrs` selects among them. Ignored with a `dataSource`.
   */
  readonly connectionString: string;
  /** Named databases, by the names that comments refer to. */
  readonly connectionStrings: Readonly<Record<string, string>>;
  /**
   * A `pg` pool of the host program that provides connections, up to `poolSize` at a time. The gateway returns each one to be closed, so
   * that no session state reaches other users of the pool. Null: the gateway opens connections itself.
   */
  readonly dataSource: DataSource | null;
  /** Provides the connection for a request, which may be in a transaction of the host program; null: connections of the pool. */
  readonly connectionProvider: ConnectionProvider | null;
  /**
   * Called before each attempt to connect, with the name of the connection (null: the main one, or a read replica). May change the configuration, such as setting a
   * fresh token as password. An error fails the attempt. Not called for a `dataSource`.
   */
  readonly beforeConnectionOpen:
    | ((configuration: ConnectionConfiguration, connection: string | null) => void | Promise<void>)
    | null;
  /**
   * `transaction` behind a pooler in transaction mode, such as PgBouncer, where a session lasts for one transaction; `session`
   * otherwise. Default `session`.
   */
  readonly pooler: 'session' | 'transaction';
  /** False for a pooler without prepared statements (PgBouncer before 1.21). Default true. */
  readonly preparedStatements: boolean;
  /**
   * Seconds that the start waits for a server that is unreachable, is starting, or has no free connection. Default 0: the start fails at
   * once.
   */
  readonly startRetry: number;
  /** The maximum number of connections to each database; null: `Maximum Pool Size` of its connection string, else 10. */
  readonly poolSize: number | null;
  /**
   * The number of connections to each database that stay open from the first call on, at most `poolSize`; null: `Minimum Pool Size` of its
   * connection string, else 1, and 0 with a `dataSource`.
   */
  readonly minPoolSize: number | null;
  /**
   * Seconds after which a connection is replaced when its calls have ended, up to a tenth earlier; 0: never. Null: `Connection Lifetime`
   * of the connection string, else 3,600.
   */
  readonly connectionLifetime: number | null;
  /**
   * Seconds after which an unused connection above `minPoolSize` is closed; 0: never. Null: `Connection Idle Lifetime` of the connection
   * string, else 300, and 10 with a `dataSource`.
   */
  readonly connectionIdleLifetime: number | null;
  /**
   * The number of processes of the host that serve this gateway together: each opens its share of `poolSize`, at least one connection.
   * Default 1.
   */
  readonly processes: number;
  /** Seconds that a request waits for a connection before it gets a 503. Default 5. */
  readonly acquireTimeout: number;
  /** The maximum number of requests that wait for a connection to each database; a further one gets a 503 at once. Default 10,000. */
  readonly maxWaitingCalls: number;
  /** Whether short calls may share a busy connection (pipelining); each is a separate transaction. Default true. */
  readonly shareConnections: boolean;
  /**
   * After which calls a connection is reset (`DISCARD ALL`), so that no session state of a routine reaches another caller: `auto` after
   * routines whose definition, or that of what they use, may change the session; `always` or `never`. Default `auto`.
   */
  readonly connectionReset: 'auto' | 'always' | 'never';
  /**
   * A `NOTIFY` channel: each notification makes the gateway read the catalog again. With an event trigger, gateways follow every
   * migration:
   *
   *     create function notify_gateway() returns event_trigger language plpgsql as
   *       $$ begin perform pg_notify('gateway_refresh', tg_tag); end $$;
   *     create event trigger notify_gateway on ddl_command_end execute function notify_gateway();
   */
  readonly refreshOnNotify: string | null;
  /** The connection string for `LISTEN`, if `connectionString` is that of a pooler in transaction mode; null: the main one. */
  readonly listenConnectionString: string | null;
}

export const connectionDefaults: Omit<GatewayConnectionOptions, 'connectionString'> = Object.freeze({
  connectionStrings: {},
  dataSource: null,
  connectionProvider: null,
  beforeConnectionOpen: null,
  pooler: 'session',
  preparedStatements: true,
  startRetry: 0,
  poolSize: null,
  minPoolSize: null,
  connectionLifetime: null,
  connectionIdleLifetime: null,
  processes: 1,
  acquireTimeout: 5,
  maxWaitingCalls: 10_000,
  shareConnections: true,
  connectionReset: 'auto',
  refreshOnNotify: null,
  listenConnectionString: null,
});

/** Cached responses of endpoints with the annotation `cached`. */
export interface CacheOptions {
  /** False: responses are not cached. Default true. */
  readonly cacheEnabled: boolean;
  /** The cache, which the gateway opens and closes; null: memory of this process. */
  readonly defaultRoutineCache: Cache | null;
  /** Responses with more rows are not cached. Default 1,000. */
  readonly maxCacheableRows: number;
  /** Responses with more bytes are not cached. Default 1,048,576. */
  readonly maxCacheableSize: number;
  /** The maximum number of responses in the memory cache. Default 10,000. */
  readonly maxCacheEntries: number;
  /** The maximum size of the memory cache in bytes. Default 67,108,864. */
  readonly maxCacheSize: number;
  /** Minutes between two removals of expired responses from the memory cache. Default 1. */
  readonly cachePruneIntervalMin: number;
  /**
   * A `NOTIFY` channel. A payload such as `library.search_books`, or several separated by commas, invalidates the cached responses of these
   * routines; an empty one invalidates all. Endpoints with `invalidates` notify the channel too. Null: no channel.
   */
  readonly cacheInvalidateChannel: string | null;
}

export const cacheDefaults: CacheOptions = Object.freeze({
  cacheEnabled: true,
  defaultRoutineCache: null,
  maxCacheableRows: 1_000,
  maxCacheableSize: 1024 * 1024,
  maxCacheEntries: 10_000,
  maxCacheSize: 64 * 1024 * 1024,
  cachePruneIntervalMin: 1,
  cacheInvalidateChannel: null,
});

/** Event streams (server-sent events). */
export interface EventsOptions {
  /** Seconds between two heartbeats of a stream. A client that reads nothing for two of them is disconnected. Default 15. */
  readonly heartbeat: number;
  /** The maximum number of open streams; a further one gets a 503. Default 10,000. */
  readonly maxStreams: number;
  /** The maximum number of open streams of a signed-in user; a further one gets a 429. Default 20. */
  readonly maxStreamsPerUser: number;
  /** The maximum number of open streams of anonymous callers from one address; list proxies in `trustedProxies`. Default 200. */
  readonly maxStreamsPerAddress: number;
  /** The maximum number of bytes queued for a client before it is disconnected. Default 1,048,576. */
  readonly maxQueuedBytes: number;
  /** The maximum number of events of a stream kept for replay to clients that reconnect. Default 1,000. */
  readonly replayEvents: number;
  /** Seconds that events are kept for replay. Default 60. */
  readonly replaySeconds: number;
  /** The maximum number of bytes of events of a stream kept for replay, and of one event. Default 524,288. */
  readonly replayBytes: number;
  /** Response headers of every stream, in addition to the built-in ones or replacing them. */
  readonly customServerSentEventsResponseHeaders: Readonly<Record<string, string>>;
  /**
   * The broadcast between instances: none (`local`), NOTIFY of the main database (`postgres`), or an implementation, such as that for Redis
   * of `@pgway/redis`, which the gateway opens and closes. Default `local`.
   */
  readonly broadcast: 'local' | 'postgres' | Broadcast;
  /** The channel in PostgreSQL that the instances of a gateway share. Default `pgway`. */
  readonly broadcastChannel: string;
}

export const eventsDefaults: EventsOptions = Object.freeze({
  heartbeat: 15,
  maxStreams: 10_000,
  maxStreamsPerUser: 20,
  maxStreamsPerAddress: 200,
  maxQueuedBytes: 1024 * 1024,
  replayEvents: 1_000,
  replaySeconds: 60,
  replayBytes: 512 * 1024,
  customServerSentEventsResponseHeaders: {},
  broadcast: 'local',
  broadcastChannel: 'pgway',
});

/** Options of the gateway as a whole, besides those of endpoints, cache, logs and hooks. */
export interface GeneralOptions extends GatewayConnectionOptions, BatchOptions {
  /**
   * Seconds for each call, after which it is cancelled and the response is 504. Null: `statement_timeout` of the database or role, else
   * 30. 0: `statement_timeout` of the database or role, even if it is not set.
   */
  readonly commandTimeout: number | null;
  /** Seconds that a client may read nothing of its response, which holds memory or a connection, before it is disconnected. Default 30. */
  readonly slowClientTimeout: number;
  /**
   * `plan_cache_mode` of PostgreSQL for prepared calls: the faster one of `auto` and a generic plan, which the gateway measures for each
   * function that only reads and for reads of tables (`measured`; `auto` behind a pooler and with Citus), `auto`, or always generic plans
   * (`force_generic_plan`), which stop the start with the extension Citus. Default `measured`.
   */
  readonly planCacheMode: 'measured' | 'auto' | 'force_generic_plan';
  /** The format of error responses: `application/problem+json` (RFC 9457), or a line of text. Default `problem`. */
  readonly errorFormat: 'problem' | 'text';
  /** Whether error responses contain messages of the database and signatures of overloads. Default true. */
  readonly returnGatewayExceptionMessage: boolean;
  /**
   * With `returnGatewayExceptionMessage`, whether error responses contain the row that violates a constraint ("Failing row contains …"),
   * with columns that the client may not read. Default false.
   */
  readonly returnRowDetails: boolean;
  /**
   * Whether every response has an `X-Request-Id`: that of the request if it is at most 128 characters of visible ASCII, else a new one.
   * Log lines have it as `requestId`.
   */
  readonly requestIdHeader: boolean;
  /** HTTP statuses by SQLSTATE, or by its class of two characters; extends and overrides the built-in table. */
  readonly postgreSqlErrorCodeToHttpStatusCodeMapping: Readonly<Record<string, number>>;
  /** Whether a request with an unknown parameter gets a 400 or the parameter is ignored. Default `reject`. */
  readonly unknownParameters: 'reject' | 'ignore';
  /** The maximum size of a request body in bytes; a larger one gets a 413. Default 1,048,576. */
  readonly maxBodySize: number;
  /** The maximum length of path and query in characters; a longer one gets a 414. Default 8,192. */
  readonly maxUriLength: number;
  /** The setting with the request headers, for endpoints with `request_headers context`. Default `request.headers`. */
  readonly requestHeadersContextKey: string;
  /** Names of request headers that routines do not receive. */
  readonly requestHeadersExclude: readonly string[];
  /**
   * Headers that routines receive in addition to those of the request. Each replaces the request header of its name. Clients do not
   * receive them.
   */
  readonly customRequestHeaders: Readonly<Record<string, string | readonly string[]>>;
  /** A diagnostic of severity error fails the start, instead of dropping its endpoint only. */
  readonly strict: boolean;
  /** The query that lists routines; null: the built-in one. */
  readonly query: string | null;
  /** Whether endpoints have the `CREATE` statement of their routine, for generators with `commentHeader: 'full'`. */
  readonly readDefinitions: boolean;
  /** The sources of endpoints; null: the functions and procedures of the database. */
  readonly routineSources: readonly EndpointSource[] | null;
  /** Whether there is a route that refreshes the gateway. */
  readonly refreshEndpointEnabled: boolean;
  /** The method of the refresh route. Cross-site requests get a 403, whatever the method. Default `POST`. */
  readonly refreshMethod: Method;
  /** The path of the refresh route, without the URL prefix of endpoints. Default `/api/gateway/refresh`. */
  readonly refreshPath: string;
  /** The roles that may refresh; empty: any signed-in caller; null: all callers. */
  readonly refreshRoles: readonly string[] | null;
  /** The logger, with the interface of pino; null: no logs. */
  readonly logger: Logger | null;
  /** Receives all observations, for logs and metrics. */
  readonly observer: Observer | null;
  /** Whether the observer receives each handled request and completed call, for access logs and metrics. */
  readonly observeRequests: boolean;
  /**
   * Whether calls of sampled requests set `application_name` to the `traceparent` of their request, for the log and the monitoring of
   * PostgreSQL. Default `off`.
   */
  readonly traceContext: 'off' | 'application_name';
  /** Returns the `traceparent` that PostgreSQL receives; null: the header of the request. A malformed one is ignored. */
  readonly traceparent: ((request: GatewayRequest) => string | null) | null;
}

/** All options, with their defaults. */
export type ResolvedOptions = Omit<
  GeneralOptions & CacheOptions & LogOptions & StartHooks & Hooks & EndpointOptions & Filters,
  'authentication' | 'uploads' | 'rateLimits'
> & {
  /** Null: one database serves all requests. */
  readonly tenant: TenantOptions | null;
  readonly authentication: AuthenticationOptions;
  readonly readReplicas: ReadReplicasOptions;
  readonly events: EventsOptions;
  readonly rateLimits: RateLimitsOptions;
  readonly idempotency: IdempotencyOptions;
  readonly uploadOptions: UploadOptions;
};

type GroupName =
  | 'tenant'
  | 'authentication'
  | 'readReplicas'
  | 'events'
  | 'rateLimits'
  | 'idempotency'
  | 'uploadOptions';

/** The options of `createGateway`: a connection string or a data source, and any other option. */
export type GatewayOptions = Partial<Omit<ResolvedOptions, 'connectionString' | 'connectionNames' | GroupName>> & {
  readonly tenant?: (Pick<TenantOptions, 'by'> & Partial<TenantOptions>) | null;
  readonly authentication?: Partial<AuthenticationOptions>;
  readonly readReplicas?: Partial<ReadReplicasOptions>;
  readonly events?: Partial<EventsOptions>;
  readonly rateLimits?: Partial<RateLimitsOptions>;
  readonly idempotency?: Partial<IdempotencyOptions>;
  readonly uploadOptions?: Partial<UploadOptions>;
} & (Pick<GeneralOptions, 'connectionString'> | { readonly dataSource: DataSource });

export const generalDefaults: Omit<
  GeneralOptions & CacheOptions & LogOptions & StartHooks & Hooks,
  'connectionString'
> &
  Pick<ResolvedOptions, GroupName> = Object.freeze({
  tenant: null,
  authentication: authenticationDefaults,
  readReplicas: readReplicasDefaults,
  events: eventsDefaults,
  rateLimits: rateLimitsDefaults,
  idempotency: idempotencyDefaults,
  uploadOptions: uploadDefaults,
  ...cacheDefaults,
  ...logDefaults,
  ...connectionDefaults,
  ...batchDefaults,
  commandTimeout: null,
  slowClientTimeout: 30,
  planCacheMode: 'measured',
  errorFormat: 'problem',
  returnGatewayExceptionMessage: true,
  returnRowDetails: false,
  requestIdHeader: false,
  postgreSqlErrorCodeToHttpStatusCodeMapping: {},
  unknownParameters: 'reject',
  maxBodySize: 1024 * 1024,
  maxUriLength: 8 * 1024,
  requestHeadersContextKey: 'request.headers',
  requestHeadersExclude: [],
  customRequestHeaders: {},
  strict: false,
  query: null,
  readDefinitions: false,
  routineSources: null,
  refreshEndpointEnabled: false,
  refreshMethod: 'POST',
  refreshPath: '/api/gateway/refresh',
  refreshRoles: null,
  logger: null,
  observer: null,
  observeRequests: false,
  traceContext: 'off',
  traceparent: null,
  sourcesCreated: null,
  endpointCreated: null,
  endpointsCreated: null,
  endpointsExplained: null,
  endpointCreateHandlers: [],
  validateParameters: null,
  commandCallback: null,
});
