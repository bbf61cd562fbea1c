/** The interfaces between the gateway and exchangeable parts: authentication schemes, caches, broadcasts, sources, observers. */
import {
  AcquireTimeout,
  ConnectionLost,
  DatabaseError,
  type Statement,
  type TextTable,
  type Value,
} from '../postgres/port.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { JoinedBody, JoinedRows } from '../http/joined-rows.ts';
import type { GatewayResponse, HeaderList } from '../http/response.ts';
import type { Endpoint, EndpointParameter, ResultColumn } from '../endpoints/endpoint.ts';
import type { Caller, Claim } from './caller.ts';
import type { Dialect } from './dialect.ts';
import type { EventLog, LogListener } from './event-log.ts';

export type { ConnectionConfiguration, DataSource, HostClient } from '../postgres/port.ts';
export type { Caller, Claim } from './caller.ts';
export type { ConnectionProvider, ProvidedConnection } from './connection-provider.ts';
export type { EventLog, GapReason, LogContent, LogEntry, LogListener, LogSnapshot } from './event-log.ts';
export type { Observation, Observer, UploadStatus } from './observation.ts';
export type { GatewayRequest, GatewayResponse, HeaderList, JoinedBody, JoinedRows };
export { Problem };

/** The response to a successful login. */
export interface SignInResponse {
  /** Alternating names and values. */
  readonly headers: HeaderList;
  /** JSON text with tokens; null: no body (cookies). */
  readonly body: string | null;
}

/** A route of an authentication scheme, such as `POST /api/auth/refresh`. */
export interface SchemeRoute {
  readonly method: string;
  readonly path: string;
  /** Returns whether the route has a path, percent-encoded, where `path` is a template for people; omitted: it has `path` alone. */
  matches?(path: string): boolean;
  /** @throws Problem */
  handle(request: GatewayRequest): Promise<GatewayResponse>;
  /** Returns the response to a problem, such as a page for a browser; null: the usual problem response. */
  problemPage?(problem: Problem, request: GatewayRequest): GatewayResponse | null;
}

/**
 * Authenticates requests, and may log callers in and out. Invalid credentials (a malformed cookie, an expired or forged token, a wrong
 * audience, an unknown key) result in null, never in an error.
 */
export interface AuthScheme {
  readonly name: string;
  /** Returns null without valid credentials. The next scheme is tried; after the last one the caller is anonymous. */
  authenticate(request: GatewayRequest): Caller | null | Promise<Caller | null>;
  /**
   * Called after `authenticate` has returned null. Returns why the credentials are invalid, for the log and `error_description`; the
   * response is 401, also of endpoints without `authorize`. Returns null if the request has no credentials of this scheme.
   */
  refusal?(request: GatewayRequest): string | null;
  /** Returns the headers of that 401 which remove the credentials from the client, such as a cookie; omitted: none. */
  removal?(request: GatewayRequest): HeaderList;
  /** Returns the challenge of `WWW-Authenticate` for a 401; null: none. */
  challenge(request: GatewayRequest): string | null;
  /** Logs the caller in; null: the scheme has no login. */
  readonly signIn: ((claims: readonly Claim[], request: GatewayRequest) => Promise<SignInResponse>) | null;
  /** Ends the session of the request on every instance and returns the response headers; null: the scheme has no sessions. */
  readonly signOut: ((request: GatewayRequest) => Promise<HeaderList>) | null;
  readonly routes: readonly SchemeRoute[];
}

/** Protects against cross-site request forgery (CSRF). Used for requests that may change data. */
export interface CsrfGuard {
  /** Whether the request may use the credentials of this caller. */
  allows(request: GatewayRequest, caller: Caller): Promise<boolean>;
  /** Whether the request is allowed without credentials. */
  allowsAnonymous(request: GatewayRequest): boolean;
  /**
   * Returns where a browser request comes from: a page of this site (or the user), a page of another site, or unknown. Needed
   * for login, which has no caller but changes the browser's cookies.
   */
  source(request: GatewayRequest): 'trusted' | 'cross-site' | 'unknown';
}

/**
 * Hashes and verifies passwords. Each method may throw a `Problem` when too many calls wait. The client's address (null: unknown) serves
 * for a fair queue.
 */
export interface PasswordHasher {
  hash(password: string, address?: string | null): Promise<string>;
  /** Returns false for a malformed hash too, after the time that a wrong password takes. */
  verify(password: string, hash: string, address?: string | null): Promise<boolean>;
  /** Takes as long as `verify`, for a user that does not exist. */
  verifyDummy(address?: string | null): Promise<void>;
}

