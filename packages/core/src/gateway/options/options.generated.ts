import type { KeyStorage } from '../../auth-schemes/keys/key-storage.ts';
import type {
  BearerOptions,
  CookieOptions,
  JwtOptions,
  LoginRateLimitOptions,
  RateLimitOptions,
} from '../../auth-schemes/options.generated.ts';
import type { SessionStore } from '../../auth-schemes/sessions.ts';
import type { Diagnostic } from '../../endpoints/diagnostic.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { EndpointExplanation } from '../../endpoints/explanation.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { ChangeFeed } from '../../ports/changes.ts';
import type {
  AuthScheme,
  Broadcast,
  Cache,
  ConnectionConfiguration,
  ConnectionProvider,
  DataSource,
  Logger,
  LoginRateLimiter,
  Observer,
  PasswordHasher,
  RateLimiter,
} from '../../ports/ports.ts';
import type { RateLimitStore } from '../../ports/rate-limit-store.ts';
import type { RowFormat } from '../../ports/row-format.ts';
import type { UploadHandlerFactory } from '../../ports/upload-handler.ts';
import type { Hooks } from '../../request/hooks.ts';
import type { DefaultUploadHandlerOptions } from '../../uploads/options.generated.ts';
import type { EndpointSource } from '../endpoint-source.ts';
import type { ExternalSignIn } from '../external-sign-in.ts';
// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** Authentication: logins, and what routines receive about the caller. */
export interface AuthenticationOptions {
  /** Passes the caller to every call in settings of its transaction. Default false. */
  readonly useUserContext: boolean;
  /** Passes the caller to every call in those of the parameters below that it has. Default false. */
  readonly useUserParameters: boolean;
  /** The parameter that receives the id. Default `_user_id`. */
  readonly userIdParameterName: string;
  /** The parameter that receives the name. Default `_user_name`. */
  readonly userNameParameterName: string;
  /** The parameter that receives the roles. Default `_user_roles`. */
  readonly userRolesParameterName: string;
  /** The parameter that receives all claims as JSON. Default `_user_claims`. */
  readonly userClaimsParameterName: string;
  /** The parameter that receives the address of the client. Default `_ip_address`. */
  readonly ipAddressParameterName: string;
  /** The column of a login row with a success flag or the HTTP status. Default `status`. */
  readonly statusColumnName: string;
  /** The column of a login row with the response body. Default `message`. */
  readonly messageColumnName: string;
  /** The column of a login row that selects the scheme. Default `scheme`. */
  readonly schemeColumnName: string;
  /** The column of a login row with the password hash. Default `hash`. */
  readonly hashColumnName: string;
  /** The password is the first parameter of a login whose name contains this text. Default `pass`. */
  readonly passwordParameterNameContains: string;
  /**
   * Masks in the log the parameter values of login and logout, and of routines with a hashed parameter. Default true.
   */
  readonly obfuscateAuthParameterLogValues: boolean;
  /** Logins with a session cookie; true: with the defaults. Default false. */
  readonly cookie: boolean | CookieOptions;
  /** Logins with bearer tokens; true: with the defaults. Default false. */
  readonly bearer: boolean | BearerOptions;
  /** Signed tokens (JWT) of external issuers or of this server. Several schemes are tried in order. */
  readonly jwt: JwtOptions | readonly JwtOptions[] | null;
  /** HTTP Basic for the whole gateway. */
  readonly basic: BasicOptions | null;
  /**
   * Sign-in through external providers in the browser, of `@pgway/external-sign-in`; its users get a session of a
   * scheme above.
   */
  readonly externalSignIn: ExternalSignIn | null;
  /** The realm that the challenges of the schemes name. Default `pgway`. */
  readonly realm: string;
  /** Custom schemes, tried before the built-in ones. */
  readonly schemes: readonly AuthScheme[];
  /** The keys of cookies and tokens. */
  readonly dataProtection: DataProtectionOptions;
  /** A session table, shared by all instances. */
  readonly sessions: SessionOptions | null;
  /**
   * Wraps the session store, for a host of several processes that share ended sessions; null: each instance has its
   * own.
   */
  readonly wrapSessions: ((sessions: SessionStore) => SessionStore) | null;
  /**
   * The scheme of logins whose routine names none; null: the first enabled scheme, with the database name as
   * authentication type.
   */
  readonly defaultAuthenticationType: string | null;
  /** The claim with the user name. Default `name`. */
  readonly defaultNameClaimType: string;
  /** The claim with the roles of the user. Default `roles`. */
  readonly defaultRoleClaimType: string;
  /** The claim with the user id. Default `id`. */
  readonly defaultUserIdClaimType: string;
  /** The setting that holds the id. Default `request.user_id`. */
  readonly userIdContextKey: string;
  /** The setting that holds the name. Default `request.user_name`. */
  readonly userNameContextKey: string;
  /** The setting that holds the roles, as the text of an array. Default `request.user_roles`. */
  readonly userRolesContextKey: string;
  /** The setting that holds the address of the client. Default `request.ip_address`. */
  readonly ipAddressContextKey: string;
  /** The setting that holds all claims as JSON; null: none. */
  readonly userClaimsContextKey: string | null;
  /**
   * Runs each call under the database role of its caller (`set local role`); null: under the role of the connection.
   */
  readonly databaseRole: DatabaseRoleOptions | null;
  /** Hashes and verifies passwords; null: PBKDF2-HMAC-SHA256 with 600,000 rounds. */
  readonly passwordHasher: PasswordHasher | null;
  /**
   * A NULL hash of a login or a challenge command means that the database has verified the password; false: the
   * verification fails. Default false.
   */
  readonly allowNullHash: boolean;
  /**
   * The status after a wrong password and for an unknown user, where the row has a hash; 401 is what browsers and
   * clients expect. Default 404.
   */
  readonly passwordVerificationFailedStatus: number;
  /**
   * SQL to run after a wrong password, without delaying the response: `$1` scheme (if the row has one), `$2` user id,
   * `$3` user name.
   */
  readonly passwordVerificationFailedCommand: string | null;
  /** SQL to run after a correct password, with the same parameters. */
  readonly passwordVerificationSucceededCommand: string | null;
  /**
   * Login and logout respond with the row of their routine where the scheme sends no response of its own. Default
   * false.
   */
  readonly serializeAuthEndpointsResponse: boolean;
  /** The rate limit of failed logins: a custom limiter, or the limits of the built-in one. */
  readonly loginRateLimit: LoginRateLimitOptions | LoginRateLimiter;
  /**
   * The rate limit of requests that hash a parameter (`param … is hash of …`): a custom limiter, or the limits of the
   * built-in one.
   */
  readonly hashRateLimit: RateLimitOptions | RateLimiter;
  /** Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted: addresses, CIDR blocks, `loopback`. */
  readonly trustedProxies: readonly string[];
  /** Origins that may send requests with credentials, besides the origin of this host: `https://app.example.org`. */
  readonly allowedOrigins: readonly string[];
  /**
   * Cross-site requests of unauthenticated callers that may change data: `refuse` (403) or `allow`, which is for public
   * services only: on a loopback address or in an intranet, any web page that a user opens could write. With cookies
   * and HTTP Basic they are always refused. Default `refuse`.
   */
  readonly crossSiteRequests: 'refuse' | 'allow';
  /**
   * The path where callers with cookies get a CSRF (antiforgery) token, such as `/api/auth/antiforgery`; null: none.
   */
  readonly antiforgeryPath: string | null;
  /** Refuses to start without what a public service needs: persistent keys encrypted with a secret. Default false. */
  readonly production: boolean;
}

