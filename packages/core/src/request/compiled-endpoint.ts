import type { Statement, Value } from '../postgres/port.ts';
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
import { type CachePolicy, createCachePolicy } from './cache/cache-key.ts';
import type { AuthScheme, QueryBuilder, QueryStatement } from '../ports/ports.ts';
import { type Format, selectFormat, negotiableFormats } from '../response/format.ts';
import { type HeaderWriter, createHeaderWriter } from '../response/response-headers.ts';
import { negotiateRowFormat, type RowFormat } from '../response/negotiate.ts';

/** A client may choose which keys it gives, and so the statement: the one that was longest of no use makes room past this many. */
const mostStatements = 200;

/**
 * A statement of a form that comes so often is kept on connections. What comes more rarely is parsed at every call, so that ever new
 * choices of keys leave nothing behind.
 */
const usesBeforeName = 3;
/** Of a call that only reads. */
const harmless: SessionEffects = Object.freeze({ alters: false, mayBlock: false });

let statements = 0;

/** A statement that requests may have again, and how often it was wanted. */
interface Form {
  statement: Statement;
  uses: number;
}

/** Methods by which browsers ask for what other sites link to (RFC 9110, 9.2.1). */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** How an answer goes out: its body, and what stands before it. */
export interface Representation {
  readonly format: Format;
  readonly writeHeaders: HeaderWriter;
}

/** What an endpoint's source and the host have made for it. */
interface CompileOptions {
  readonly queryBuilder: QueryBuilder | null;
  readonly endpointScheme: AuthScheme | null;
}

/** An endpoint with what is made of it once, at start, for the requests to use. */
export class CompiledEndpoint {
  readonly endpoint: Endpoint;
  /** Makes the command of each request, where the endpoint's source does that itself. */
  readonly queryBuilder: QueryBuilder | null;
  /** What recognises the callers of this endpoint alone; null: the gateway's schemes do. */
  readonly endpointScheme: AuthScheme | null;
  /** Whether a call depends on who its caller is. */
  readonly needsCaller: boolean;
  readonly changesData: boolean;
  /** Whether the gateway gives parameters of its own. */
  readonly injectsValues: boolean;
  /** Whether a parameter is the hash of another. */
  readonly hashesParameters: boolean;
  /** How answers are kept; null: they are not. */
  readonly cachePolicy: CachePolicy | null;
  /** Whether what the call gives has to be converted by a second statement. */
  readonly convertsOutput: boolean;
  readonly latency: LatencyStatistics = new LatencyStatistics();
  #sessionUse: SessionEffects;
  readonly #plain: Representation;
  /** What a client may ask for instead. */
  readonly #others: Readonly<Partial<Record<RowFormat, Representation>>>;
  readonly #columns: Statement['columns'];
  readonly #forms = new Map<string, Form>();
  /** The routine's call with every parameter given: the one that is asked for most. Null where the source makes the commands. */
  readonly #whole: Statement | null;

  constructor(endpoint: Endpoint, { queryBuilder: make = null, endpointScheme = null }: Partial<CompileOptions> = {}) {
    const { parameters } = endpoint;
    this.endpoint = endpoint;
    this.#sessionUse = endpoint.sessionEffects ?? harmless;
    this.queryBuilder = make;
    this.endpointScheme = endpointScheme;
    this.needsCaller = dependsOnCaller(endpoint);
    this.changesData = endpoint.volatility === 'volatile' || !safeMethods.has(endpoint.method);
    this.injectsValues =
      endpoint.requestHeaders.mode === 'parameter' ||
      parameters.some(({ injectedValue }) => injectedValue !== undefined);
    this.cachePolicy = endpoint.cache === null ? null : createCachePolicy(endpoint, this.needsCaller || make !== null);
    this.hashesParameters = parameters.some(({ hashOf }) => hashOf !== undefined);
    const others = Object.entries(negotiableFormats(endpoint));
    this.#plain = renderingOf(endpoint, selectFormat(endpoint), others.length > 0);
    this.#others = Object.fromEntries(others.map(([media, format]) => [media, renderingOf(endpoint, format, true)]));
    this.convertsOutput = make === null && endpoint.outputConversion !== undefined;
    this.#columns = make === null ? callColumnTypes(endpoint) : resultColumnTypes(endpoint);
    this.#whole = make === null ? this.#named(buildCallStatement(endpoint, endpoint.parameters), this.#columns) : null;
  }

  /** What its calls may do to the session that they run in. */
  get sessionUse(): SessionEffects {
    return this.#sessionUse;
  }

  /** A call has left a setting changed, which its routine's text did not tell. */
  markAltersSession(): void {
    this.#sessionUse = { ...this.#sessionUse, alters: true };
  }

  /** The form that the client prefers among those on offer. */
  selectRepresentation(accept: string | undefined): Representation {
    return this.#others[negotiateRowFormat(accept)] ?? this.#plain;
  }

