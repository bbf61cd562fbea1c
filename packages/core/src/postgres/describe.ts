import { type Database, DatabaseError, type DescribedColumn, readOnlySqlTransaction, type Step } from './port.ts';
import { readOnlyStep } from './settings.ts';

/** The types of a statement, as PostgreSQL has derived them. */
export interface DescribedStatement {
  /** The type OIDs of `$1`, `$2`, … */
  readonly parameters: readonly number[];
  readonly columns: readonly DescribedColumn[];
}

/** Milliseconds. A lock of a migration delays the analysis of a statement. */
const timeoutMs = 30_000;

/**
 * Parses the statement and returns its types. It is not run: only the input functions of its literals are, which check domains within
 * arrays, rows and ranges by functions of users. Rows that these write are not kept; sequences and session-level locks are not restored.
 * @param types the type OIDs of parameters; 0 or none: PostgreSQL derives the type
 * @throws DatabaseError, with the position of the mistake
 */
export async function describeStatement(
  database: Pick<Database, 'run' | 'begin'>,
  sql: string,
  types: readonly number[] = [],
): Promise<DescribedStatement> {
  try {
    return await describeReadOnly(database, sql, types);
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.diagnostics.code !== readOnlySqlTransaction) throw error;
    return describeAndRollBack(database, sql, types);
  }
}

function describeReadOnly(
  database: Pick<Database, 'run'>,
  sql: string,
  types: readonly number[],
): Promise<DescribedStatement> {
  return new Promise((resolve, reject) => {
    const { step, read } = describingStep(sql, types);
    database.run({
      steps: [readOnlyStep, step],
      mayShare: true,
      idempotent: true,
      isReadOnly: true,
      timeout: timeoutMs,
      done: () => resolve(read()),
      failed: reject,
    });
  });
}

/** Takes more round trips, and a connection of its own. */
async function describeAndRollBack(
  database: Pick<Database, 'begin'>,
  sql: string,
  types: readonly number[],
): Promise<DescribedStatement> {
  const transaction = await database.begin({
    settings: null,
    restoreSettings: null,
    role: undefined,
    altersSession: false,
    timeout: timeoutMs,
  });
  const { step, read } = describingStep(sql, types);
  try {
    await transaction.run([step]);
  } finally {
    await transaction.rollback();
  }
  return read();
}

function describingStep(
  sql: string,
  types: readonly number[],
): { readonly step: Step; readonly read: () => DescribedStatement } {
  let parameters: DescribedStatement['parameters'] = [];
  let columns: DescribedStatement['columns'] = [];
  const describes = {
    parameters: (types: readonly number[]): void => void (parameters = types),
    columns: (all: readonly DescribedColumn[]): void => void (columns = all),
  };
  return {
    step: { statement: { name: '', sql, types }, values: [], describes },
    read: () => ({ parameters, columns }),
  };
}