/** The scheme `basic` (HTTP Basic), for all endpoints: one user, or the users that the command finds. */
export interface BasicOptions {
  /** The user name, for a single user. */
  readonly user?: string | null;
  /** The password hash of that user. */
  readonly hash?: string | null;
  /** SQL that authenticates a user and returns claims: `$1` user, `$2` password, `$3` realm, `$4` path. */
  readonly command?: string | null;
}

/** The keys of cookies and tokens. */
export interface DataProtectionOptions {
  /**
   * The folder of the keys that encrypt cookies and tokens. Without folder and commands, keys last as long as the
   * process.
   */
  readonly folder?: string | null;
  /** Instead of the folder: SQL that returns a row with the text of each key. */
  readonly readCommand?: string | null;
  /** SQL that inserts a key unless it exists: `$1` id, `$2` text. */
  readonly writeCommand?: string | null;
  /** Instead of the folder and the commands: a custom storage. */
  readonly storage?: KeyStorage | null;
  /** Encrypts the stored keys, and values of the configuration (`pgway encrypt`); at least 16 characters. */
  readonly secret?: string | null;
  /**
   * Earlier values of `secret`, which still decrypt stored keys and values of the configuration, so that the secret can
   * be changed.
   */
  readonly previousSecrets?: readonly string[];
  /**
   * The algorithm of new cookies and tokens (JWE): AES-GCM, or AES-CBC with HMAC. Those of the other algorithms stay
   * valid. Default `A256GCM`.
   */
  readonly algorithm?: 'A256GCM' | 'A192GCM' | 'A128GCM' | 'A256CBC-HS512' | 'A192CBC-HS384' | 'A128CBC-HS256';
  /** Separates the keys of several applications in one store. Default `pgway`. */
  readonly application?: string;
  /** Seconds that a key is used for encryption; older keys still decrypt. Default 7,776,000. */
  readonly keyLifetime?: number;
}