  /**
   * The statement that calls the routine with these of its parameters.
   * @throws Problem `missing-parameter` for a gap that no call can leave
   */
  statement(given: readonly EndpointParameter[]): Statement {
    if (this.#whole !== null && given.length === this.endpoint.parameters.length) return this.#whole;
    const form = given.map(({ position }) => position).join();
    return this.#kept(form, this.#columns, () => {
      const needed = findMissingArgument(this.endpoint, given);
      if (needed !== null) throw noGap(needed);
      return buildCallStatement(this.endpoint, given);
    });
  }

  /** The statement that converts what the call has given. */
  conversionStatement(given: readonly Value[]): Statement {
    const isNull = given.map((value) => value === null);
    const columns = conversionColumnTypes(this.endpoint);
    return this.#kept(`convert ${isNull.join()}`, columns, () => buildConversionStatement(this.endpoint, isNull));
  }

  /** A statement of the source's own making: of a known form the one that is there, else a new one. */
  customStatement(
    { sql, statementKey: form }: Pick<QueryStatement, 'sql' | 'statementKey'>,
    columns: Statement['columns'],
  ): Statement {
    const text = typeof sql === 'string' ? (): string => sql : sql;
    return form === undefined ? { name: '', sql: text(), ...expecting(columns) } : this.#kept(form, columns, text);
  }

  /** What a statement of this endpoint has to give. */
  get expectedColumns(): Statement['columns'] {
    return this.#columns;
  }

  #kept(form: string, columns: Statement['columns'], sql: () => string): Statement {
    const kept = this.#forms.get(form) ?? { statement: this.#rare(sql(), columns), uses: 0 };
    kept.uses++;
    if (kept.uses === usesBeforeName && kept.statement.name === '')
      kept.statement = this.#named(kept.statement.sql, columns);
    // The order of the map is the order of use: the first is the one that makes room.
    this.#forms.delete(form);
    this.#forms.set(form, kept);
    if (this.#forms.size > mostStatements) this.#forms.delete(this.#forms.keys().next().value!);
    return kept.statement;
  }

  /**
   * A statement without a name is checked when it already runs. That harms no statement which only reads, and none that gives no
   * columns; the others are prepared first.
   */
  #rare(sql: string, columns: Statement['columns']): Statement {
    const mayRunUnchecked = this.endpoint.volatility !== 'volatile' || (columns ?? []).length === 0;
    return mayRunUnchecked ? { sql, name: '', ...expecting(columns) } : this.#named(sql, columns);
  }

  #named(sql: string, columns: Statement['columns']): Statement {
    return { sql, name: `pgway_${++statements}`, ...expecting(columns) };
  }
}

function expecting(columns: Statement['columns']): Pick<Statement, 'columns'> {
  return columns === undefined ? {} : { columns };
}

/** Who signs in is nobody yet; who signs out has to be known, and whose events are streamed. */
function dependsOnCaller({
  authorization,
  basicAuthentication: basic,
  events,
  signIn,
  userContext,
  parameters,
}: Endpoint): boolean {
  if (authorization.required || basic !== null || events !== null) return true;
  if (signIn?.kind === 'logout' || userContext) return true;
  return parameters.some(({ injectedValue }) => injectedValue !== undefined && injectedValue !== 'ipAddress');
}

function noGap({ key, type }: EndpointParameter): Problem {
  return new Problem('missing-parameter', {
    detail: `"${key}" (${type.display}) is needed too: PostgreSQL has no call that leaves it out and gives the others.`,
    members: { missing: [key] },
  });
}

function renderingOf(endpoint: Endpoint, format: Format, negotiable: boolean): Representation {
  return { format, writeHeaders: createHeaderWriter(endpoint, format.contentType, negotiable) };
}

/** So many calls are looked at before an endpoint is trusted to be quick. */
const trial = 5;
const quickMilliseconds = 1;
const smallBytes = 64 * 1024;
/** Weight of the newest call in the moving averages. */
const weight = 0.2;

/** How quick and how large an endpoint's answers have been of late; it decides which calls may share a connection. */
export class LatencyStatistics {
  #calls = 0;
  #milliseconds = 0;
  #bytes = 0;

  /** Quick and small so far. One slow call is enough to lose that until a few quick ones have followed. */
  get isFast(): boolean {
    return this.#calls >= trial && this.#milliseconds < quickMilliseconds && this.#bytes < smallBytes;
  }

  /** Milliseconds that the database will probably work on the next call. */
  get expectedMs(): number {
    return this.#milliseconds;
  }

  /** What the next answer will probably need, in bytes. */
  get sizeHint(): number {
    return Math.max(256, Math.min(smallBytes, Math.ceil(this.#bytes * 1.25) + 64));
  }

  record(milliseconds: number, bytes: number): void {
    const share = this.#calls++ === 0 ? 1 : weight;
    this.#milliseconds += (milliseconds - this.#milliseconds) * share;
    this.#bytes += (bytes - this.#bytes) * share;
  }
}
