import type { Statement, Value } from '../postgres/port.ts';
import { hidesPath } from '../endpoints/secret-names.ts';
import { Problem } from '../http/problem.ts';
import type { Endpoint, EndpointParameter, SessionEffects } from '../endpoints/endpoint.ts';
import {
  resultColumnTypes,
  buildCallStatement,
  conversionColumnTypes,
  buildConversionStatement,
  findMissingArgument,
  callColumnTypes,
} from '../endpoints/statement.ts';
import { type CompiledCachePolicy, compileCachePolicy } from './cache/cache-key.ts';
import type { AuthScheme, QueryBuilder, QueryStatement } from '../ports/ports.ts';
import { type AvailableHandler, type CompiledHandler, compileHandlers } from './upload/compile-upload.ts';
import type { CompiledRateLimit } from './rate-limit/compile-rate-limit.ts';
import { type Format, isNegotiable, selectFormat, negotiableFormats } from '../response/format.ts';
import { type HeaderWriter, createHeaderWriter } from '../response/response-headers.ts';
import { negotiateRowFormat, type RowFormat } from '../response/negotiate.ts';

/** Statements per endpoint, one for each set of given parameters. Past it, the least recently used one is evicted. */
const maxStatements = 200;

/**
 * Uses of a statement before it becomes a named prepared statement. Rarer statements are parsed at every call, so that requests
 * with ever new sets of keys leave nothing on the connections.
 */
const usesBeforeName = 3;
/** The session effects of a call that only reads. */
const noEffects: SessionEffects = Object.freeze({ alters: false, mayBlock: false });

let statementCount = 0;

interface CachedStatement {
  statement: Statement;
  uses: number;
}

/** Safe methods (RFC 9110, section 9.2.1): browsers send them for links on other sites. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** One format that an endpoint's result can be sent in. */
export interface Representation {
  readonly format: Format;
  readonly writeHeaders: HeaderWriter;
}

interface CompileOptions {
  readonly queryBuilder: QueryBuilder | null;
  readonly endpointScheme: AuthScheme | null;
  readonly uploadHandlers: ReadonlyMap<string, AvailableHandler>;
  readonly rateLimit: CompiledRateLimit | null;
}

const compileDefaults: CompileOptions = {
  queryBuilder: null,
  endpointScheme: null,
  uploadHandlers: new Map(),
  rateLimit: null,
};

/** An endpoint with its prepared statements and formats, made once at start for all of its requests. */
export class CompiledEndpoint {
  readonly endpoint: Endpoint;
  /** Builds the statement of each request; null: the statement calls a routine. */
  readonly queryBuilder: QueryBuilder | null;
  /** The scheme that authenticates callers of this endpoint; null: the gateway's schemes do. */
  readonly endpointScheme: AuthScheme | null;
  /** Whether a call, or its rate limit, depends on its caller. */
  readonly needsCaller: boolean;
  /** Null: requests are not limited. */
  readonly rateLimit: CompiledRateLimit | null;
  readonly changesData: boolean;
  /** Whether the path of a request may have secrets. */
  readonly hidesPath: boolean;
  /** Whether the gateway fills parameters: claims, request headers. */
  readonly injectsValues: boolean;
  /** Whether a parameter takes the hash of another one. */
  readonly hashesParameters: boolean;
  /** Null: responses are not cached. */
  readonly cachePolicy: CompiledCachePolicy | null;
  /** The handlers of the endpoint's uploads; empty without uploads. */
  readonly uploadHandlers: readonly CompiledHandler[];
  /** Whether a second statement converts the output of a procedure. */
  readonly convertsOutput: boolean;
  readonly latency: LatencyStatistics = new LatencyStatistics();
  #sessionEffects: SessionEffects;
  readonly #default: Representation;
  /** Formats that a client can select with `Accept`; null until a client has done so, which few do. */
  #negotiable: Readonly<Partial<Record<RowFormat, Representation>>> | null = null;
  readonly #columns: Statement['columns'];
  /** In the order of use: the first one is evicted first. */
  readonly #statements = new Map<string, CachedStatement>();
  /** The call with all parameters, which most requests use. Null with a query builder. */
  readonly #completeCall: Statement | null;

