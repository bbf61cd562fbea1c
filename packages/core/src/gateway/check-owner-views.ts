import { readOwnerViews } from '../catalog/owner-views.ts';
import type { Routine } from '../catalog/routine.ts';
import { tableKey, type TableName } from '../catalog/table-name.ts';
import { type Diagnostic, display } from '../endpoints/diagnostic.ts';
import type { Database } from '../postgres/port.ts';

/**
 * Warns of published views that show rows which the policies of their tables hide: a view reads with the privileges of its owner unless it
 * has the option `security_invoker`.
 * @param published the routines whose calls use the gateway's own connections
 * @param asConnection all calls have the role of the connection
 */
export async function checkOwnerViews(
  database: Database,
  published: readonly Routine[],
  asConnection: boolean,
): Promise<readonly Diagnostic[]> {
  const tables = new Map<string, Routine>();
  for (const routine of published)
    if (routine.table !== undefined && !tables.has(tableKey(routine))) tables.set(tableKey(routine), routine);
  const found = await readOwnerViews(database, [...tables.values()], asConnection);
  return found.map(({ view, table, owner, via, hasOption }) => {
    const quote = ({ schema, name }: TableName): string => `${display(schema)}.${display(name)}`;
    const remedy = (object: string): string =>
      hasOption
        ? `alter view ${object} set (security_invoker = true), and grant its readers select on the table, or set it to false if this is intended`
        : `give ${object} an owner to whom the policies apply`;
    return {
      severity: 'warning',
      code: 'owner-view',
      routine: tables.get(tableKey(view))!.signature,
      line: null,
      message: `the view ${quote(view)} reads ${quote(table)} as the owner ${display(owner)} of ${quote(via)}, to whom the row level security of the table does not apply, so callers get rows that its policies hide; ${remedy(quote(via))}`,
      summary: `these views read tables as the owner ${display(owner)}, to whom the row level security of the tables does not apply, so callers get rows that the policies hide; ${remedy('…')}`,
    };
  });
}
