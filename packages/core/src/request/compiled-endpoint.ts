import type { Statement, Value } from '../postgres/port.ts';
import { hidesPath } from '../endpoints/secret-names.ts';
import { Problem } from '../http/problem.ts';
import { canTryPlans } from '../endpoints/plan-trials.ts';
import type {
  BasicAuthentication,
  Endpoint,
  EndpointParameter,
  ResultColumn,
  SessionEffects,
} from '../endpoints/endpoint.ts';
import {
  resultColumnTypes,
  buildCallStatement,
  conversionColumnTypes,
  buildConversionStatement,
  findMissingArgument,
  callColumnTypes,
  outputNames,
} from '../endpoints/statement.ts';
import { buildRoutineGuard } from '../endpoints/routine-guard.ts';
import { type CompiledCachePolicy, compileCachePolicy } from './cache/cache-key.ts';
import { compileIdempotency } from './idempotency/compile-idempotency.ts';
import type { CompiledIdempotency, IdempotencyStore } from './idempotency/compile-idempotency.ts';
import type { Dialect } from '../ports/dialect.ts';
import type { ChangeStatementsBuilder, QueryBuilder, QueryStatement } from '../ports/ports.ts';
import { type AvailableHandler, type CompiledHandler, compileHandlers } from './upload/compile-upload.ts';
import { parseRawTemplate, type RawTemplate, renderRawFormat } from '../response/raw-template.ts';
import type { ParameterValues } from '../response/template.ts';
import { LatencyStatistics } from './latency-statistics.ts';
import { nextStatementName, StatementCache } from '../postgres/statement-cache.ts';
import { type Format, isNegotiable, selectFormat, negotiableFormats, numberTextFormats } from '../response/format.ts';
import { type HeaderWriter, createHeaderWriter } from '../response/response-headers.ts';
import { negotiatesLargeNumbers } from '../endpoints/large-numbers.ts';
import { builtInNegotiation, type RowNegotiation } from '../response/negotiate.ts';
import type { RowFormatName } from '../endpoints/row-formats.ts';

/** The session effects of a call that only reads. */
const noEffects: SessionEffects = Object.freeze({ alters: false, altersTransaction: false, mayBlock: false });

/** Safe methods (RFC 9110, section 9.2.1): browsers send them for links on other sites. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** One format that an endpoint's result can be sent in. */
export interface Representation {
  readonly format: Format;
  readonly writeHeaders: HeaderWriter;
}

interface CompileOptions {
  readonly queryBuilder: QueryBuilder | null;
  readonly dialect: Dialect | null;
  readonly changesBuilder: ChangeStatementsBuilder | undefined;
  readonly uploadHandlers: ReadonlyMap<string, AvailableHandler>;
  readonly negotiation: RowNegotiation;
  /** Whether the rate limit of the endpoint counts requests by their user. */
  readonly limitsUsers: boolean;
  readonly canUseReplica: boolean;
  readonly idempotencyStore: IdempotencyStore | null;
  /** The comment of the routine in the catalog; undefined: calls do not verify that it is the routine of the endpoint. */
  readonly catalogComment: string | null | undefined;
}

const compileDefaults: CompileOptions = Object.freeze({
  queryBuilder: null,
  dialect: null,
  changesBuilder: undefined,
  uploadHandlers: new Map(),
  negotiation: builtInNegotiation,
  limitsUsers: false,
  canUseReplica: false,
  idempotencyStore: null,
  catalogComment: undefined,
});

/**
 * An endpoint with its prepared statements and formats, made once for all of its requests. It has nothing of a database, so that
 * databases with the same schema share it. Its format, statement and cache policy are made for its first request: a start with
 * thousands of endpoints would spend a tenth of its time on them.
 */
