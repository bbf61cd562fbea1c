import { displayIdentifier } from '../catalog/quote.ts';
import type { Routine } from '../catalog/routine.ts';
import { type Diagnostic, display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { Endpoint } from './endpoint.ts';
import { groupBy } from './group-by.ts';

/** A diagnostic with its routine or table operation. */
export interface RoutineDiagnostic {
  readonly routine: Routine;
  readonly diagnostic: Diagnostic;
}

/** Returns the name of a table or view for messages: `library.book`. */
export function tableLabel({ schema, name }: Pick<Endpoint, 'schema' | 'name'>): string {
  return `${displayIdentifier(schema)}.${displayIdentifier(name)}`;
}

/** Merges equal diagnostics about the operations of a table into one about the table. */
export function mergeTableDiagnostics(diagnostics: readonly RoutineDiagnostic[]): readonly Diagnostic[] {
  if (diagnostics.every(({ routine }) => routine.table === undefined))
    return diagnostics.map((entry) => entry.diagnostic);
  const groups = groupBy(diagnostics, (entry) => toMergeKey(entry) ?? entry);
  return [...groups.values()].map(([first, second]) => {
    const { diagnostic, routine } = first!;
    return second === undefined ? diagnostic : { ...diagnostic, routine: tableLabel(routine) };
  });
}

/** Returns a key that equal diagnostics of a table share; null for a routine. */
function toMergeKey({ routine, diagnostic }: RoutineDiagnostic): string | null {
  const { source, schema, name, table } = routine;
  if (table === undefined) return null;
  const { severity, code, line, message } = diagnostic;
  return JSON.stringify([source, schema, name, severity, code, line, message]);
}

/** Two endpoints with the same method and route. */
export interface RouteConflict {
  readonly endpoint: Endpoint;
  readonly rival: Endpoint;
}

/** Returns one diagnostic per table and rival. `report` makes it for a single shared route. */
export function reportDuplicatesPerTable(
  conflicts: readonly RouteConflict[],
  report: (endpoint: Endpoint, rival: Endpoint) => Diagnostic,
): readonly Diagnostic[] {
  const groups = groupBy(conflicts, (conflict) => {
    const { endpoint, rival } = conflict;
    return endpoint.table === null ? conflict : JSON.stringify([tableLabel(endpoint), getLabel(rival)]);
  });
  return [...groups.values()].map((group) => {
    const [{ endpoint, rival }] = group as [RouteConflict];
    return group.length === 1 ? report(endpoint, rival) : reportGroup(group);
  });
}

function getLabel(endpoint: Endpoint): string {
  return endpoint.table === null ? endpoint.id : tableLabel(endpoint);
}

function reportGroup(group: readonly RouteConflict[]): Diagnostic {
  const [{ endpoint, rival }] = group as [RouteConflict];
  const table = tableLabel(endpoint);
  const routes = [
    ...new Set(group.map((conflict) => `${conflict.endpoint.method} ${display(conflict.endpoint.path)}`)),
  ].join(', ');
  const message =
    getLabel(rival) === table
      ? `${routes} is the route of several operations on the table (${group.map((conflict) => conflict.endpoint.table!.operation).join(', ')}); none of them is published; set the method or path of one operation below a "for" line with its tag`
      : `${routes} is also the route of ${getLabel(rival)}, so neither is published; set another path for one of them`;
  return { severity: 'error', code: 'duplicate-route', routine: table, line: null, message };
}

const updateOperations = new Set([
  'update',
  'updateReturning',
  'insertOnConflictDoUpdate',
  'insertOnConflictDoUpdateReturning',
]);

/** Reports tables without writable columns besides the key, whose updates have no effect. */
export function reportEmptyUpdate(builder: EndpointBuilder): void {
  const { table } = builder.routine;
  if (table === undefined || !updateOperations.has(table.operation)) return;
  const isSettable = table.columns.some(
    ({ key, writable, generated, identity }) => !key && writable && !generated && identity !== 'always',
  );
  if (isSettable) return;
  builder.report(
    'info',
    'nothing-to-set',
    `every writable column of ${tableLabel(builder.routine)} is part of its key, so update always responds with 404, and on_conflict_do_update acts like on_conflict_do_nothing; write "disabled update, on_conflict_do_update" in the comment to hide them`,
    null,
  );
}