/** The database role that each call runs under (`set local role`). */
export interface DatabaseRoleOptions {
  /** The claim whose first value names the database role. */
  readonly claim: string;
  /** The role of callers without that claim, anonymous ones included; null: the role of the connection. */
  readonly anonymous?: string | null;
}

/** A session table, shared by all instances. Without it, each instance remembers the sessions that ended on it. */
export interface SessionOptions {
  /**
   * SQL that inserts a session at login: `$1` session, `$2` user id, `$3` user name, `$4` scheme, `$5` address, `$6`
   * user agent, `$7` end.
   */
  readonly beginCommand: string;
  /** SQL that returns a row with true while the session `$1` is valid. */
  readonly checkCommand: string;
  /** SQL that ends the session `$1`. */
  readonly endCommand: string;
  /** SQL that returns a row with true, once, for the refresh token number `$2` of the session `$1`. */
  readonly refreshCommand?: string | null;
  /** Seconds that the result of `checkCommand` is cached for a valid session. Default 5. */
  readonly cacheSeconds?: number;
  /** A NOTIFY channel whose payloads are ended sessions, which every instance evicts at once, with their streams. */
  readonly channel?: string | null;
}

/** Batches: several requests in one transaction. */
export interface BatchOptions {
  /** The path that takes several requests for one transaction, such as `/api/batch`; null: none. */
  readonly batchPath: string | null;
  /** Maximum number of requests in a batch. Default 100. */
  readonly maxBatchItems: number;
  /** Maximum bytes of all responses of a batch; a larger one is rolled back and answered 400. Default 8,388,608. */
  readonly maxBatchResponseSize: number;
}

/** Cached responses of endpoints with the annotation `cached`. */
export interface CacheOptions {
  /** Caches responses of endpoints whose comment says `cached`. Default true. */
  readonly cacheEnabled: boolean;
  /** The cache, which the gateway opens and closes; null: memory of this process. */
  readonly defaultRoutineCache: Cache | null;
  /** Maximum rows of a cached response; larger responses are not cached. Default 1,000. */
  readonly maxCacheableRows: number;
  /** Maximum bytes of a cached response; larger responses are not cached. Default 1,048,576. */
  readonly maxCacheableSize: number;
  /**
   * Maximum number of cached responses in memory; those that were not used lately are evicted first. Default 10,000.
   */
  readonly maxCacheEntries: number;
  /** Maximum bytes of all cached responses in memory. Default 67,108,864. */
  readonly maxCacheSize: number;
  /** Minutes between removals of expired responses from memory. Default 1. */
  readonly cachePruneIntervalMin: number;
  /**
   * A NOTIFY channel that invalidates cached responses. Payload: `schema.routine`, several separated by commas, or
   * empty for all. Endpoints with `invalidates` notify it too.
   */
  readonly cacheInvalidateChannel: string | null;
}