export class CompiledEndpoint {
  readonly endpoint: Endpoint;
  /** Builds the statement of each request; null: the statement calls a routine. */
  readonly queryBuilder: QueryBuilder | null;
  /** The dialect of its requests and responses; null: parameters and result. */
  readonly dialect: Dialect | null;
  /** Builds the statements of a stream of changes; undefined: its source has none. */
  readonly changesBuilder: ChangeStatementsBuilder | undefined;
  /** The credentials of this endpoint alone; null: the gateway's schemes authenticate its callers. */
  readonly endpointScheme: BasicAuthentication | null;
  /** Whether a call, or its rate limit, depends on its caller. */
  readonly needsCaller: boolean;
  readonly changesData: boolean;
  /** Whether the path of a request may have secrets. */
  readonly hidesPath: boolean;
  /** Whether the gateway fills parameters: claims, request headers. */
  readonly injectsValues: boolean;
  /** Whether a parameter takes the hash of another one. */
  readonly hashesParameters: boolean;
  /** The handlers of the endpoint's uploads; empty without uploads. */
  readonly uploadHandlers: readonly CompiledHandler[];
  /** Whether a statement before the call stores the values of queries. */
  readonly storesValues: boolean;
  /** Whether a second statement converts the output of a procedure. */
  readonly convertsOutput: boolean;
  readonly latency: LatencyStatistics = new LatencyStatistics();
  #canUseReplica: boolean;
  readonly #canTryPlans: boolean;
  #sessionEffects: SessionEffects;
  readonly #isPersonal: boolean;
  #cachePolicy: CompiledCachePolicy | null = null;
  readonly #idempotencyStore: IdempotencyStore | null;
  readonly #catalogComment: string | null | undefined;
  #idempotency: CompiledIdempotency | null = null;
  #default: Representation | null = null;
  /** Formats that a client can select with `Accept`; null until a client has done so, which few do. */
  #negotiable: Readonly<Partial<Record<RowFormatName, Representation>>> | null = null;
  /** The parameters that queries of the comment set. */
  readonly #queryCount: number;
  readonly #negotiation: RowNegotiation;
  readonly #negotiatesNumbers: boolean;
  /** Null, except for raw responses whose texts between values or rows depend on the call. */
  readonly #rawTemplate: RawTemplate | null;
  /** Formats with large numbers as strings; null until a client has requested one. */
  #numberTexts: Readonly<Partial<Record<RowFormatName, Representation>>> | null = null;
  #columns: Statement['columns'];
  /** The endpoint with the columns of a statement that has others. */
  #shapes: WeakMap<Statement, CompiledEndpoint> | null = null;
  /** Null until a request has omitted a parameter. */
  #statements: StatementCache | null = null;
  /** The call with all parameters, which most requests use. */
  #completeCall: Statement | null = null;

  constructor(endpoint: Endpoint, options: Partial<CompileOptions> = {}) {
    const { queryBuilder, dialect, changesBuilder, uploadHandlers, idempotencyStore, negotiation, ...rest } = {
      ...compileDefaults,
      ...options,
    };
    const { parameters } = endpoint;
    this.endpoint = endpoint;
    this.#canUseReplica = rest.canUseReplica;
    this.#idempotencyStore = idempotencyStore;
    this.#catalogComment = rest.catalogComment;
    this.#canTryPlans = canTryPlans(endpoint);
    this.#sessionEffects = endpoint.sessionEffects ?? noEffects;
    this.queryBuilder = queryBuilder;
    this.dialect = dialect;
    this.changesBuilder = changesBuilder;
    this.endpointScheme = endpoint.basicAuthentication;
    this.#isPersonal = dependsOnCaller(endpoint);
    this.needsCaller = this.#isPersonal || rest.limitsUsers;
    this.uploadHandlers = compileHandlers(endpoint, uploadHandlers);
    this.changesData = endpoint.volatility === 'volatile' || !safeMethods.has(endpoint.method);
    this.hidesPath = hidesPath(endpoint);
    this.injectsValues = injectsValues(endpoint);
    this.hashesParameters = parameters.some(({ hashOf }) => hashOf !== undefined);
    this.#queryCount = parameters.filter(({ query }) => query !== undefined).length;
    this.storesValues = queryBuilder === null && endpoint.kind === 'procedure' && this.#queryCount > 0;
    this.#negotiation = negotiation;
    this.#negotiatesNumbers = negotiatesLargeNumbers(endpoint);
    this.#rawTemplate = parseRawTemplate(endpoint);
    this.convertsOutput = queryBuilder === null && endpoint.outputConversion !== undefined;
  }

