import { DatabaseError, type TextTable } from '../postgres/port.ts';
import { createTextRowSink } from '../postgres/query.ts';
import { openSingleConnection, runTimeoutMs, type SingleConnectionOptions } from './single-connection.ts';
import { toStartError } from './start-error.ts';

/**
 * Runs statements in one transaction, on a connection of their own, for tools that set up a database.
 * @returns the rows of each statement
 * @throws DatabaseError of a statement; StartError without a connection
 */
export async function runStatements(
  options: SingleConnectionOptions,
  statements: readonly string[],
): Promise<readonly TextTable[]> {
  const database = openSingleConnection(options);
  const steps = statements.map((sql) => ({ statement: { name: '', sql }, values: [], rows: createTextRowSink() }));
  try {
    await new Promise<void>((resolve, reject) => {
      database.run({
        steps,
        mayShare: false,
        atomic: true,
        timeout: runTimeoutMs,
        done: () => resolve(),
        failed: reject,
      });
    });
    return steps.map(({ rows }) => rows.rows);
  } catch (error) {
    throw error instanceof DatabaseError && error.diagnostics.severity !== 'FATAL' ? error : toStartError(error);
  } finally {
    await database.close();
  }
}