/** Streams of row changes, for tables and views with the annotation `changes`. */
export interface ChangesOptions {
  /**
   * The connection that reads the log of the database, of a user with the attribute REPLICATION, and not through a
   * pooler. Null: `listenConnectionString`, or else the main one.
   */
  readonly connectionString: string | null;
  /**
   * The changes of the main database, if another process reads its log. The gateway closes it. Null: the gateway reads
   * the log.
   */
  readonly feed: ChangeFeed | null;
  /**
   * Seconds between two reads of changed rows. Rows that change several times in between arrive once. Default 0.015.
   */
  readonly window: number;
  /** Seconds that changes are kept for clients that reconnect. Default 60. */
  readonly replaySeconds: number;
}

/** Connections to the databases. */
export interface GatewayConnectionOptions {
  /**
   * `postgres://user:password@host:5432/database`, or `Host=…;Database=…`. Several hosts are separated by commas;
   * `target_session_attrs` selects among them. Ignored with a `dataSource`.
   */
  readonly connectionString: string;
  /** Further databases, by the names that comments refer to. */
  readonly connectionStrings: Readonly<Record<string, string>>;
  /**
   * A `pg` pool of the host program that provides connections, up to `poolSize` at a time. The gateway returns each one
   * to be closed, so that no session state reaches other users of the pool. The defaults of `minPoolSize` and
   * `connectionIdleLifetime` are then 0 and 10. Null: the gateway opens connections itself.
   */
  readonly dataSource: DataSource | null;
  /**
   * Provides the connection for a request, which may be in a transaction of the host program; null: connections of the
   * pool.
   */
  readonly connectionProvider: ConnectionProvider | null;
  /**
   * Called before each attempt to connect, with the name of the connection (null: the main one, or a read replica). May
   * change the configuration, such as setting a fresh token as password. An error fails the attempt. Not called for a
   * `dataSource`.
   */
  readonly beforeConnectionOpen:
    | ((configuration: ConnectionConfiguration, connection: string | null) => void | Promise<void>)
    | null;
  /**
   * `transaction` behind a pooler in transaction mode (PgBouncer), where a session lasts for one transaction; `session`
   * otherwise. Default `session`.
   */
  readonly pooler: 'session' | 'transaction';
  /** Uses named prepared statements; false for a pooler without them, such as PgBouncer before 1.21. Default true. */
  readonly preparedStatements: boolean;
  /**
   * Seconds that the start waits for a database that is unreachable, is starting, or has no free connection, and for
   * which it repeats a step whose connection was lost. Default 0.
   */
  readonly startRetry: number;
  /** The maximum number of connections to each database; null: `Maximum Pool Size` of its connection string, or 10. */
  readonly poolSize: number | null;
  /**
   * The number of connections to each database that stay open from the first call on, at most `poolSize`; null:
   * `Minimum Pool Size` of its connection string, or 1.
   */
  readonly minPoolSize: number | null;
  /**
   * Seconds after which a connection is replaced when its calls have ended, up to a tenth earlier; 0: never. Null:
   * `Connection Lifetime` of the connection string, or 3,600.
   */
  readonly connectionLifetime: number | null;
  /**
   * Seconds after which an unused connection above `minPoolSize` is closed; 0: never. Null: `Connection Idle Lifetime`
   * of the connection string, or 300.
   */
  readonly connectionIdleLifetime: number | null;
  /**
   * The number of processes of the host that serve this gateway together: each opens its share of `poolSize`, at least
   * one connection. Default 1.
   */
  readonly processes: number;
  /** Seconds that a request waits for a free connection before it is answered 503. Default 5. */
  readonly acquireTimeout: number;
  /**
   * Maximum number of requests that wait for a connection to each database; a further one is answered 503 at once.
   * Default 10,000.
   */
  readonly maxWaitingCalls: number;
  /** Lets short calls share a busy connection (pipelining); each is a separate transaction. Default true. */
  readonly shareConnections: boolean;
  /**
   * When a connection is reset (DISCARD ALL), so that no session state of a routine reaches another caller: after calls
   * of routines that may change the session by their definition or that of what they use (`auto`), after every call, or
   * never. Default `auto`.
   */
  readonly connectionReset: 'auto' | 'always' | 'never';
  /** A NOTIFY channel; a notification, for example by an event trigger, reloads the catalog. */
  readonly refreshOnNotify: string | null;
  /** The connection for LISTEN, where the main one leads to a pooler that does not support it; null: the main one. */
  readonly listenConnectionString: string | null;
}