/** Whether a rate limit allows a request. `retryAfter`: the seconds of `Retry-After`, at least 1. */
export type RateLimitResult = { readonly ok: true } | { readonly ok: false; readonly retryAfter: number };

/** Limits the requests of a client address for something costly. */
export interface RateLimiter {
  /** Counts a request, and tells whether the limit allows it. A null address is unknown. */
  consume(address: string | null): RateLimitResult | Promise<RateLimitResult>;
}

/** The outcome of a login attempt; `aborted` when the credentials were not checked. */
export type LoginOutcome = 'succeeded' | 'failed' | 'aborted';

/**
 * Returns the outcome of an attempt that an error has ended. An attempt is aborted when the error is independent of the credentials:
 * no connection, a FATAL error, which no routine can raise, or no capacity (503). Any other error counts as a failure, because
 * routines refuse credentials by raising errors or by running into a timeout.
 */
export function errorToLoginOutcome(error: unknown): LoginOutcome {
  if (error instanceof ConnectionLost || error instanceof AcquireTimeout) return 'aborted';
  if (error instanceof Problem) return error.status === 503 ? 'aborted' : 'failed';
  return error instanceof DatabaseError && isFatal(error) ? 'aborted' : 'failed';
}

function isFatal({ diagnostics: { severity } }: DatabaseError): boolean {
  return severity === 'FATAL' || severity === 'PANIC';
}

/** The keys of a login attempt. */
export interface LoginAttempt {
  /** The user name as sent; null: unknown, the address alone is limited. */
  readonly user: string | null;
  /** The client's address; null: unknown, the user alone is limited. */
  readonly address: string | null;
}

/** Limits failed logins. An attempt counts as failed until it completes. */
export interface LoginRateLimiter {
  /** Counts an attempt, and tells whether the limit allows it. Each allowed attempt is completed once. */
  consume(attempt: LoginAttempt): RateLimitResult | Promise<RateLimitResult>;
  /**
   * Sets the outcome of an attempt. A success resets the failures of the user at this address, but not those of the address: one
   * valid account must not help to guess others. An aborted attempt does not count.
   */
  complete(attempt: LoginAttempt, outcome: LoginOutcome): void;
}

export type BroadcastEvent =
  | { readonly kind: 'message'; readonly payload: string }
  /** Earlier messages of other instances may be lost. */
  | { readonly kind: 'gap' };

/**
 * Carries messages between the instances of a gateway, in the order of each publisher. Instances trust each other. While the transport is
 * unavailable, the gateway continues without it.
 */
export interface Broadcast {
  /** Whether only the instances can send and read its messages, which need no encryption then. */
  readonly isPrivate?: boolean;
  /**
   * Called once, before any other method. `report` receives later failures, and null for a recovery.
   * @throws Error for a broadcast that can never work, such as an invalid address
   */
  open?(report: (error: Error | null) => void): Promise<void>;
  /** Sends to all other instances without waiting. When a message is lost, the instances receive a gap after the next reconnect. */
  publish(topic: string, payload: string): void;
  /** Receives what other instances publish. Returns a function that unsubscribes. */
  subscribe(topic: string, receive: (event: BroadcastEvent) => void): () => void;
  /** Present if the instances are processes of one server. Resolves when the log has been restored. */
  openLog?(topic: string, listener: LogListener): Promise<EventLog>;
  /** Returns null when the transport works, else the reason. */
  health(): string | null;
  close(): Promise<void>;
}

/** The input of a source that builds the queries of its endpoints. */
export interface QueryInput {
  readonly endpoint: Endpoint;
  /** The provided parameters, in the routine's order; `values` in PostgreSQL's text format. */
  readonly parameters: readonly EndpointParameter[];
  readonly values: readonly Value[];
  /** The rows of a request to insert several, which has no other parameters; absent: it has one. */
  readonly rows?: readonly Pick<QueryInput, 'parameters' | 'values'>[];
  readonly request: GatewayRequest;
  /** The text of the body, where the endpoint has a dialect; null without one. */
  readonly body: string | null;
  /** The texts of keys of a listing that are not parameters, such as `author.order` and `data->>name`; empty for other endpoints. */
  readonly paths: ReadonlyMap<string, readonly string[]>;
  readonly context: QueryContext;
}

