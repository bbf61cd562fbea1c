import { Problem } from '@pgway/core';

/** The fields of an error of PostgREST besides its message. */
interface ErrorFields {
  readonly details?: unknown;
  readonly hint?: string | null;
  readonly headers?: readonly string[];
}

/** An error of the query string. */
interface QueryError extends Omit<ErrorFields, 'headers'> {
  /** A code of PostgREST (`PGRST200`) or an SQLSTATE. */
  readonly code: string;
  readonly message: string;
}

/**
 * Returns an error with a code of PostgREST, such as `PGRST102`. Responses in the dialect have code, message, details and hint.
 * @param message names the culprit
 */
export function postgrestProblem(
  status: number,
  code: string,
  message: string,
  { details = null, hint = null, headers = [] }: ErrorFields = {},
): Problem {
  return new Problem('postgrest', { status, title: message, members: { code, details, hint }, headers });
}

/** Returns an error 400 of the query string. */
export function queryProblem({ code, message, ...fields }: QueryError): Problem {
  return postgrestProblem(400, code, message, fields);
}

/** PGRST100: the text of a parameter does not have the grammar of PostgREST. */
export function syntaxProblem(parameter: string, details: string): Problem {
  return queryProblem({ code: 'PGRST100', message: `The value of "${parameter}" cannot be parsed`, details });
}

/** PGRST103: a page that no table has. */
export function rangeProblem(details: string, headers: readonly string[] = []): Problem {
  return postgrestProblem(416, 'PGRST103', 'Requested range not satisfiable', { details, headers });
}

/** A body that cannot be read. */
export function invalidBody(message: string, details: string | null = null): Problem {
  return postgrestProblem(400, 'PGRST102', message, { details });
}

/** Adds the JSON Pointer (RFC 6901) of the value in the body that the error is about. */
export function locatedProblem(problem: Problem, pointer: string): Problem {
  return problem.withMembers({ pointer });
}

/** @param table as the request names it */
export function unknownColumn(column: string, table: string): Problem {
  return postgrestProblem(400, 'PGRST204', `Could not find the '${column}' column of '${table}' in the schema cache`);
}