/** Server-sent events: notices that routines raise (`info_path`) and NOTIFY channels (`listen`). */
export interface EventsOptions {
  /**
   * Seconds between two heartbeats of a stream; a client that reads nothing for two heartbeats is disconnected. Default
   * 15.
   */
  readonly heartbeat: number;
  /** Maximum number of open streams; another one is answered 503. Default 10,000. */
  readonly maxStreams: number;
  /** Maximum number of open streams of an authenticated user; another one is answered 429. Default 20. */
  readonly maxStreamsPerUser: number;
  /**
   * Maximum number of open streams of unauthenticated callers from one address, and of WebSockets (`realtime`) from one
   * address. Behind a proxy, list the proxy in `authentication.trustedProxies`. Default 200.
   */
  readonly maxStreamsPerAddress: number;
  /** Maximum bytes queued for one client before it is disconnected. Default 1,048,576. */
  readonly maxQueuedBytes: number;
  /** Maximum events of each stream that are kept for clients that reconnect. Default 1,000. */
  readonly replayEvents: number;
  /** Seconds that events are kept for clients that reconnect. Default 60. */
  readonly replaySeconds: number;
  /** Maximum bytes of the kept events of each stream, and of a single event. Default 524,288. */
  readonly replayBytes: number;
  /**
   * Response headers of every stream, added to `Cache-Control: no-store` and `X-Accel-Buffering: no` or replacing them.
   */
  readonly customServerSentEventsResponseHeaders: Readonly<Record<string, string>>;
  /**
   * How several instances share events, refreshes and logouts: not at all, by NOTIFY of the main database, or by an
   * implementation, such as that for Redis of `@pgway/redis`, which the gateway opens and closes. Default `local`.
   */
  readonly broadcast: 'local' | 'postgres' | Broadcast;
  /** The channel that the instances of one gateway share. Default `pgway`. */
  readonly broadcastChannel: string;
}