  constructor(endpoint: Endpoint, options: Partial<CompileOptions> = {}) {
    const { queryBuilder, endpointScheme, uploadHandlers, rateLimit } = { ...compileDefaults, ...options };
    const { parameters } = endpoint;
    this.endpoint = endpoint;
    this.#sessionEffects = endpoint.sessionEffects ?? noEffects;
    this.queryBuilder = queryBuilder;
    this.endpointScheme = endpointScheme;
    const isPersonal = dependsOnCaller(endpoint);
    this.rateLimit = rateLimit;
    this.needsCaller = isPersonal || rateLimit?.needsCaller === true;
    this.uploadHandlers = compileHandlers(endpoint, uploadHandlers);
    this.changesData = endpoint.volatility === 'volatile' || !safeMethods.has(endpoint.method);
    this.hidesPath = hidesPath(endpoint);
    this.injectsValues = injectsValues(endpoint);
    this.cachePolicy =
      endpoint.cache === null ? null : compileCachePolicy(endpoint, isPersonal || queryBuilder !== null);
    this.hashesParameters = parameters.some(({ hashOf }) => hashOf !== undefined);
    this.#default = createRepresentation(endpoint, selectFormat(endpoint), isNegotiable(endpoint));
    this.convertsOutput = queryBuilder === null && endpoint.outputConversion !== undefined;
    this.#columns = queryBuilder === null ? callColumnTypes(endpoint) : resultColumnTypes(endpoint);
    this.#completeCall =
      queryBuilder === null ? this.#named(buildCallStatement(endpoint, endpoint.parameters), this.#columns) : null;
  }

  /** The effects that calls may have on their session. */
  get sessionUse(): SessionEffects {
    return this.#sessionEffects;
  }

  /** Records that a call has changed a setting of its session, which the routine's source did not show. */
  markAltersSession(): void {
    this.#sessionEffects = { ...this.#sessionEffects, alters: true };
  }

  /** Returns the representation that the client prefers. */
  selectRepresentation(accept: string | undefined): Representation {
    const format = negotiateRowFormat(accept);
    if (format === 'json') return this.#default;
    this.#negotiable ??= negotiableRepresentations(this.endpoint);
    return this.#negotiable[format] ?? this.#default;
  }

  /**
   * Returns the statement that calls the routine with the given parameters.
   * @throws Problem `missing-parameter` when PostgreSQL has no call that omits exactly the others
   */
  statement(given: readonly EndpointParameter[]): Statement {
    if (this.#completeCall !== null && given.length === this.endpoint.parameters.length) return this.#completeCall;
    const key = given.map(({ position }) => position).join();
    return this.#getOrCreate(key, this.#columns, () => {
      const needed = findMissingArgument(this.endpoint, given);
      if (needed !== null) throw missingParameter(needed);
      return buildCallStatement(this.endpoint, given);
    });
  }

  /** Returns the statement that converts the output values of a procedure. */
  conversionStatement(output: readonly Value[]): Statement {
    const isNull = output.map((value) => value === null);
    const columns = conversionColumnTypes(this.endpoint);
    return this.#getOrCreate(`convert ${isNull.join()}`, columns, () =>
      buildConversionStatement(this.endpoint, isNull),
    );
  }

  /** Returns the statement of a custom query; without a `statementKey`, it is for one call only. */
  customStatement(
    { sql, statementKey }: Pick<QueryStatement, 'sql' | 'statementKey'>,
    columns: Statement['columns'],
  ): Statement {
    const text = typeof sql === 'string' ? (): string => sql : sql;
    return statementKey === undefined
      ? { name: '', sql: text(), ...withColumns(columns) }
      : this.#getOrCreate(statementKey, columns, text);
  }

  /** The columns that a statement of this endpoint must return. */
  get expectedColumns(): Statement['columns'] {
    return this.#columns;
  }

  #getOrCreate(key: string, columns: Statement['columns'], sql: () => string): Statement {
    const cached = this.#statements.get(key) ?? { statement: this.#firstUse(sql(), columns), uses: 0 };
    cached.uses++;
    if (cached.uses === usesBeforeName && cached.statement.name === '')
      cached.statement = this.#named(cached.statement.sql, columns);
    this.#statements.delete(key);
    this.#statements.set(key, cached);
    if (this.#statements.size > maxStatements) this.#statements.delete(this.#statements.keys().next().value!);
    return cached.statement;
  }

  /**
   * The columns of an unnamed statement are checked only while it runs. A volatile statement that returns columns is therefore
   * named from its first use on.
   */
  #firstUse(sql: string, columns: Statement['columns']): Statement {
    const mayRunUnchecked = this.endpoint.volatility !== 'volatile' || (columns ?? []).length === 0;
    return mayRunUnchecked ? { sql, name: '', ...withColumns(columns) } : this.#named(sql, columns);
  }

  #named(sql: string, columns: Statement['columns']): Statement {
    return { sql, name: `pgway_${++statementCount}`, ...withColumns(columns) };
  }
}

