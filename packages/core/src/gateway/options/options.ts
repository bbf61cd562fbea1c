import { authenticationDefaults, type AuthenticationOptions } from './authentication-options.ts';
import type { Filters, RoutineSource } from '../../catalog/routine-source.ts';
import type { Hooks } from '../../request/hooks.ts';
import type {
  Broadcast,
  Cache,
  QueryBuilder,
  ConnectionConfiguration,
  ConnectionProvider,
  DataSource,
  Logger,
  Observer,
} from '../../ports/ports.ts';
import { type LogOptions, logDefaults } from '../../logging/log-observer.ts';
import type { Diagnostic } from '../../endpoints/diagnostic.ts';
import type { Endpoint, Method } from '../../endpoints/endpoint.ts';
import type { EndpointOptions } from '../../endpoints/options.ts';

/** Where endpoints come from: routines, and optionally the command of each request in place of the routine's call. */
export interface EndpointSource extends RoutineSource {
  readonly buildQuery?: QueryBuilder;
}

/** Callbacks of the host at start and at every refresh; each may be asynchronous, and what it throws fails the start. */
export interface StartHooks {
  /** May change the list of sources, which holds the functions and procedures of the database. */
  readonly sourcesCreated: ((sources: EndpointSource[]) => void | Promise<void>) | null;
  /** For each endpoint: null drops it, another endpoint takes its place, nothing leaves it as it is. */
  readonly endpointCreated:
    | ((endpoint: Endpoint) => Endpoint | null | undefined | void | Promise<Endpoint | null | undefined | void>)
    | null;
  /** Once, with all endpoints. */
  readonly endpointsCreated: ((endpoints: readonly Endpoint[]) => void | Promise<void>) | null;
  /**
   * Run one after the other when all endpoints are there: code generation and the like. The diagnostics that a handler returns join
   * those of the gateway.
   */
  readonly endpointCreateHandlers: readonly ((
    endpoints: readonly Endpoint[],
  ) => void | readonly Diagnostic[] | Promise<void | readonly Diagnostic[]>)[];
}

/** Where connections come from, and what stands between the gateway and the server. */
export interface GatewayConnectionOptions {
  /**
   * `postgres://user:password@host:5432/database`, or `Host=…;Database=…`; with several hosts between commas, and
   * `target_session_attrs` for what the server has to be. Not needed, and ignored, with a `dataSource`.
   */
  readonly connectionString: string;
  /** Further databases, by the names that comments choose them with. */
  readonly connectionStrings: Readonly<Record<string, string>>;
  /**
   * A `pg` pool of the host's to take connections from, up to `poolSize` at a time. They come back to it to be closed, so that
   * nothing of ours reaches the host's other uses; null: the gateway connects by itself.
   */
  readonly dataSource: DataSource | null;
  /** Gives the connection for a request, which stays the host's and may be in a transaction of the host's; null: nothing of the kind. */
  readonly connectionProvider: ConnectionProvider | null;
  /**
   * Right before every attempt to open a connection: may change its configuration, such as the password, to a fresh token. What
   * it throws fails the attempt. Told the name of the connection, null for the main one. Not called for a `dataSource`.
   */
  readonly beforeConnectionOpen:
    | ((configuration: ConnectionConfiguration, connection: string | null) => void | Promise<void>)
    | null;
  /**
   * What stands between the gateway and the server: `transaction` for a pooler such as PgBouncer that gives a session for
   * one transaction only, so that every call brings its settings along; `session` for everything else. Default `session`.
   */
  readonly pooler: 'session' | 'transaction';
  /** False for a pooler that does not know prepared statements (PgBouncer before 1.21). Default true. */
  readonly preparedStatements: boolean;
  /**
   * Seconds that the start waits for a server that cannot be reached yet, is starting, or has no connection left. Default 0: it
   * fails at once.
   */
  readonly startRetry: number;
  /** The most connections to each database; null: `Maximum Pool Size` of its connection string, else 10. */
  readonly poolSize: number | null;
  /** Seconds that a request may wait for a connection before it is answered 503. Default 5. */
  readonly acquireTimeout: number;
  /** Whether short calls may share a busy connection; each stays a transaction of its own. Default true. */
  readonly shareConnections: boolean;
  /**
   * After which calls a connection is reset (`DISCARD ALL`), so that nothing that a routine leaves in its session reaches another caller:
   * `auto` after those of routines whose text, or that of what they use, may leave something; `always` or `never`. Default `auto`.
   */
  readonly connectionReset: 'auto' | 'always' | 'never';
  /**
   * A channel of `NOTIFY`: whatever is notified there makes the gateway read the catalog again. With an event trigger, every
   * gateway follows every migration:
   *
   *     create function notify_gateway() returns event_trigger language plpgsql as
   *       $$ begin perform pg_notify('gateway_refresh', tg_tag); end $$;
   *     create event trigger notify_gateway on ddl_command_end execute function notify_gateway();
   */
  readonly refreshOnNotify: string | null;
  /** The connection to listen on, where `connectionString` leads to a pooler that cannot; null: the main one. */
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
  acquireTimeout: 5,
  shareConnections: true,
  connectionReset: 'auto',
  refreshOnNotify: null,
  listenConnectionString: null,
});

