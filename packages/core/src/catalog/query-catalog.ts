import type { Database, TextTable, Value } from '../postgres/port.ts';
import { setConfigStatement } from '../postgres/settings.ts';
import { createTextRowSink } from '../postgres/query.ts';

/** The temporary schema is named last: PostgreSQL would otherwise search it first. */
const searchPath = ['search_path', 'pg_catalog, pg_temp'] as const;

/** How long the catalog may take to answer; milliseconds. */
const timeout = 60_000;

/**
 * Runs a catalog query of the gateway's own. It is parsed and run with a `search_path` of PostgreSQL's own schema, so that operators,
 * functions and types that a user has created elsewhere are not found.
 * @param setting one more for its transaction
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
      timeout,
      done: () => resolve(rows.rows),
      failed: reject,
    });
  });
}