/** What the gateway knows of a request besides its parameters. */
export interface QueryContext {
  /** Null: anonymous, or a call that does not depend on its caller. */
  readonly caller: Caller | null;
  /** The database role of the call; null: that of the connection. */
  readonly role: string | null;
  /** Returns the values of headers by their names in lower case; a header of the host replaces that of the client. */
  headers(): ReadonlyMap<string, string>;
  /** Whether the caller passes the authorization of another endpoint. False for one with credentials of its own. */
  mayCall(endpoint: Pick<Endpoint, 'authorization' | 'basicAuthentication'>): boolean;
}

/** The parameter that a placeholder such as `$1` belongs to, for error messages. */
export type ValueSource = Pick<EndpointParameter, 'name' | 'key'> & {
  readonly type: Pick<EndpointParameter['type'], 'sql' | 'display'> &
    Partial<Pick<EndpointParameter['type'], 'builtin' | 'labels'>>;
};

/** A statement with bound values. Values of clients never become part of the text. */
export interface QueryStatement {
  /** The text, or a function that makes it, called for a new `statementKey`. */
  readonly sql: string | (() => string);
  /** Returns where the main query begins in `sql`, behind the queries of WITH. Absent: `sql` can be a query of WITH as a whole. */
  readonly mainStart?: () => number;
  /**
   * Identifies the text among the statements of the endpoint: statements with one key are prepared once. The number of prepared
   * statements is bounded. Absent: the statement is not prepared.
   */
  readonly statementKey?: string;
  /** The types of parameters and columns, and their names; absent: any, and those of the result. Part of the text of `statementKey`. */
  readonly expected?: Pick<Statement, 'types' | 'columns' | 'columnNames'>;
  readonly values: readonly Value[];
  /** One per value; null: not a value of the client. */
  readonly valueSources: readonly (ValueSource | null)[];
  /** The setting of the transaction that the statement sets for those after it. It is emptied where the transaction continues after the call. */
  readonly setting?: string;
}

/** A statement with the columns of the endpoint's result. */
export interface Query extends Partial<Omit<QueryStatement, 'sql'>>, Pick<QueryStatement, 'sql'> {
  /** Settings for the transaction of this call. */
  readonly settings?: readonly (readonly [name: string, value: string])[];
  /** `auto`: the best plan depends on the values, so that a generic one is not forced (`planCacheMode` of the gateway). Absent: no difference. */
  readonly planCacheMode?: 'auto';
  /** Runs before the statement in the same transaction. The values of its one row are response headers; NULL: no header. */
  readonly headerQuery?: QueryStatement & { readonly names: readonly string[] };
  /** Statements that run before it in the same transaction and round trip. Their rows are discarded. */
  readonly earlier?: readonly QueryStatement[];
  /** The response if the statement returns no row. The statement must return a row for each affected one, even without a result. */
  readonly noRowProblem?: Problem;
  /** The columns of the rows, where the request selects them; `statementKey` tells them. Absent: those of the endpoint's result. */
  readonly columns?: readonly ResultColumn[];
  /** Whether the rows depend on other tables, whose changes do not invalidate a cached response: it is not cached. */
  readonly readsOthers?: true;
  /** Returns the error to respond with when the statement has failed. Absent: the error. */
  readonly toError?: (error: unknown) => unknown;
  /** Makes the response from the only row of the statement. Absent: the result of the endpoint decides. */
  readonly rowResponse?: RowResponse;
  /** Whether the transaction of the call cannot write. Without effect where the transaction continues after the call. */
  readonly isReadOnly?: boolean;
}

/** Makes a response from the row of a statement. */
export interface RowResponse {
  /**
   * Whether the transaction is rolled back after the statement. `host`: on a connection of the host only, whose transaction continues and
   * would keep settings that cannot be restored, such as `transaction_read_only`.
   */
  readonly rollsBack: boolean | 'host';
  /** The statement has a row for each part of the body, which is its first column. Absent: one row has all. */
  readonly joins?: JoinedRows;
  /**
   * Returns the response. Called after the end of the transaction.
   * @param row the columns as text; with `joins`, those after the first one
   * @param headerRow the columns of the header query, which are not headers then; empty without one
   * @param rows all rows, of a statement such as EXPLAIN; empty with `joins`
   * @param joined the body; null without `joins`
   * @throws Problem
   */
  respond(
    row: readonly (string | null)[],
    headerRow: readonly (string | null)[],
    rows: TextTable,
    joined: JoinedBody | null,
  ): GatewayResponse;
  /** Returns the error to respond with when the statement has failed. */
  toError(error: unknown): unknown;
}

