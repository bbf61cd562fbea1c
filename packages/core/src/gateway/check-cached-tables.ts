import { findTableObstacles } from '../changes/preconditions/find-obstacles.ts';
import type { TableName } from '../catalog/table-name.ts';
import { readLogFacts } from '../changes/preconditions/log-facts.ts';
import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Database } from '../postgres/port.ts';

/**
 * Returns a diagnostic for each endpoint whose responses are cached until changes of tables, if the log does not have all of these changes, or
 * PostgreSQL refuses some. The endpoint works, without its cache as long as the log lacks changes.
 */
export async function checkCachedTables(
  database: Database,
  endpoints: readonly Endpoint[],
): Promise<readonly Diagnostic[]> {
  const byTables = new Map<string, readonly string[]>();
  const diagnostics: Diagnostic[] = [];
  for (const { cache, id } of endpoints) {
    const tables = cache?.untilChangesOf;
    if (tables === undefined) continue;
    const key = JSON.stringify(tables);
    let faults = byTables.get(key);
    if (faults === undefined) byTables.set(key, (faults = await findFaults(database, tables)));
    for (const fault of faults)
      diagnostics.push({
        severity: 'error',
        code: 'cached-changes',
        routine: id,
        line: null,
        message: `cached: ${fault}`,
      });
  }
  return diagnostics;
}

/** With these obstacles, PostgreSQL refuses UPDATE and DELETE: the log has all changes that there are. */
const refusalCodes: ReadonlySet<string> = new Set(['no-identity', 'columns']);

async function findFaults(database: Database, tables: readonly TableName[]): Promise<readonly string[]> {
  try {
    const own = await readLogFacts(database, tables);
    // Rows of inheriting tables are rows of the table.
    const heirs = own.tables.flatMap((table) => table.heirs ?? []);
    const facts = heirs.length === 0 ? own : await readLogFacts(database, [...tables, ...heirs]);
    return findTableObstacles(facts).map(({ code, message }) =>
      refusalCodes.has(code) ? message : `${message}. Until then, responses are not cached`,
    );
  } catch (error) {
    return [`the tables could not be checked: ${(error as Error).message}; refresh the gateway`];
  }
}