/** How answers are kept of endpoints whose comment says `cached`. */
export interface CacheOptions {
  /** False: nothing is kept, whatever comments say. Default true. */
  readonly cacheEnabled: boolean;
  /** Where answers are kept; null: in the memory of this process. It belongs to the gateway, which opens and closes it. */
  readonly defaultRoutineCache: Cache | null;
  /** An answer of more rows is not kept. Default 1,000. */
  readonly maxCacheableRows: number;
  /** An answer of more bytes is not kept. Default 1,048,576. */
  readonly maxCacheableSize: number;
  /** The most answers in the memory of this process. Default 10,000. */
  readonly maxCacheEntries: number;
  /** The most bytes that they take there. Default 67,108,864. */
  readonly maxCacheSize: number;
  /** Minutes between two times that what has expired is removed from memory. Default 1. */
  readonly cachePruneIntervalMin: number;
  /**
   * A channel of `NOTIFY`: a payload such as `library.search_books`, or several with commas between them, makes void what is kept
   * of these; an empty one makes everything void. Calls of endpoints that say `invalidates` notify it too. Null: nobody listens.
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

/** Streams of events. */
export interface EventsOptions {
  /** Seconds between two signs of life on a stream; whoever has taken nothing for two of them is cut off. Default 15. */
  readonly heartbeat: number;
  /** The most streams that are open at a time; one more is answered 503. Default 10,000. */
  readonly maxStreams: number;
  /** The most of one user who is signed in; one more is answered 429. Default 20. */
  readonly maxStreamsPerUser: number;
  /** The most from one address of callers who are not signed in; behind a proxy, name it in `trustedProxies`. Default 200. */
  readonly maxStreamsPerAddress: number;
  /** The most bytes that may wait for one reader before it is cut off. Default 1,048,576. */
  readonly maxQueuedBytes: number;
  /** The most events of each stream that are kept for readers that come back. Default 1,000. */
  readonly replayEvents: number;
  /** Seconds that they are kept. Default 60. */
  readonly replaySeconds: number;
  /** Bytes of them, of each stream; also the most that one event may have. Default 524,288. */
  readonly replayBytes: number;
  /** Headers of every stream's answer beside our own, or in place of them. */
  readonly customServerSentEventsResponseHeaders: Readonly<Record<string, string>>;
  /**
   * How instances reach each other: not at all (`local`), by NOTIFY of the main database (`postgres`), by Redis or Valkey
   * (`redis`, which needs the package `@redis/client`), or by a way of the host's, which the host closes. Default `local`.
   */
  readonly broadcast: 'local' | 'postgres' | 'redis' | Broadcast;
  /** The channel of PostgreSQL or Redis that instances of one gateway share. Default `pgway`. */
  readonly broadcastChannel: string;
  /** `redis://user:password@host:6379`, or `rediss://…` with TLS. */
  readonly redisUrl: string | null;
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
  redisUrl: null,
});

