import {
  AcquireTimeout,
  CallTimeout,
  ConnectionLost,
  DatabaseError,
  type Diagnostics,
  OutcomeUnknown,
} from '../postgres/port.ts';
import { Problem, problemTypes } from '../http/problem.ts';
import type { ValueSource } from '../ports/ports.ts';
import { isStale, type StaleError } from './stale-endpoint.ts';
import { sqlstateToStatus } from './sqlstate.ts';

/** `nowait`, or `lock_timeout`: what holds the lock will be done with it. */
const lockNotAvailable = '55P03';
const retryAfter: readonly string[] = ['retry-after', '1'];
/** No `Retry-After`: the database may have committed what a second request would do again. */
const outcomeUnknown =
  'The call had been sent to the database when its connection was lost. Find out whether it took effect before you send it again.';

export interface ProblemContext {
  readonly statuses: Readonly<Record<string, number>>;
  /** The parameter whose value PostgreSQL could not read; null when it was something else. */
  readonly invalidParameter: ValueSource | null;
  /** What to say in place of PostgreSQL's message when a constraint is violated, by `schema.table.constraint`. */
  readonly constraintMessages: Readonly<Record<string, string>>;
  /** Whether details may hold all values of a row that a constraint has refused. */
  readonly rowDetails: boolean;
}

/** Every error that a request can end with, as the problem that its client is told. */
export function toProblem(error: unknown, explanation: ProblemContext): Problem {
  if (error instanceof Problem) return error;
  if (isStale(error)) return staleEndpoint(error);
  if (error instanceof DatabaseError)
    return isAmbiguous(error) ? severalSignatures(error) : ofDatabase(error, explanation);
  if (error instanceof CallTimeout) return new Problem('timeout', { cause: error });
  if (error instanceof AcquireTimeout) return new Problem('no-free-connection', { headers: retryAfter, cause: error });
  if (error instanceof OutcomeUnknown) return new Problem('outcome-unknown', { detail: outcomeUnknown, cause: error });
  if (error instanceof ConnectionLost)
    return new Problem('database-unavailable', { headers: retryAfter, cause: error });
  return new Problem('internal', { cause: error });
}

/** The log has what the database says, with the statement. */
function staleEndpoint(error: StaleError): Problem {
  const code = error instanceof DatabaseError ? { code: error.diagnostics.code } : {};
  return new Problem('stale-endpoint', { members: code, cause: error });
}

/** PostgreSQL cannot tell two overloads apart that differ in omitted defaults only, whatever is given by name. */
function isAmbiguous(error: DatabaseError): boolean {
  return error.phase === 'parse' && error.diagnostics.code === '42725';
}

function severalSignatures(error: DatabaseError): Problem {
  return new Problem('ambiguous-signature', {
    detail:
      'PostgreSQL cannot tell which signature takes exactly these parameters. Give one that only one of them has.',
    cause: error,
  });
}

function ofDatabase(error: DatabaseError, explanation: ProblemContext): Problem {
  const { diagnostics } = error;
  const { invalidParameter: refused } = explanation;
  const status = refusalStatus(diagnostics.code, refused, explanation.statuses);
  return new Problem(refused === null ? 'database-error' : 'invalid-parameter', {
    title: constraintMessage(diagnostics, explanation) ?? diagnostics.message,
    status,
    ...detailOf(diagnostics, explanation),
    members: { ...membersOf(diagnostics), ...(refused === null ? {} : { parameters: [refused.key] }) },
    headers: status === 503 || diagnostics.code === lockNotAvailable ? retryAfter : [],
    cause: error,
  });
}

/** The author's own words for a violation, where there are some. */
function constraintMessage(
  { schema, table, constraint }: Diagnostics,
  { constraintMessages }: ProblemContext,
): string | undefined {
  if (constraint === undefined) return undefined;
  return constraintMessages[`${schema ?? ''}.${table ?? ''}.${constraint}`];
}

function detailOf(
  diagnostics: Diagnostics,
  { invalidParameter: refused, rowDetails }: ProblemContext,
): { readonly detail?: string } {
  if (refused !== null) return { detail: `The parameter "${refused.key}" takes ${refused.type.display}.` };
  const { detail } = diagnostics;
  return detail === undefined || (!rowDetails && holdsRow(diagnostics)) ? {} : { detail };
}

/** Not-null, check and partition constraints, and the check option of a view. */
const codesWithRow: ReadonlySet<string> = new Set(['23502', '23514', '44000']);

/**
 * Whether PostgreSQL's detail is "Failing row contains (…)", which has columns that the caller may not read. The words depend on
 * `lc_messages`, so the SQLSTATE tells; a routine's own RAISE with that SQLSTATE comes from `exec_stmt_raise`.
 */
function holdsRow({ code, detail = '', routine }: Diagnostics): boolean {
  return (codesWithRow.has(code) && routine !== 'exec_stmt_raise') || detail.startsWith('Failing row contains');
}

function membersOf({ code, hint, constraint, column, table }: Diagnostics): Readonly<Record<string, string>> {
  const members = { code, hint, constraint, column, table };
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** A value that its type refuses is the client's fault, whatever its SQLSTATE is elsewhere. */
function refusalStatus(code: string, refused: ValueSource | null, statuses: ProblemContext['statuses']): number {
  const status = sqlstateToStatus(code, statuses);
  return refused !== null && status >= 500 ? problemTypes['invalid-parameter'].status : status;
}