/** Requests, responses, errors, the refresh endpoint and what the host observes. */
export interface GeneralOptions {
  /**
   * Seconds that a call may run in the database, after which it is cancelled and answered 504. Null: the
   * `statement_timeout` of the database or role, or 30 without one. 0: the `statement_timeout` of the database, even
   * without one.
   */
  readonly commandTimeout: number | null;
  /** Seconds that a client may read nothing of its response before it is disconnected. Default 30. */
  readonly slowClientTimeout: number;
  /**
   * The `plan_cache_mode` of calls: the faster one of `auto` and a generic plan, measured for each function that only
   * reads and for reads of tables (`measured`; `auto` behind a pooler and with Citus), the choice of PostgreSQL between
   * generic and custom plans (`auto`), or always a generic plan (`force_generic_plan`), which a database with the
   * extension Citus refuses. Default `measured`.
   */
  readonly planCacheMode: 'measured' | 'auto' | 'force_generic_plan';
  /** The format of error responses: `application/problem+json` or plain text. Default `problem`. */
  readonly errorFormat: 'problem' | 'text';
  /**
   * Error responses contain the message of the database and the signatures of overloads; false: a generic message with
   * an id that is also in the log. `withRow`: also all values of a row that violates a constraint (`Failing row
   * contains …`), including columns that the caller may not read. Default true.
   */
  readonly returnGatewayExceptionMessage: boolean | 'withRow';
  /**
   * Whether every response has an `X-Request-Id`: that of the request if it is at most 128 characters of visible ASCII,
   * else a new one. Log lines have it as `requestId`. Default false.
   */
  readonly requestIdHeader: boolean;
  /**
   * Whether responses have the header `Server-Timing` with the milliseconds of their phases: `jwt`, `parse`, `plan`,
   * `transaction` and `response`. The times can tell a client about rows that it may not see. Default false.
   */
  readonly serverTiming: boolean;
  /** HTTP status by SQLSTATE or two-character class; extends and overrides the built-in table. */
  readonly postgreSqlErrorCodeToHttpStatusCodeMapping: Readonly<Record<string, number>>;
  /** Whether a key that is not a parameter of the endpoint is answered 400 or ignored. Default `reject`. */
  readonly unknownParameters: 'reject' | 'ignore';
  /** Maximum bytes of a request body; a larger one is answered 413. Default 1,048,576. */
  readonly maxBodySize: number;
  /** Maximum characters of a path with its query; a longer one is answered 414. Default 8,192. */
  readonly maxUriLength: number;
  /** The setting that holds the headers in mode `context`. Default `request.headers`. */
  readonly requestHeadersContextKey: string;
  /** Headers that are not passed to routines. */
  readonly requestHeadersExclude: readonly string[];
  /**
   * Headers that are passed to routines; each replaces the request header of the same name. They are never sent to
   * clients.
   */
  readonly customRequestHeaders: Readonly<Record<string, string | readonly string[]>>;
  /** An error in any comment aborts the start; false: it disables its endpoint only. Default false. */
  readonly strict: boolean;
  /** Replaces the query that lists routines. */
  readonly query: string | null;
  /**
   * Whether endpoints have the `CREATE` statement of their routine, for generators with `commentHeader: 'full'`.
   * Default false.
   */
  readonly readDefinitions: boolean;
  /** The sources of endpoints; null: the functions and procedures of the database. */
  readonly routineSources: readonly EndpointSource[] | null;
  /** Formats of rows in addition to JSON, NDJSON, CSV and HTML, such as `excelFormat()` of `@pgway/excel`. */
  readonly rowFormats: readonly RowFormat[] | null;
  /** Adds an endpoint that reloads the catalog. Default false. */
  readonly refreshEndpointEnabled: boolean;
  /** The method of the refresh endpoint. Cross-site requests get a 403, whatever the method. Default `POST`. */
  readonly refreshMethod: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD' | 'OPTIONS' | 'TRACE' | 'PATCH' | 'CONNECT';
  /** The path of the refresh endpoint, without the prefix of other paths. Default `/api/gateway/refresh`. */
  readonly refreshPath: string;
  /** Roles that may call the refresh endpoint; an empty list: every authenticated caller; null: every caller. */
  readonly refreshRoles: readonly string[] | null;
  /** The logger, with the interface of pino; null: no logs. */
  readonly logger: Logger | null;
  /** Receives all observations, for logs and metrics. */
  readonly observer: Observer | null;
  /**
   * Whether the observer receives each handled request and completed call, for access logs and metrics. Default false.
   */
  readonly observeRequests: boolean;
  /**
   * Whether calls of sampled requests set `application_name` to the `traceparent` of their request, for the log and the
   * monitoring of PostgreSQL. Default `off`.
   */
  readonly traceContext: 'off' | 'application_name';
  /**
   * Returns the `traceparent` that PostgreSQL receives; null: the header of the request. A malformed one is ignored.
   */
  readonly traceparent: ((request: GatewayRequest) => string | null) | null;
}

/**
 * Functions of the host. Those of the start run at every refresh too, may be asynchronous, and fail it with an error.
 */
export interface HookOptions {
  /** May change the list of sources, which initially contains the functions and procedures of the database. */
  readonly sourcesCreated: ((sources: EndpointSource[]) => void | Promise<void>) | null;
  /** Called for each endpoint. Null drops the endpoint, another endpoint replaces it, undefined keeps it. */
  readonly endpointCreated:
    | ((endpoint: Endpoint) => Endpoint | null | undefined | void | Promise<Endpoint | null | undefined | void>)
    | null;
  /** Called once with all endpoints. */
  readonly endpointsCreated: ((endpoints: readonly Endpoint[]) => void | Promise<void>) | null;
  /**
   * Called at the end of each load with an explanation of every routine that the sources contain: how each line of its
   * comment was read, where its values come from, why it is an endpoint or not. Explanations are made only when this is
   * set.
   */
  readonly endpointsExplained: ((explanations: readonly EndpointExplanation[]) => void | Promise<void>) | null;
  /**
   * Run one after the other after all endpoints are created, such as for code generation. Diagnostics that a handler
   * returns become diagnostics of the gateway.
   */
  readonly endpointCreateHandlers: readonly ((
    endpoints: readonly Endpoint[],
  ) => void | readonly Diagnostic[] | Promise<void | readonly Diagnostic[]>)[];
  /** Called before a call for each of its parameters, injected ones included. A returned response ends the request. */
  readonly validateParameters: Hooks['validateParameters'] | null;
  /** Called before a call once its statement is built. A returned response ends the request. */
  readonly commandCallback: Hooks['commandCallback'] | null;
}

