import type { DescribedColumn, Runner } from './port.ts';

/** The types of a statement, as PostgreSQL has derived them. */
export interface DescribedStatement {
  /** The type OIDs of `$1`, `$2`, … */
  readonly parameters: readonly number[];
  readonly columns: readonly DescribedColumn[];
}

/** Milliseconds. A lock of a migration delays the analysis of a statement. */
const timeoutMs = 30_000;

/**
 * Parses the statement and returns its types. It is not run.
 * @throws DatabaseError, with the position of the mistake
 */
export function describeStatement(runner: Runner, sql: string): Promise<DescribedStatement> {
  return new Promise((resolve, reject) => {
    let parameters: readonly number[] = [];
    let columns: DescribedStatement['columns'] = [];
    const describes = {
      parameters: (types: readonly number[]): void => void (parameters = types),
      columns: (all: readonly DescribedColumn[]): void => void (columns = all),
    };
    runner.run({
      steps: [{ statement: { name: '', sql }, values: [], describes }],
      mayShare: true,
      idempotent: true,
      timeout: timeoutMs,
      done: () => resolve({ parameters, columns }),
      failed: reject,
    });
  });
}
