import { type FetchHandler, fetchHandler } from './adapters/fetch.ts';
import { type NodeMiddleware, nodeMiddleware } from './adapters/node.ts';
import { functionsSource } from './catalog/functions.ts';
import type { Filters } from './catalog/source.ts';
import { connectDatabase } from './database/connect.ts';
import { ConnectionStringError, parseConnectionString } from './database/connection-string.ts';
import { ConnectionLost, type Database, DatabaseError } from './database/port.ts';
import type { Handle } from './http/response.ts';
import type { GatewayOptions, RunOptions } from './options.ts';
import { createHandle, type Pipeline } from './pipeline/handle.ts';
import { Operation } from './pipeline/operation.ts';
import { sqlstateStatuses } from './pipeline/sqlstate.ts';
import { planEndpoints } from './plan/build.ts';
import type { Diagnostic } from './plan/diagnostic.ts';
import type { Endpoint } from './plan/endpoint.ts';
import { planDefaults } from './plan/defaults.ts';
import type { PlanOptions } from './plan/options.ts';
import { createRouter } from './router/router.ts';

const oldestServer = 130_000;
/** Seconds; what a database driver of this field waits when nobody says anything. */
const defaultCommandTimeout = 30;

const runDefaults: Omit<RunOptions, 'connectionString'> = Object.freeze({
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
  maxUriLength: 16 * 1024,
  strict: false,
  query: null,
  routineSources: null,
  observer: () => undefined,
});

/** The gateway cannot start. One line that says what is wrong and what to do. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

export interface Gateway {
  /** What is published now. */
  readonly endpoints: readonly Endpoint[];
  /** What the authors of comments should know. */
  readonly diagnostics: readonly Diagnostic[];
  /** The gateway itself: a request to its answer, or undefined when the request is not ours. */
  readonly handle: Handle;
  /** For `node:http`, Connect and Express: `app.use(gateway.middleware)`. */
  readonly middleware: NodeMiddleware;
  /** For hosts that speak WHATWG fetch. */
  readonly fetch: FetchHandler;
  /** Reads the catalog again and swaps all endpoints at once; on failure the old ones stay. */
  refresh(): Promise<void>;
  /** Lets running calls finish and closes every connection. */
  close(): Promise<void>;
}

type Options = RunOptions & PlanOptions & Filters;

interface Published {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
  readonly pipeline: Pipeline;
}

/**
 * Reads the database's catalog, plans its endpoints and gives a gateway that answers them.
 * @param given a connection string, or options with one
 * @throws StartError when the database cannot be reached or read, or is older than 13
 */
export async function createGateway(given: string | GatewayOptions): Promise<Gateway> {
  const options: Options = {
    ...planDefaults,
    ...runDefaults,
    ...withoutUndefined(typeof given === 'string' ? { connectionString: given } : given),
  };
  const database = openDatabase(options);
  let published: Published;
  try {
    await requireSupportedServer(database);
    published = await publish(database, options);
  } catch (error) {
    await database.close();
    throw startError(error);
  }
  const handle = createHandle(() => published.pipeline);
  return {
    get endpoints() {
      return published.endpoints;
    },
    get diagnostics() {
      return published.diagnostics;
    },
    handle,
    middleware: nodeMiddleware(handle),
    fetch: fetchHandler(handle),
    async refresh() {
      published = await publish(database, options);
    },
    close: () => database.close(),
  };
}

function withoutUndefined<Given extends object>(given: Given): Given {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Given;
}

function timeoutOf(options: Options): number {
  return (options.commandTimeout ?? defaultCommandTimeout) * 1_000;
}

function openDatabase(options: Options): Database {
  if (typeof options.connectionString !== 'string') {
    throw new StartError('no connection string: give one such as postgres://user:password@localhost:5432/database');
  }
  try {
    return connectDatabase(parseConnectionString(options.connectionString), {
      ...options,
      acquireTimeout: options.acquireTimeout * 1_000,
      statementTimeout: timeoutOf(options),
      notice: () => undefined,
    });
  } catch (error) {
    throw startError(error);
  }
}

async function requireSupportedServer(database: Database): Promise<void> {
  const [[number, version] = []] = await database.query(
    `select pg_catalog.current_setting('server_version_num'), pg_catalog.current_setting('server_version')`,
  );
  if (Number(number) >= oldestServer) return;
  throw new StartError(`the server is PostgreSQL ${version}; the gateway needs version 13 or newer`);
}

async function publish(database: Database, options: Options): Promise<Published> {
  const { query, observer } = options;
  const sources = options.routineSources ?? [functionsSource({ query })];
  const read = await Promise.all(sources.map((source) => source.read(database, options)));
  const { endpoints, diagnostics } = planEndpoints(read.flat(), options);
  for (const diagnostic of diagnostics) observer({ kind: 'diagnostic', diagnostic });
  refuseErrors(diagnostics, options);
  for (const endpoint of endpoints) observer({ kind: 'endpoint-created', endpoint });
  return { endpoints, diagnostics, pipeline: pipelineOf(database, endpoints, options) };
}

function refuseErrors(diagnostics: readonly Diagnostic[], { strict }: Options): void {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (!strict || errors.length === 0) return;
  const lines = errors.map(
    ({ routine, line, message }) => `${routine}${line === null ? '' : ` line ${line}`}: ${message}`,
  );
  throw new StartError(`${errors.length} endpoints are not as written: ${lines.join('; ')}`);
}

function pipelineOf(database: Database, endpoints: readonly Endpoint[], options: Options): Pipeline {
  const { observer } = options;
  return {
    database,
    timeout: timeoutOf(options),
    notice: (endpoint, notice) => observer({ kind: 'notice', endpoint, notice }),
    router: createRouter(endpoints.map((endpoint) => new Operation(endpoint))),
    schemes: [],
    maxBodySize: options.maxBodySize,
    maxUriLength: options.maxUriLength,
    ignoreUnknown: options.unknownParameters === 'ignore',
    refusal: {
      format: options.errorFormat,
      showDatabaseMessage: options.returnGatewayExceptionMessage,
      mappedCodes: { ...sqlstateStatuses, ...options.postgreSqlErrorCodeToHttpStatusCodeMapping },
    },
    observe: observer,
  };
}

/** Whatever the start failed with, as one line that says what to do. */
function startError(error: unknown): Error {
  if (error instanceof StartError) return error;
  if (error instanceof ConnectionStringError) return new StartError(error.message, { cause: error });
  if (error instanceof DatabaseError) {
    const { code, message } = error.diagnostics;
    return new StartError(`${hintOf(code)}: ${message} (${code})`, { cause: error });
  }
  if (error instanceof ConnectionLost) {
    return new StartError(`${error.message}; is the server running, and are host and port right?`, { cause: error });
  }
  return new StartError(error instanceof Error ? error.message : String(error), { cause: error });
}

function hintOf(code: string): string {
  if (code.startsWith('28')) return 'the server refused the user or password of the connection string';
  if (code === '3D000') return 'the database of the connection string does not exist';
  if (code.startsWith('57P')) return 'the server is starting or stopping; try again in a moment';
  if (code === '53300') return 'the server has no connection left for the gateway';
  return 'the database refused to be read';
}