/** Builds the query of a request. A thrown `Problem` is the response; another error fails the request. */
export type QueryBuilder = (input: QueryInput) => Query | Promise<Query>;

/** The statements of a subscription to changes of rows. */
export interface ChangeStatements extends Pick<Query, 'columns' | 'toError'> {
  /** Reads rows by their keys, as `ChangeQuery.sql` says. The values are those after the arrays of keys, the sources those of all values. */
  readonly lookup: {
    readonly sql: string;
    readonly values: readonly Value[];
    readonly valueSources: readonly (ValueSource | null)[];
  };
  /** Reads the rows that the endpoint returns. */
  readonly snapshot: QueryStatement;
  /** The columns of the result that identify a row, in the order of the arrays of keys. */
  readonly keys: readonly ResultColumn[];
}

/** Builds the statements of a subscription. Its endpoint has changes. A thrown `Problem` is the response. */
export type ChangeStatementsBuilder = (input: QueryInput) => ChangeStatements;

/** Builds the queries of the endpoints of a source. */
export interface QuerySource {
  readonly buildQuery: QueryBuilder;
  /** Absent: its endpoints have no streams of changes. */
  readonly buildChanges?: ChangeStatementsBuilder;
  /** Whether its endpoints are tables and views. */
  readonly readsTables?: boolean;
  /** The dialect of requests and responses of its endpoints. Absent: parameters and result. */
  readonly dialect?: Dialect;
  /**
   * Returns why requests of an endpoint cannot have an idempotency key, and what to do; null when they can: its last statement is the same
   * for all requests. Absent: no endpoint can have keys.
   */
  findIdempotencyFault?(endpoint: Endpoint): string | null;
  /** Called at each load with the endpoints of the source that are published, before their first request. */
  endpointsLoaded(endpoints: readonly Endpoint[]): void;
}

/** The stored response of a call. */
export interface CachedResponse {
  readonly body: Uint8Array;
  /** The number of rows with content; without any, the response may be 204. */
  readonly rows: number;
  /** Response headers that the call has set, alternating names and values. */
  readonly headers: HeaderList;
  /** A strong validator of the body, with its quotes. */
  readonly etag: string;
  /** Milliseconds since 1970. */
  readonly storedAt: number;
}

export interface CacheKey {
  /** `schema.name` of the routine or table, the unit of invalidation. */
  readonly routine: string;
  /** Identical only for calls that may share a response. */
  readonly text: string;
}

export interface CacheHit {
  readonly response: CachedResponse;
}

export interface CacheMiss {
  readonly response: null;
  /** The version that a response to store must carry. It changes when the routine is invalidated. */
  readonly version: string;
}

export type CacheLookup = CacheHit | CacheMiss;

/**
 * Stores responses. Only `open` may throw or reject: a cache reports its failures, and then has no entries. Requests wait for each
 * method, so none may take long.
 */
export interface Cache {
  /**
   * Called once, before any other method. `report` receives later failures and recoveries.
   * @throws Error for a cache that can never work: a missing package, an invalid address
   */
  open?(report: (state: CacheState) => void): Promise<void>;
  /** Returns no entry that is expired or invalidated. A synchronous result saves the request a turn of the event loop. */
  get(key: CacheKey): CacheLookup | Promise<CacheLookup>;
  /**
   * Stores a response, unless the routine was invalidated after the lookup that returned `version`.
   * @param how `expires`: milliseconds after `storedAt`; null: until evicted
   */
  set(
    key: CacheKey,
    response: CachedResponse,
    how: { readonly version: string; readonly expires: number | null },
  ): void | Promise<void>;
  /**
   * Invalidates the entries of these routines, and pending ones. When it resolves, no instance with this storage returns them.
   * @param scope `process`: each process makes this call itself, so that entries in the memory of other ones are left to them
   */
  invalidate(routines: readonly string[], scope?: 'process'): void | Promise<void>;
  /** Returns the entries in the memory of this process; absent: the cache is elsewhere. */
  statistics?(): CacheStatistics;
  close(): void | Promise<void>;
}

export interface CacheStatistics {
  readonly entries: number;
  readonly bytes: number;
  /** Entries that were removed for others, since the start. */
  readonly evictions: number;
}

/** The reason why the cache is unavailable, or null when it is available again. */
export type CacheState = { readonly unavailable: Error } | { readonly unavailable: null };

/** A logger with the methods of pino: fields first, then the message. */
export interface Logger {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}
