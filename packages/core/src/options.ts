import type { Filters, RoutineSource } from './catalog/source.ts';
import type { Hooks } from './pipeline/hooks.ts';
import type { Logger, Observer } from './pipeline/ports.ts';
import { type LogOptions, logDefaults } from './plugins/log/options.ts';
import type { Endpoint, Method } from './plan/endpoint.ts';
import type { PlanOptions } from './plan/options.ts';

/** Callbacks of the host at start and at every refresh; each may be asynchronous, and what it throws fails the start. */
export interface StartHooks {
  /** May change the list of sources, which holds the functions and procedures of the database. */
  readonly sourcesCreated: ((sources: RoutineSource[]) => void | Promise<void>) | null;
  /** For each endpoint: null drops it, another endpoint takes its place, nothing leaves it as it is. */
  readonly endpointCreated:
    | ((endpoint: Endpoint) => Endpoint | null | undefined | void | Promise<Endpoint | null | undefined | void>)
    | null;
  /** Once, with all endpoints. */
  readonly endpointsCreated: ((endpoints: readonly Endpoint[]) => void | Promise<void>) | null;
  /** Run one after the other when all endpoints are there: code generation and the like. */
  readonly endpointCreateHandlers: readonly ((endpoints: readonly Endpoint[]) => void | Promise<void>)[];
}

/** What only the gateway as a whole decides; the rest of its options are those of the plan, the filters and the hooks. */
export interface RunOptions {
  /** `postgres://user:password@host:5432/database`, or `Host=…;Database=…`. */
  readonly connectionString: string;
  /** Further databases, by the names that comments choose them with. */
  readonly connectionStrings: Readonly<Record<string, string>>;
  /** The most connections to each database. */
  readonly poolSize: number;
  /** Seconds that a request may wait for a connection before it is answered 503. */
  readonly acquireTimeout: number;
  /** Seconds that a routine may take before it is cancelled and answered 504; null: 30. */
  readonly commandTimeout: number | null;
  /** Whether short calls may share a busy connection; each stays a transaction of its own. */
  readonly shareConnections: boolean;
  /** How PostgreSQL plans prepared calls: one generic plan, or a choice of its own. */
  readonly planCacheMode: 'force_generic_plan' | 'auto';
  readonly errorFormat: 'problem' | 'text';
  /** Whether the database's messages may reach the client. */
  readonly returnGatewayExceptionMessage: boolean;
  /** SQLSTATE, or a class of two characters, to HTTP status; extends and overrides the built-in table. */
  readonly postgreSqlErrorCodeToHttpStatusCodeMapping: Readonly<Record<string, number>>;
  /** Whether a key that is no parameter refuses a request or passes. */
  readonly unknownParameters: 'reject' | 'ignore';
  /** Bytes. */
  readonly maxBodySize: number;
  /** Characters of path and query together. */
  readonly maxUriLength: number;
  /** The setting that holds the request's headers where an endpoint wants them in one. */
  readonly requestHeadersContextKey: string;
  /** Names of headers that no routine is told of. */
  readonly requestHeadersExclude: readonly string[];
  /** Added to the request's headers before a routine is told of them; the client never sees them. */
  readonly customRequestHeaders: Readonly<Record<string, string | readonly string[]>>;
  /** Any diagnostic of severity error stops the start, not only its own endpoint. */
  readonly strict: boolean;
  /** Replaces the query that lists routines; null: the built-in one. */
  readonly query: string | null;
  /** Where routines come from; null: the functions and procedures of the database. */
  readonly routineSources: readonly RoutineSource[] | null;
  /** An endpoint that reads the catalog again. */
  readonly refreshEndpointEnabled: boolean;
  readonly refreshMethod: Method;
  readonly refreshPath: string;
  /** Takes log lines, in the manner of pino; null: nothing is logged. */
  readonly logger: Logger | null;
  /** Told of everything that is worth a log line or a count. */
  readonly observer: Observer | null;
}

/** All options, each with its value. */
export type Options = RunOptions & LogOptions & StartHooks & Hooks & PlanOptions & Filters;

/** What a host gives: the connection string, and whatever else should differ from the defaults. */
export type GatewayOptions = Partial<Omit<Options, 'connectionString' | 'connectionNames'>> &
  Pick<RunOptions, 'connectionString'>;

export const runDefaults: Omit<RunOptions & LogOptions & StartHooks & Hooks, 'connectionString'> = Object.freeze({
  ...logDefaults,
  connectionStrings: {},
  poolSize: 10,
  acquireTimeout: 5,
  commandTimeout: null,
  shareConnections: true,
  planCacheMode: 'force_generic_plan',
  errorFormat: 'problem',
  returnGatewayExceptionMessage: true,
  postgreSqlErrorCodeToHttpStatusCodeMapping: {},
  unknownParameters: 'reject',
  maxBodySize: 1024 * 1024,
  maxUriLength: 8 * 1024,
  requestHeadersContextKey: 'request.headers',
  requestHeadersExclude: [],
  customRequestHeaders: {},
  strict: false,
  query: null,
  routineSources: null,
  refreshEndpointEnabled: false,
  refreshMethod: 'GET',
  refreshPath: '/api/gateway/refresh',
  logger: null,
  observer: null,
  sourcesCreated: null,
  endpointCreated: null,
  endpointsCreated: null,
  endpointCreateHandlers: [],
  validateParameters: null,
  commandCallback: null,
});
