import {
  AcquireTimeout,
  CallTimeout,
  ColumnsChanged,
  ConnectionLost,
  DatabaseError,
  type Diagnostics,
} from '../database/port.ts';
import { Problem } from '../http/problem.ts';
import type { EndpointParameter } from '../plan/endpoint.ts';
import { statusOfSqlstate } from './sqlstate.ts';

const retryAfter: readonly string[] = ['retry-after', '1'];

export interface Explanation {
  readonly statuses: Readonly<Record<string, number>>;
  /** The parameters of the statement, to name the one that PostgreSQL refused; none before binding. */
  readonly parameters: readonly EndpointParameter[];
  /** The step of the call that is the routine itself. */
  readonly routineStep: number;
}

/** Every error that a request can end with, as the problem that its client is told. */
export function explain(error: unknown, explanation: Explanation): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof DatabaseError)
    return isAmbiguous(error) ? severalSignatures(error) : ofDatabase(error, explanation);
  if (error instanceof CallTimeout) return new Problem('timeout', { cause: error });
  if (error instanceof AcquireTimeout) return new Problem('no-free-connection', { headers: retryAfter, cause: error });
  if (error instanceof ConnectionLost)
    return new Problem('database-unavailable', { headers: retryAfter, cause: error });
  if (error instanceof ColumnsChanged) return new Problem('stale-endpoint', { cause: error });
  return new Problem('internal', { cause: error });
}

/** PostgreSQL cannot tell two overloads apart that differ in omitted defaults only, whatever is given by name. */
function isAmbiguous(error: DatabaseError): boolean {
  return error.phase === 'parse' && error.diagnostics.code === '42725';
}

function severalSignatures(error: DatabaseError): Problem {
  const { message } = error.diagnostics;
  return new Problem('ambiguous-signature', { detail: `PostgreSQL cannot choose: ${message}.`, cause: error });
}

/** PostgreSQL itself cannot tell some overloads apart: `f(int)` from `f(int, int default 1)`, called with one value. */
const ambiguousFunction = '42725';

function ofDatabase(error: DatabaseError, explanation: Explanation): Problem {
  const { diagnostics } = error;
  if (error.phase === 'parse' && diagnostics.code === ambiguousFunction) {
    return new Problem('ambiguous-signature', {
      detail: 'PostgreSQL cannot tell which signature takes exactly these parameters. Give one that only one of them has.',
      cause: error,
    });
  }
  const status = statusOfSqlstate(diagnostics.code, explanation.statuses);
  const refused = refusedParameter(error, explanation);
  return new Problem(refused === null ? 'database-error' : 'invalid-parameter', {
    title: diagnostics.message,
    status,
    ...detailOf(diagnostics, refused),
    members: { ...membersOf(diagnostics), ...(refused === null ? {} : { parameters: [refused.key] }) },
    headers: status === 503 ? retryAfter : [],
    cause: error,
  });
}

function detailOf({ detail }: Diagnostics, refused: EndpointParameter | null): { readonly detail?: string } {
  if (refused !== null) return { detail: `The parameter "${refused.key}" takes ${refused.type.display}.` };
  return detail === undefined ? {} : { detail };
}

function membersOf({ code, hint, constraint, column, table }: Diagnostics): Readonly<Record<string, string>> {
  const members = { code, hint, constraint, column, table };
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** PostgreSQL tells the number of the parameter whose text it could not read, in a context line. */
function refusedParameter(error: DatabaseError, { parameters, routineStep }: Explanation): EndpointParameter | null {
  if (error.phase !== 'bind' || error.step !== routineStep || !error.diagnostics.code.startsWith('22')) return null;
  const number = /\$(\d+)/.exec(error.diagnostics.where ?? '')?.[1];
  return number === undefined ? null : (parameters[Number(number) - 1] ?? null);
}