  /** Null: responses are not cached. */
  get cachePolicy(): CompiledCachePolicy | null {
    if (this.endpoint.cache === null) return null;
    return (this.#cachePolicy ??= compileCachePolicy(this.endpoint, this.#isPersonal || this.queryBuilder !== null));
  }

  /** Null: idempotency keys have no effect. */
  get idempotency(): CompiledIdempotency | null {
    if (this.endpoint.idempotency === undefined) return null;
    return (this.#idempotency ??= compileIdempotency(this.endpoint, this.#idempotencyStore));
  }

  /** The effects that calls may have on their session. */
  get sessionUse(): SessionEffects {
    return this.#sessionEffects;
  }

  /** Records that a call has changed a setting of its session, which the routine's source did not show. */
  markAltersSession(): void {
    this.#sessionEffects = { ...this.#sessionEffects, alters: true, mayPrepare: true, altersTransaction: true };
  }

  /** Whether the plans of calls may be chosen by measurement: the calls only read, and have the same effect when they run twice. */
  get choosesPlans(): boolean {
    return this.#canTryPlans && !this.#sessionEffects.alters;
  }

  /** Whether calls may run on a read replica. */
  get canUseReplica(): boolean {
    return this.#canUseReplica;
  }

  /** Records that a replica has refused a call because it is one. */
  keepOnPrimary(): void {
    this.#canUseReplica = false;
  }

  /**
   * Returns the representation that the client prefers.
   * @param call the values for placeholders between raw values and rows
   */
  selectRepresentation(
    accept: string | undefined,
    call: ParameterValues & { readonly statement?: Statement },
  ): Representation {
    const shape = call.statement === undefined ? undefined : this.#shapes?.get(call.statement);
    if (shape !== undefined) return shape.selectRepresentation(accept, call);
    if (this.#rawTemplate !== null) return this.#renderRaw(this.#rawTemplate, call);
    if (this.#negotiatesNumbers && accept !== undefined) return this.#selectNumbers(accept);
    return this.#selectFormat(this.#negotiation.select(accept, this.endpoint.tableFormat));
  }

  /** Whether the response may have many rows. */
  get hasManyRows(): boolean {
    return this.#selectFormat('json').format.hasManyRows;
  }

  #renderRaw(template: RawTemplate, call: ParameterValues): Representation {
    const raw = renderRawFormat(template, this.endpoint.raw!, call);
    return createRepresentation(this.endpoint, selectFormat({ ...this.endpoint, raw }), false);
  }

  #selectFormat(format: RowFormatName): Representation {
    if (format === 'json') return (this.#default ??= defaultRepresentation(this.endpoint, this.#negotiatesNumbers));
    this.#negotiable ??= toRepresentations(
      this.endpoint,
      negotiableFormats(this.endpoint, this.#negotiation.documents),
    );
    return this.#negotiable[format] ?? this.#selectFormat('json');
  }

  #selectNumbers(accept: string): Representation {
    const { format, numberTexts } = this.#negotiation.selectNumbers(accept, this.endpoint.tableFormat ?? 'json');
    if (!numberTexts) return this.#selectFormat(format);
    this.#numberTexts ??= toRepresentations(this.endpoint, numberTextFormats(this.endpoint));
    return this.#numberTexts[format] ?? this.#selectFormat(format);
  }

  /**
   * Returns the statement that calls the routine with the given parameters.
   * @throws Problem `missing-parameter` when PostgreSQL has no call that omits exactly the others
   */
  statement(given: readonly EndpointParameter[]): Statement {
    const { parameters } = this.endpoint;
    if (given.length === parameters.length - this.#queryCount)
      return (this.#completeCall ??= this.#guarded(
        this.#named(buildCallStatement(this.endpoint, given), this.expectedColumns),
        given,
      ));
    const key = given.map(({ position }) => position).join();
    return this.#getOrCreate(
      key,
      this.expectedColumns,
      () => {
        const needed = findMissingArgument(this.endpoint, given);
        if (needed !== null) throw missingParameter(needed);
        return buildCallStatement(this.endpoint, given);
      },
      given,
    );
  }

  /** Adds what a statement of a call has in addition: its guard, and the names of the columns that CALL returns by position. */
  #guarded(statement: Statement, given: readonly EndpointParameter[]): Statement {
    const names = outputNames(this.endpoint);
    const guard =
      this.#catalogComment === undefined ? null : buildRoutineGuard(this.endpoint, given, this.#catalogComment);
    return {
      ...statement,
      ...(names === null ? {} : { columnNames: names }),
      ...(guard === null ? {} : { guard }),
    };
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
    { sql, statementKey, mainStart, expected }: Pick<QueryStatement, 'sql' | 'statementKey' | 'mainStart' | 'expected'>,
    columns: Statement['columns'],
  ): Statement {
    const text = typeof sql === 'string' ? (): string => sql : sql;
    return statementKey === undefined
      ? { name: '', sql: text(), ...withColumns(columns) }
      : (this.#statements ??= new StatementCache()).getOrCreate(statementKey, () => ({
          ...this.#create(text(), columns, null),
          ...(mainStart === undefined ? {} : { mainStart: mainStart() }),
          ...expected,
        }));
  }

  /** Returns the statement of a custom query whose rows have columns of their own. */
  shapedStatement(query: Pick<QueryStatement, 'sql' | 'statementKey'>, columns: readonly ResultColumn[]): Statement {
    const endpoint: Endpoint = { ...this.endpoint, result: { kind: 'objects', columns } };
    const statement = this.customStatement(query, resultColumnTypes(endpoint));
    this.#shapes ??= new WeakMap();
    if (!this.#shapes.has(statement))
      this.#shapes.set(statement, new CompiledEndpoint(endpoint, { negotiation: this.#negotiation }));
    return statement;
  }

  /** The columns that a statement of this endpoint must return. */
  get expectedColumns(): Statement['columns'] {
    return (this.#columns ??=
      this.queryBuilder === null ? callColumnTypes(this.endpoint) : resultColumnTypes(this.endpoint));
  }

  /** @param given the parameters of a call; null: the statement is not one of the endpoint's own calls */
  #getOrCreate(
    key: string,
    columns: Statement['columns'],
    sql: () => string,
    given: readonly EndpointParameter[] | null = null,
  ): Statement {
    const statements = (this.#statements ??= new StatementCache());
    return statements.getOrCreate(key, () => this.#create(sql(), columns, given));
  }

  /**
   * The columns of an unnamed statement are checked only while it runs. A volatile statement that returns columns is therefore
   * named from its first use on.
   */
  #firstUse(sql: string, columns: Statement['columns']): Statement {
    const mayRunUnchecked = this.endpoint.volatility !== 'volatile' || (columns ?? []).length === 0;
    return mayRunUnchecked ? { sql, name: '', ...withColumns(columns) } : this.#named(sql, columns);
  }

  #create(sql: string, columns: Statement['columns'], given: readonly EndpointParameter[] | null): Statement {
    const statement = this.#firstUse(sql, columns);
    return given === null ? statement : this.#guarded(statement, given);
  }

  #named(sql: string, columns: Statement['columns']): Statement {
    return { sql, name: nextStatementName(), ...withColumns(columns) };
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
  idempotency,
  dialect,
}: Endpoint): boolean {
  if (authorization.required || basicAuthentication !== null || events !== null) return true;
  // Each caller has idempotency keys of its own, and a dialect passes its caller to the database.
  if (idempotency !== undefined || dialect !== undefined) return true;
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

/** @param negotiatesNumbers whether the response varies by the form of numbers */
function defaultRepresentation(endpoint: Endpoint, negotiatesNumbers: boolean): Representation {
  return createRepresentation(endpoint, selectFormat(endpoint), negotiatesNumbers || isNegotiable(endpoint));
}

function toRepresentations(
  endpoint: Endpoint,
  formats: Readonly<Partial<Record<RowFormatName, Format>>>,
): Readonly<Partial<Record<RowFormatName, Representation>>> {
  return Object.fromEntries(
    Object.entries(formats).map(([name, format]) => [name, createRepresentation(endpoint, format, true)]),
  );
}

function createRepresentation(endpoint: Endpoint, format: Format, negotiable: boolean): Representation {
  return { format, writeHeaders: createHeaderWriter(endpoint, format, negotiable) };
}