/** The store of idempotency keys, for endpoints with the annotation `idempotent`. */
export interface IdempotencyOptions {
  /** The schema in which `pgway install idempotency` creates the store. Default `pgway`. */
  readonly schema: string;
  /** Seconds for which a key and its response are stored. Default 86,400. */
  readonly keyLifetime: number;
  /**
   * The maximum size of the rows of a stored response in bytes. A request with larger rows succeeds, and a repeated one
   * gets a 409. Default 262,144.
   */
  readonly maxResponseSize: number;
  /** Seconds between two removals of expired keys, which follow calls with a key. Default 60. */
  readonly pruneInterval: number;
}

/** A limit of the requests of endpoints. */
export interface RateLimitPolicyOptions {
  /**
   * How requests are counted: `limit` in a window that begins with the first one, in any window, at once and coming
   * back evenly over the window, or at a time.
   */
  readonly type: 'fixed-window' | 'sliding-window' | 'token-bucket' | 'concurrency';
  /** The number of requests. */
  readonly limit: number;
  /** Seconds; 60 by default. Not for `concurrency`. */
  readonly window?: number;
  /**
   * The property that requests are counted by. An IPv6 address counts by its /64; list proxies in `trustedProxies`.
   * Anonymous callers count by their address, and so do requests without the header. Default `address`.
   */
  readonly partitionBy?: 'address' | 'user' | 'header' | 'none';
  /** The request header, with `partitionBy` `header`. Clients can send any value. */
  readonly header?: string | null;
}

/** Rate limits of endpoints. */
export interface RateLimitsOptions {
  /**
   * The policies, by the names that comments select with `rate_limit <policy>`: `{"strict": {"type": "sliding-window",
   * "limit": 10, "window": 60, "partitionBy": "address"}}`. `type`: `fixed-window`, `sliding-window`, `token-bucket` or
   * `concurrency`. `window`: seconds, 60 by default. `partitionBy`: `address` (the default), `user`, `header` with the
   * name of the header in `header`, or `none`. Endpoints with one policy count together.
   */
  readonly policies: Readonly<Record<string, RateLimitPolicyOptions>>;
  /** The policy of endpoints whose comment has no `rate_limit`; null: they have no limit. */
  readonly defaultPolicy: string | null;
  /** Counts the requests. The gateway opens and closes it. Null: memory of this process. */
  readonly store: RateLimitStore | null;
  /**
   * Maximum number of keys (addresses, users, header values) of each policy in memory; the least recently used is
   * evicted. Default 100,000.
   */
  readonly maxKeys: number;
  /** Whether requests pass, or are answered 503, while the store (Redis) is unavailable. Default `allow`. */
  readonly whenUnavailable: 'allow' | 'refuse';
}

/** Streaming replicas of the main database that serve reads. */
export interface ReadReplicasOptions {
  /**
   * Streaming replicas of the database, which run calls that only read. Each host of a connection string is a replica.
   */
  readonly connectionStrings: readonly string[];
  /**
   * Seconds by which a replica may be behind the primary. One that is further behind, or whose lag is unknown because
   * the primary does not answer, gets no calls. Default 5.
   */
  readonly maxLagSeconds: number;
  /**
   * Where reads run whose comment has no `consistency`: on a replica (`eventual`), or on the primary (`strong`).
   * Default `eventual`.
   */
  readonly consistency: 'strong' | 'eventual';
}

