import type { Statement, Value } from '../postgres/port.ts';
import type { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { InjectedCall } from './inject.ts';
import type { QueryBuilder, Query, ValueSource, Observer } from '../ports/ports.ts';

/** A statement with its values. */
export interface BoundStatement {
  readonly statement: Statement;
  /** `$1`, `$2`, … */
  readonly arguments: readonly Value[];
  /** For each value the parameter that it comes from; null for values that no client sent. */
  readonly valueSources: readonly (ValueSource | null)[];
}

/** A call with the statement that makes it. */
export interface ExecutableCall extends InjectedCall, BoundStatement {
  /** Runs before the statement; its row holds the values of the response headers `names`. */
  readonly headerQuery: (BoundStatement & { readonly names: readonly string[] }) | null;
  /** The problem to respond with when the statement returns no row; null: an empty result is fine. */
  readonly noRowProblem: Problem | null;
  /** Set when the call is about to run. Not one of the settings: responses are cached by these. */
  traceparent: string | null;
}

/** Returns the call with the routine's own statement, which was prepared at start. */
export function buildQuery(call: InjectedCall): ExecutableCall {
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
    noRowProblem: null,
    traceparent: null,
  };
}

/** Returns the call with the statement that the endpoint's source builds. */
export async function buildCustomQuery(
  call: InjectedCall,
  queryBuilder: QueryBuilder,
  request: GatewayRequest,
): Promise<ExecutableCall> {
  const { candidate, parameters, values, settings } = call;
  const query = await queryBuilder({ endpoint: candidate.endpoint, parameters, values, request });
  return {
    candidate,
    parameters,
    values,
    settings: query.settings === undefined ? settings : [...settings, ...query.settings],
    statement: candidate.customStatement(query, expectedColumns(call)),
    arguments: query.values ?? values,
    valueSources: query.valueSources ?? (query.values === undefined ? parameters : []),
    headerQuery: buildHeaderQuery(query, call),
    noRowProblem: query.noRowProblem ?? null,
    traceparent: null,
  };
}

function buildHeaderQuery({ headerQuery }: Query, { candidate }: InjectedCall): ExecutableCall['headerQuery'] {
  if (headerQuery === undefined) return null;
  const { names, values, valueSources } = headerQuery;
  const columns = names.map(() => null);
  return { statement: candidate.customStatement(headerQuery, columns), arguments: values, valueSources, names };
}

/** Undefined for a result without content: its rows are discarded, whatever their columns are. */
function expectedColumns({ candidate }: InjectedCall): Statement['columns'] {
  return candidate.endpoint.result.kind === 'nothing' ? undefined : candidate.expectedColumns;
}

/** Reports the statement that is about to run, with its values, to the observer. */
export function logCommand(observe: Observer, call: ExecutableCall, request: GatewayRequest): void {
  const { candidate, valueSources, arguments: values, statement } = call;
  const parameters = values.map((value, index) => ({ name: valueSources[index]?.name ?? `$${index + 1}`, value }));
  observe({ kind: 'command', endpoint: candidate.endpoint, request, sql: statement.sql, parameters });
}
