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
  /** Whose values these are; null: none of the client's. */
  readonly valueSources: readonly (ValueSource | null)[];
}

/** A call with the statement that makes it. */
export interface ExecutableCall extends InjectedCall, BoundStatement {
  /** Runs before the statement; its row holds the values of these headers. */
  readonly headerQuery: (BoundStatement & { readonly names: readonly string[] }) | null;
  /** The refusal when the statement gives no row; null: that is as good an answer as any. */
  readonly noRowProblem: Problem | null;
}

/** The routine's own call, made at start for each choice of its parameters. */
export function buildQuery(call: InjectedCall): ExecutableCall {
  // Member by member: this is on every request's way, where a spread costs more than all of it.
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
  };
}

/** A command that the endpoint's source makes. */
export async function buildCustomQuery(
  call: InjectedCall,
  make: QueryBuilder,
  request: GatewayRequest,
): Promise<ExecutableCall> {
  const { candidate, parameters, values, settings } = call;
  const made = await make({ endpoint: candidate.endpoint, parameters, values, request });
  return {
    candidate,
    parameters,
    values,
    settings: made.settings === undefined ? settings : [...settings, ...made.settings],
    statement: candidate.customStatement(made, columnsOf(made, call)),
    arguments: made.values ?? values,
    valueSources: made.valueSources ?? (made.values === undefined ? parameters : []),
    headerQuery: headOf(made, call),
    noRowProblem: made.noRowProblem ?? null,
  };
}

function headOf({ headerQuery: head }: Query, { candidate }: InjectedCall): ExecutableCall['headerQuery'] {
  if (head === undefined) return null;
  const { names, values, valueSources: owners } = head;
  return {
    statement: candidate.customStatement(
      head,
      names.map(() => null),
    ),
    arguments: values,
    valueSources: owners,
    names,
  };
}

/** Rows that are only counted may have any columns. */
function columnsOf({ noRowProblem: noRow }: Query, { candidate }: InjectedCall): Statement['columns'] {
  const countedOnly = noRow !== undefined && candidate.endpoint.result.kind === 'nothing';
  return countedOnly ? undefined : candidate.expectedColumns;
}

/** Tells the observer what is about to run, and with which values. */
export function logCommand(observe: Observer, call: ExecutableCall, request: GatewayRequest): void {
  const { candidate, valueSources: owners, arguments: values, statement } = call;
  const named = values.map((value, index) => ({ name: owners[index]?.name ?? `$${index + 1}`, value }));
  observe({ kind: 'command', endpoint: candidate.endpoint, request, sql: statement.sql, parameters: named });
}