/** Several databases with the same schema: one for each tenant. */
export interface TenantOptions {
  /**
   * What selects the database of a request: the `Host` header (`host`), or a claim of the caller (`claim`). A client
   * cannot choose the claim, but any host: with `host`, credentials of one tenant are not valid for another one.
   */
  readonly by: 'host' | 'claim';
  /** The host names of tenants, such as `{tenant}.example.com`. Required with `by: host`. */
  readonly host: string | null;
  /**
   * With `by: claim`, the claim whose value is the tenant. With `by: host`, the claim that names the tenant in tokens
   * of `jwt` and of custom schemes, which others may issue; required with these schemes.
   */
  readonly claim: string | null;
  /**
   * The tenant of requests for other host names, or of callers without the claim; null: they are answered 404, or 401
   * and 403.
   */
  readonly default: string | null;
  /**
   * The connection string of every tenant that `query` lists, with `{tenant}` in the name of its database:
   * `postgres://user:password@host/app_{tenant}`.
   */
  readonly connectionString: string | null;
  /** The connection strings of tenants, by their names. They win over `query`. */
  readonly connectionStrings: Readonly<Record<string, string>>;
  /**
   * The query that lists the tenants, run in the database of the top-level `connectionString`. The first column is the
   * name of a tenant; the second one, if any, its connection string, null for `tenant.connectionString`.
   */
  readonly query: string | null;
  /** Seconds after which the list of tenants is read again. Default 30. */
  readonly queryInterval: number;
  /**
   * A query whose result tells the version of the schema of a tenant, such as the last migration. Tenants with the same
   * result share endpoints, so it must change with every change of the schema. Null: a hash of the catalog.
   */
  readonly versionQuery: string | null;
  /** Maximum number of connections to all tenants together; `poolSize` is the maximum for each tenant. Default 100. */
  readonly maxConnections: number;
  /**
   * Maximum number of tenants in use at a time; the least recently used one is closed for another one. Default 1,000.
   */
  readonly maxOpen: number;
  /** Seconds without a request after which the connections and cached data of a tenant are dropped. Default 600. */
  readonly idleTimeout: number;
}

/** File uploads: endpoints with `upload` in their comment. */
export interface UploadOptions {
  /** False: an endpoint with `upload` in its comment is an error. Default true. */
  readonly enabled: boolean;
  /** Whether each upload is logged. Default true. */
  readonly logUploadEvent: boolean;
  /** The handler of comments that name none. Default `large_object`. */
  readonly defaultUploadHandler: string;
  /**
   * The handlers by the names that comments use. Null: the built-in ones, with `defaultUploadHandlerOptions`. An empty
   * object disables uploads. Otherwise exactly these.
   */
  readonly uploadHandlers: Readonly<Record<string, UploadHandlerFactory>> | null;
  /** The setting that receives the metadata of the files as JSON. Default `request.upload_metadata`. */
  readonly defaultUploadMetadataContextKey: string;
  /** The parameter that receives the metadata of the files as JSON. Default `_upload_metadata`. */
  readonly defaultUploadMetadataParameterName: string;
  /** Whether calls after an upload have the setting `defaultUploadMetadataContextKey`. Default false. */
  readonly useDefaultUploadMetadataContextKey: boolean;
  /**
   * Whether parameters named `defaultUploadMetadataParameterName` receive the metadata without being named in the
   * comment. Default false.
   */
  readonly useDefaultUploadMetadataParameter: boolean;
  /** Maximum bytes of a file; a larger one is answered 413. Default 134,217,728. */
  readonly maxFileSize: number;
  /** Maximum bytes of the whole body; a larger one is answered 413. Default 268,435,456. */
  readonly maxTotalSize: number;
  /** Maximum number of files of a form; a further one is answered 413. Default 20. */
  readonly maxFiles: number;
  /** Maximum number of files and fields of a form together; a further one is answered 413. Default 100. */
  readonly maxParts: number;
  /**
   * Bytes per second; a client that is more than `slowClientTimeout` behind is answered 408, as its upload holds a
   * connection. 0: no minimum. Default 1,024.
   */
  readonly minUploadRate: number;
  /** Maximum number of connections to each database that uploads hold; null: half of its connections, at least one. */
  readonly maxUploadConnections: number | null;
  /** Seconds that an upload waits for one of these connections before it is answered 503. Default 60. */
  readonly uploadQueueTimeout: number;
  /** The options of the built-in handlers, which comments override. Null: uploads are disabled. */
  readonly defaultUploadHandlerOptions: Partial<DefaultUploadHandlerOptions> | null;
}
