import type { Statement, Value } from '../postgres/port.ts';
import type { Problem } from '../http/problem.ts';
import { isAuthorized } from '../auth/authorize.ts';
import { buildStoringStatement, listQueryInputs, storedValuesSetting } from '../endpoints/value-sql.ts';
import type { GatewayRequest } from '../http/request.ts';
import { bodyOf } from './parse/parse-input.ts';
import { readPaths } from './parse/read-paths.ts';
import type { RequestInput } from '../ports/request-input.ts';
import { selectRole } from './call-connection.ts';
import type { InjectedCall, InjectOptions } from './inject.ts';
import { headersByName } from './request-headers.ts';
import type { CallContext } from '../auth/injected-values.ts';
import type { Query, QueryContext, RowResponse, ValueSource, Observer } from '../ports/ports.ts';

/** A statement with its values. */
export interface BoundStatement {
  readonly statement: Statement;
  /** `$1`, `$2`, … */
  readonly arguments: readonly Value[];
  /** For each value the parameter that it comes from; null for values that no client sent. */
  readonly valueSources: readonly (ValueSource | null)[];
  /** As in `QueryStatement`. */
  readonly setting?: string;
}

/** A call with the statement that makes it. What one run of it adds is in `Run`. */
export interface ExecutableCall extends InjectedCall, BoundStatement {
  /** Runs before the statement; its row holds the values of the response headers `names`. */
  readonly headerQuery: (BoundStatement & { readonly names: readonly string[] }) | null;
  /** Statements that run before it, and whose rows are discarded. Absent: none. */
  readonly earlier?: readonly BoundStatement[] | undefined;
  /** The problem to respond with when the statement returns no row; null: an empty result is fine. */
  readonly noRowProblem: Problem | null;
  /** Makes the response from the row of the statement; null: the result of the endpoint decides. */
  readonly rowResponse: RowResponse | null;
  /** Whether its transaction cannot write, unless it continues after the call. */
  readonly isReadOnly: boolean;
  /** Whether its response may be cached. */
  readonly mayCache: boolean;
  /** Returns the error to respond with when the statement has failed; null: the error. */
  readonly toError: Query['toError'] | null;
}

/** Returns the call with its statement: at once, unless the source of the endpoint takes its time to build one. */
export function buildQuery(
  call: InjectedCall,
  context: CallContext,
  input: RequestInput,
  options: CustomQueryOptions,
): ExecutableCall | Promise<ExecutableCall> {
  return call.candidate.queryBuilder === null
    ? buildRoutineQuery(call)
    : buildCustomQuery(call, context, input, options);
}

/** Returns the call with the routine's own statement, which was prepared at start. */
function buildRoutineQuery(call: InjectedCall): ExecutableCall {
  // Property by property: every request passes here, and a spread costs several times as much.
  const { candidate, parameters, values, settings } = call;
  return {
    candidate,
    parameters,
    values,
    settings,
    statement: candidate.statement(parameters),
    arguments: values,
    valueSources: parameters,
    headerQuery: null,
    earlier: candidate.storesValues ? [storeValues(call)] : undefined,
    noRowProblem: null,
    rowResponse: null,
    isReadOnly: false,
    mayCache: true,
    toError: null,
  };
}

/** Returns the statement that stores the values of queries for the call of a procedure. */
function storeValues({ candidate, parameters, values }: InjectedCall): BoundStatement {
  const { endpoint } = candidate;
  const inputs = listQueryInputs(endpoint.parameters).filter((input) => parameters.includes(input));
  const statementKey = `values ${inputs.map(({ position }) => position).join()}`;
  const sql = (): string => buildStoringStatement(endpoint.parameters, inputs);
  return {
    statement: candidate.customStatement({ sql, statementKey }, undefined),
    arguments: inputs.map((input) => values[parameters.indexOf(input)]!),
    valueSources: inputs,
    setting: storedValuesSetting,
  };
}

interface CustomQueryOptions extends Pick<InjectOptions, 'databaseRole' | 'requestHeaders' | 'claimTypes'> {
  readonly forcesGenericPlans: boolean;
}

