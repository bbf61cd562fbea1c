import { CallCancelled, type Database, DatabaseError, type Value } from '../postgres/port.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { selectDatabase } from './execute.ts';
import { toProblem } from './to-problem.ts';
import type { ExecutableCall, BoundStatement } from './build-query.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { Pipeline } from './pipeline.ts';
import { problemResponse } from './problem-response.ts';
import { isStale } from './stale-endpoint.ts';
import { loginStatuses } from './sqlstate.ts';
import type { ValueSource } from '../ports/ports.ts';

/** How far a request came. */
interface Attempt {
  readonly call: ExecutableCall | null;
  readonly targets: readonly Pick<CompiledEndpoint, 'endpoint'>[];
}

/** The answer to a request whose stage has thrown; the observer hears of it. */
export async function handleError(
  error: unknown,
  request: GatewayRequest,
  { call, targets }: Attempt,
  pipeline: Pipeline,
): Promise<GatewayResponse> {
  const { problemOptions: refusal, observe } = pipeline;
  // Nobody is left to answer; the host closes what is still open.
  if (error instanceof CallCancelled) return { kind: 'whole', status: 499, headers: [], body: null };
  const endpoint = meant({ call, targets });
  const database = endpoint === null ? pipeline.database : selectDatabase(pipeline, endpoint);
  const refused = isStale(error) ? null : await findInvalidParameter(error, call, database);
  const constraintMessages = endpoint?.constraintMessages ?? {};
  const { mappedCodes, showRowDetails: rowDetails } = refusal;
  const statuses = endpoint?.signIn?.kind === 'login' ? loginStatuses(mappedCodes) : mappedCodes;
  const problem = toProblem(error, { statuses, invalidParameter: refused, constraintMessages, rowDetails });
  const correlationId = problem.status >= 500 || !refusal.showDatabaseMessage ? request.id : null;
  const reason = error instanceof Error ? error : new Error(String(error));
  observe({ kind: 'request-failed', request, endpoint, status: problem.status, correlationId, error: reason });
  return problemResponse(problem, correlationId, refusal);
}

/** Of overloads, none was meant before one was chosen. */
function meant({ call, targets }: Attempt): Endpoint | null {
  const [candidate = null] = call !== null ? [call.candidate] : targets.length === 1 ? targets : [];
  return candidate?.endpoint ?? null;
}

/**
 * Classes of errors with which a type's input function refuses a text: most use 22, domains 23; those that look names up
 * (regclass) or parse a language of their own (jsonpath, tsquery) use 42, which is elsewhere no fault of the client.
 */
const refusalClasses: ReadonlySet<string> = new Set(['22', '23', '42']);

/**
 * The parameter whose text PostgreSQL could not read; null when the error was about something else. PostgreSQL tells its
 * number in a context line from 14 on, in words of its own language; where it does not, each value is tried alone.
 */
export async function findInvalidParameter(
  error: unknown,
  call: ExecutableCall | null,
  database: Database,
): Promise<ValueSource | null> {
  if (call === null || !(error instanceof DatabaseError) || error.phase !== 'bind') return null;
  const formula = formulaAt(call, error.step);
  if (formula === null || !refusalClasses.has(error.diagnostics.code.slice(0, 2))) return null;
  const number = /\bparameter \$(\d+)/.exec(error.diagnostics.where ?? '')?.[1];
  return number === undefined ? tryEach(formula, database) : (formula.valueSources[Number(number) - 1] ?? null);
}

/** The steps of a call stand in the order settings, head, statement; null for settings. */
function formulaAt(call: ExecutableCall, step: number | undefined): BoundStatement | null {
  const formulas = [
    ...(call.settings.length > 0 ? [null] : []),
    ...(call.headerQuery === null ? [] : [call.headerQuery]),
    call,
  ];
  return formulas[step ?? -1] ?? null;
}

async function tryEach(
  { valueSources: owners, arguments: values }: BoundStatement,
  database: Database,
): Promise<ValueSource | null> {
  for (const [index, owner] of owners.entries()) {
    // One after the other: the first is the one that PostgreSQL stopped at.
    // oxlint-disable-next-line no-await-in-loop
    if (owner !== null && !(await isTaken(values[index]!, owner, database))) return owner;
  }
  return null;
}

async function isTaken(value: Value, { type }: ValueSource, database: Database): Promise<boolean> {
  if (value === null) return true;
  try {
    await database.query(`select $1::${type.sql}`, [value]);
    return true;
  } catch (error) {
    // The connection may have gone meanwhile: that says nothing of the value.
    return !(error instanceof DatabaseError);
  }
}
