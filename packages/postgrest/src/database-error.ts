import { DatabaseError } from '@pgway/core/internal';

export function isDatabaseError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError;
}

/**
 * Errors that a request can cause although its names and types were checked:
 * - 42883, 42846, 42804: an operator or cast that a type does not have
 * - 42803: an order by a column that grouped rows do not have
 * - 42P10: columns of `on_conflict` without a unique constraint
 * - 54001, 54011: a statement that is too large
 */
const causedByRequest: ReadonlySet<string> = new Set(['42883', '42846', '42804', '42803', '42P10', '54001', '54011']);

/** PostgreSQL reports a search with thousands of operators as an internal error, and does not translate it. */
const nestedSearch = { code: 'XX000', message: 'tsquery stack too small' } as const;

/**
 * Returns an error of a statement that is the request's, although it comes before the statement runs: the endpoint is not stale.
 * Other errors are returned unchanged.
 */
export function ofRequest(error: unknown): unknown {
  if (!isDatabaseError(error)) return error;
  const { diagnostics } = error;
  if (diagnostics.code === nestedSearch.code && diagnostics.message === nestedSearch.message)
    return error.with({ diagnostics: { ...diagnostics, code: '54000' }, phase: 'execute' });
  if (error.phase === 'execute' || !causedByRequest.has(diagnostics.code)) return error;
  return error.with({ phase: 'execute' });
}