/** Returns what a query builder may know of a request besides its parameters. */
export function toQueryContext(
  call: InjectedCall,
  { request, caller }: CallContext,
  { databaseRole, requestHeaders, claimTypes }: Omit<CustomQueryOptions, 'forcesGenericPlans'>,
): QueryContext {
  return {
    caller,
    role: selectRole({ databaseRole }, call) ?? null,
    headers: () => headersByName(request, requestHeaders),
    mayCall: (other) => other.basicAuthentication === null && isAuthorized({ endpoint: other }, caller, claimTypes),
  };
}

/** Returns the call with the statement that the endpoint's source builds. The candidate has a query builder. */
function buildCustomQuery(
  call: InjectedCall,
  { request, caller }: CallContext,
  input: RequestInput,
  options: CustomQueryOptions,
): ExecutableCall | Promise<ExecutableCall> {
  const { candidate, parameters, values, rows } = call;
  const { endpoint, queryBuilder } = candidate;
  const query = {
    endpoint,
    parameters,
    values,
    request,
    body: bodyOf(input),
    paths: readPaths(endpoint, input),
    context: toQueryContext(call, { request, caller }, options),
  };
  const built = queryBuilder!(rows === undefined ? query : { ...query, rows });
  const { forcesGenericPlans } = options;
  return 'then' in built
    ? Promise.resolve(built).then((query) => toExecutableCall(call, query, forcesGenericPlans))
    : toExecutableCall(call, built, forcesGenericPlans);
}

function toExecutableCall(call: InjectedCall, query: Query, forcesGenericPlans: boolean): ExecutableCall {
  const { candidate, parameters, values, rows } = call;
  const executable: ExecutableCall = {
    candidate,
    parameters,
    values,
    settings: addSettings(call.settings, query, forcesGenericPlans),
    statement:
      query.columns === undefined
        ? candidate.customStatement(query, expectedColumns(call, query))
        : candidate.shapedStatement(query, query.columns),
    arguments: query.values ?? values,
    valueSources: query.valueSources ?? (query.values === undefined ? parameters : []),
    headerQuery: buildHeaderQuery(query, call),
    earlier: query.earlier === undefined ? undefined : buildEarlier(query.earlier, call),
    noRowProblem: query.noRowProblem ?? null,
    rowResponse: query.rowResponse ?? null,
    isReadOnly: query.isReadOnly ?? false,
    mayCache: query.readsOthers !== true,
    toError: query.toError ?? null,
  };
  return rows === undefined ? executable : { ...executable, rows };
}

function addSettings(
  own: InjectedCall['settings'],
  { settings, planCacheMode }: Query,
  forcesGenericPlans: boolean,
): InjectedCall['settings'] {
  const all = settings === undefined ? own : own.length === 0 ? settings : [...own, ...settings];
  return planCacheMode === undefined || !forcesGenericPlans ? all : [...all, ['plan_cache_mode', planCacheMode]];
}

function buildEarlier(earlier: NonNullable<Query['earlier']>, { candidate }: InjectedCall): readonly BoundStatement[] {
  return earlier.map((query) => ({
    statement: candidate.customStatement(query, undefined),
    arguments: query.values,
    valueSources: query.valueSources,
    ...(query.setting === undefined ? {} : { setting: query.setting }),
  }));
}

function buildHeaderQuery({ headerQuery }: Query, { candidate }: InjectedCall): ExecutableCall['headerQuery'] {
  if (headerQuery === undefined) return null;
  const { names, values, valueSources } = headerQuery;
  const columns = names.map(() => null);
  return { statement: candidate.customStatement(headerQuery, columns), arguments: values, valueSources, names };
}

/** Undefined for a result without content, whose rows are discarded, and for a dialect, whose query builder reads the row. */
function expectedColumns({ candidate }: InjectedCall, { expected }: Query): Statement['columns'] {
  if (expected?.columns !== undefined) return expected.columns;
  const { dialect, result } = candidate.endpoint;
  return dialect !== undefined || result.kind === 'nothing' ? undefined : candidate.expectedColumns;
}

/** Reports the statement that is about to run, with its values, to the observer. */
export function logCommand(observe: Observer, call: ExecutableCall, request: GatewayRequest): void {
  const { candidate, valueSources, arguments: values, statement } = call;
  const parameters = values.map((value, index) => ({ name: valueSources[index]?.name ?? `$${index + 1}`, value }));
  observe({ kind: 'command', endpoint: candidate.endpoint, request, sql: statement.sql, parameters });
}