/** What only the gateway as a whole decides; the rest of its options are those of the plan, the filters and the hooks. */
export interface GeneralOptions extends GatewayConnectionOptions {
  /**
   * Seconds that a routine may take before it is cancelled and answered 504. Null: the `statement_timeout` that the database or the role
   * has, and 30 where there is none. 0: that of the database, even if it is none.
   */
  readonly commandTimeout: number | null;
  /** Seconds that a client may take nothing of its answer before it is cut off: the answer keeps memory, and perhaps a connection. Default 30. */
  readonly slowClientTimeout: number;
  /**
   * How PostgreSQL plans prepared calls: it chooses between one plan for all values and a plan for the values of each call (`auto`),
   * or makes one plan for all values (`force_generic_plan`). Default `auto`, as PostgreSQL's own.
   */
  readonly planCacheMode: 'force_generic_plan' | 'auto';
  /** How refusals are written: as `application/problem+json`, or in a line of text. Default `problem`. */
  readonly errorFormat: 'problem' | 'text';
  /** Whether the database's messages, and the signatures of overloads, may reach the client. Default true. */
  readonly returnGatewayExceptionMessage: boolean;
  /**
   * With `returnGatewayExceptionMessage`, whether the client is told all values of a row that a constraint refused ("Failing row
   * contains …"), columns that it may not read among them. Default false.
   */
  readonly returnRowDetails: boolean;
  /**
   * Whether every answer has an `X-Request-Id`: that of its request where it is at most 128 characters of visible ASCII, else a new one.
   * Log lines have it as `requestId`.
   */
  readonly requestIdHeader: boolean;
  /** SQLSTATE, or a class of two characters, to HTTP status; extends and overrides the built-in table. */
  readonly postgreSqlErrorCodeToHttpStatusCodeMapping: Readonly<Record<string, number>>;
  /** Whether a key that is no parameter refuses a request or passes. Default `reject`. */
  readonly unknownParameters: 'reject' | 'ignore';
  /** Bytes; a body of more is answered 413. Default 1,048,576. */
  readonly maxBodySize: number;
  /** Characters of path and query together; more of them are answered 414. Default 8,192. */
  readonly maxUriLength: number;
  /** The setting that holds the request's headers where an endpoint wants them in one. Default `request.headers`. */
  readonly requestHeadersContextKey: string;
  /** Names of headers that no routine is told of. */
  readonly requestHeadersExclude: readonly string[];
  /**
   * Headers that routines are told of besides those of the request. Each replaces the request's header of the same name, and no
   * client sees them.
   */
  readonly customRequestHeaders: Readonly<Record<string, string | readonly string[]>>;
  /** Any diagnostic of severity error stops the start, not only its own endpoint. */
  readonly strict: boolean;
  /** Replaces the query that lists routines; null: the built-in one. */
  readonly query: string | null;
  /** Endpoints have the statement that creates their routine: for generators whose `commentHeader` is `full`. */
  readonly readDefinitions: boolean;
  /** Where routines come from; null: the functions and procedures of the database. */
  readonly routineSources: readonly EndpointSource[] | null;
  /** An endpoint that reads the catalog again. */
  readonly refreshEndpointEnabled: boolean;
  /** The method of that endpoint. Default `POST`. Whatever it is, a request that another site makes a browser send is refused. */
  readonly refreshMethod: Method;
  /** The path of that endpoint, as it is: no prefix comes before it. Default `/api/gateway/refresh`. */
  readonly refreshPath: string;
  /** Only a signed-in caller with one of these roles may refresh, any signed-in one with none of them; null: everybody. */
  readonly refreshRoles: readonly string[] | null;
  /** Takes log lines, in the manner of pino; null: nothing is logged. */
  readonly logger: Logger | null;
  /** Told of everything that is worth a log line or a count. */
  readonly observer: Observer | null;
}

/** All options, each with its value. */
export type ResolvedOptions = Omit<
  GeneralOptions & CacheOptions & LogOptions & StartHooks & Hooks & EndpointOptions & Filters,
  'authentication'
> & {
  readonly authentication: AuthenticationOptions;
  readonly events: EventsOptions;
};

/** What a host gives: the connection string or a data source, and whatever else should differ from the defaults. */
export type GatewayOptions = Partial<
  Omit<ResolvedOptions, 'connectionString' | 'connectionNames' | 'authentication' | 'events'>
> & {
  readonly authentication?: Partial<AuthenticationOptions>;
  readonly events?: Partial<EventsOptions>;
} & (Pick<GeneralOptions, 'connectionString'> | { readonly dataSource: DataSource });

export const generalDefaults: Omit<
  GeneralOptions & CacheOptions & LogOptions & StartHooks & Hooks,
  'connectionString'
> &
  Pick<ResolvedOptions, 'authentication' | 'events'> = Object.freeze({
  authentication: authenticationDefaults,
  events: eventsDefaults,
  ...cacheDefaults,
  ...logDefaults,
  ...connectionDefaults,
  commandTimeout: null,
  slowClientTimeout: 30,
  planCacheMode: 'auto',
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
  sourcesCreated: null,
  endpointCreated: null,
  endpointsCreated: null,
  endpointCreateHandlers: [],
  validateParameters: null,
  commandCallback: null,
});
