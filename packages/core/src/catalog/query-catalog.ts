import type { Database, TextTable, Value } from '../postgres/port.ts';
import { setConfigStatement } from '../postgres/settings.ts';
import { createTextRowSink } from '../postgres/query.ts';

/** Names pg_temp last, because PostgreSQL would otherwise search it first. */
const searchPath = ['search_path', 'pg_catalog, pg_temp'] as const;

const timeoutMs = 60_000;

/**
 * Runs a built-in catalog query with `search_path` set to `pg_catalog`, so that user-defined operators, functions and types have
 * no effect on it.
 * @param setting an additional setting of the transaction
 */
export function queryCatalog(
  database: Database,
  sql: string,
  values: readonly Value[],
  setting: readonly [name: string, value: string] = searchPath,
): Promise<TextTable> {
  return new Promise((resolve, reject) => {
    const rows = createTextRowSink();
    database.run({
      steps: [
        { statement: setConfigStatement(2), values: [...searchPath, ...setting] },
        { statement: { name: '', sql }, values, rows },
      ],
      mayShare: false,
      timeout: timeoutMs,
      done: () => resolve(rows.rows),
      failed: reject,
    });
  });
}