function withColumns(columns: Statement['columns']): Pick<Statement, 'columns'> {
  return columns === undefined ? {} : { columns };
}

/** A login needs no caller. Logout and event streams do. */
function dependsOnCaller({
  authorization,
  basicAuthentication,
  events,
  loginOrLogout,
  userContext,
  parameters,
}: Endpoint): boolean {
  if (authorization.required || basicAuthentication !== null || events !== null) return true;
  if (loginOrLogout?.kind === 'logout' || userContext) return true;
  return parameters.some(({ injectedValue }) => injectedValue !== undefined && injectedValue !== 'ipAddress');
}

function injectsValues({ requestHeaders, upload, parameters }: Endpoint): boolean {
  if (requestHeaders.mode === 'parameter' || (upload !== null && upload.metadataParameter !== null)) return true;
  return parameters.some(({ injectedValue }) => injectedValue !== undefined);
}

function missingParameter({ key, type }: EndpointParameter): Problem {
  return new Problem('missing-parameter', {
    detail: `"${key}" (${type.display}) is needed too: PostgreSQL has no call that leaves it out and gives the others.`,
    members: { missing: [key] },
  });
}

function negotiableRepresentations(endpoint: Endpoint): Readonly<Partial<Record<RowFormat, Representation>>> {
  const formats = Object.entries(negotiableFormats(endpoint));
  return Object.fromEntries(formats.map(([name, format]) => [name, createRepresentation(endpoint, format, true)]));
}

function createRepresentation(endpoint: Endpoint, format: Format, negotiable: boolean): Representation {
  return { format, writeHeaders: createHeaderWriter(endpoint, format.contentType, negotiable) };
}

/** Calls before an endpoint can count as fast. */
const minCalls = 5;
const fastMs = 1;
const smallBytes = 64 * 1024;
/** Weight of the newest call in the moving averages, from 0 to 1. */
const newestWeight = 0.2;

/** Moving averages of an endpoint's latency and response size. They decide which calls may share a connection. */
export class LatencyStatistics {
  #calls = 0;
  #averageMs = 0;
  #averageBytes = 0;

  /** Whether responses were fast and small. One slow call resets it until a few fast ones have followed. */
  get isFast(): boolean {
    return this.#calls >= minCalls && this.#averageMs < fastMs && this.#averageBytes < smallBytes;
  }

  /** The expected duration of the next call in the database, in milliseconds. */
  get expectedMs(): number {
    return this.#averageMs;
  }

  /** The expected size of the next response, in bytes. */
  get sizeHint(): number {
    return Math.max(256, Math.min(smallBytes, Math.ceil(this.#averageBytes * 1.25) + 64));
  }

  record(milliseconds: number, bytes: number): void {
    const share = this.#calls++ === 0 ? 1 : newestWeight;
    this.#averageMs += (milliseconds - this.#averageMs) * share;
    this.#averageBytes += (bytes - this.#averageBytes) * share;
  }
}
