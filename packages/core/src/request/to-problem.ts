import {
  AcquireTimeout,
  CallTimeout,
  ConnectionLost,
  DatabaseError,
  type Diagnostics,
  LocatedError,
  OutcomeUnknown,
} from '../postgres/port.ts';
import { truncate } from '../http/json-reader.ts';
import { Problem, problemTypes } from '../http/problem.ts';
import type { ValueSource } from '../ports/ports.ts';
import { isStale, type StaleError } from './stale-endpoint.ts';
import { sqlstateToStatus } from './sqlstate.ts';

/** `NOWAIT` or `lock_timeout`: the lock will be released soon. */
const lockNotAvailable = '55P03';
const retryAfter: readonly string[] = ['retry-after', '1'];
/** No `Retry-After`: the call may have been committed, and a retry would run it twice. */
const outcomeUnknown =
  'The call had been sent to the database when its connection was lost. Find out whether it took effect before you send it again.';

export interface ProblemContext {
  readonly statuses: Readonly<Record<string, number>>;
  /** The parameter whose value PostgreSQL refused; null for other errors. */
  readonly invalidParameter: ValueSource | null;
  /** Messages for violated constraints, by `schema.table.constraint`. */
  readonly constraintMessages: Readonly<Record<string, string>>;
  /** Whether details may hold the values of a row that a constraint has refused. */
  readonly showRowDetails: boolean;
  /** Replaces the names of shards; null for a database without Citus. */
  readonly toLogicalNames: ((diagnostics: Diagnostics) => Diagnostics) | null;
}

/** Turns any error of a request into the problem for its client. */
export function toProblem(error: unknown, context: ProblemContext): Problem {
  if (error instanceof Problem) return error;
  if (isStale(error)) return staleEndpoint(error);
  if (error instanceof DatabaseError)
    return isAmbiguous(error) ? ambiguousSignature(error) : databaseProblem(error, context);
  if (error instanceof CallTimeout) return new Problem('timeout', { cause: error });
  if (error instanceof AcquireTimeout) return new Problem('no-free-connection', { headers: retryAfter, cause: error });
  if (error instanceof OutcomeUnknown) return new Problem('outcome-unknown', { detail: outcomeUnknown, cause: error });
  if (error instanceof ConnectionLost)
    return new Problem('database-unavailable', { headers: retryAfter, cause: error });
  return new Problem('internal', { cause: error });
}

function staleEndpoint(error: StaleError): Problem {
  const code = error instanceof DatabaseError ? { code: error.diagnostics.code } : {};
  return new Problem('stale-endpoint', { members: code, cause: error });
}

/** PostgreSQL cannot choose between overloads that differ only in omitted defaults (ambiguous_function). */
function isAmbiguous(error: DatabaseError): boolean {
  return error.phase === 'parse' && error.diagnostics.code === '42725';
}

function ambiguousSignature(error: DatabaseError): Problem {
  return new Problem('ambiguous-signature', {
    detail:
      'PostgreSQL cannot tell which signature takes exactly these parameters. Give one that only one of them has.',
    cause: error,
  });
}

function databaseProblem(error: DatabaseError, context: ProblemContext): Problem {
  const { invalidParameter, toLogicalNames } = context;
  const diagnostics = toLogicalNames === null ? error.diagnostics : toLogicalNames(error.diagnostics);
  const status = selectStatus(diagnostics.code, invalidParameter, context.statuses);
  return new Problem(invalidParameter === null ? 'database-error' : 'invalid-parameter', {
    title: constraintMessage(diagnostics, context) ?? selectMessage(diagnostics, invalidParameter),
    status,
    ...selectDetail(diagnostics, context),
    members: {
      ...problemMembers(invalidParameter === null ? diagnostics : withoutStyleHint(diagnostics)),
      ...(error instanceof LocatedError ? error.location : {}),
      ...(invalidParameter === null ? {} : { parameters: [invalidParameter.key] }),
    },
    headers: status === 503 || diagnostics.code === lockNotAvailable ? retryAfter : [],
    cause: error,
  });
}

/** Characters of a message that repeats a value, which can be as long as the body of the request. */
const maxQuotedLength = 500;

function selectMessage({ message }: Diagnostics, invalidParameter: ValueSource | null): string {
  return invalidParameter === null ? message : truncate(message, maxQuotedLength);
}

/** The comment's message for the violated constraint, if it has one. */
function constraintMessage(
  { schema, table, constraint }: Diagnostics,
  { constraintMessages }: ProblemContext,
): string | undefined {
  if (constraint === undefined) return undefined;
  return constraintMessages[`${schema ?? ''}.${table ?? ''}.${constraint}`];
}

function selectDetail(
  diagnostics: Diagnostics,
  { invalidParameter, showRowDetails }: ProblemContext,
): { readonly detail?: string } {
  if (invalidParameter !== null)
    return {
      detail: `The parameter "${invalidParameter.key}" takes ${invalidParameter.type.display}${describeValues(invalidParameter.type)}.`,
    };
  const { detail } = diagnostics;
  return detail === undefined || (!showRowDetails && quotesRow(diagnostics)) ? {} : { detail };
}

/** Values of types whose format clients get wrong. */
const examples: Readonly<Record<string, string>> = {
  bool: 'true or false',
  date: '2025-12-31',
  time: '18:30:00',
  timestamp: '2025-12-31T18:30:00',
  timestamptz: '2025-12-31T18:30:00Z',
  interval: '1 day 02:30:00',
  uuid: '9b2f8a60-4c1d-4e0e-8f57-2d3c1b0a9f84',
};
const maxLabels = 20;

/** Returns the labels of an enum, or an example: `: sad, ok` and `, such as 2025-12-31`. */
function describeValues({ builtin, labels = [] }: ValueSource['type']): string {
  if (labels.length > 0) return `: ${labels.slice(0, maxLabels).join(', ')}${labels.length > maxLabels ? ', …' : ''}`;
  const example = examples[builtin ?? ''];
  return example === undefined ? '' : `, such as ${example}`;
}

/** Not-null, check and partition constraints, and the check option of a view. */
const codesWithRow: ReadonlySet<string> = new Set(['23502', '23514', '44000']);

/**
 * Whether the detail is "Failing row contains (…)", which shows columns that the caller may not read. The SQLSTATE decides, as
 * `lc_messages` translates the text. A `RAISE` with the same SQLSTATE comes from `exec_stmt_raise`.
 */
function quotesRow({ code, detail = '', routine }: Diagnostics): boolean {
  return (codesWithRow.has(code) && routine !== 'exec_stmt_raise') || detail.startsWith('Failing row contains');
}

/** `Perhaps you need a different "DateStyle" setting` is for those who write SQL: clients cannot set it. */
function withoutStyleHint(diagnostics: Diagnostics): Diagnostics {
  const { hint, ...others } = diagnostics;
  return hint?.includes('DateStyle') === true ? others : diagnostics;
}

function problemMembers({ code, hint, constraint, column, table }: Diagnostics): Readonly<Record<string, string>> {
  const members = { code, hint, constraint, column, table };
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** A value that its type refuses is the client's error (400), even if its SQLSTATE is mapped to 5xx. */
function selectStatus(
  code: string,
  invalidParameter: ValueSource | null,
  statuses: ProblemContext['statuses'],
): number {
  const status = sqlstateToStatus(code, statuses);
  return invalidParameter !== null && status >= 500 ? problemTypes['invalid-parameter'].status : status;
}
