import { displayIdentifier } from '../catalog/quote.ts';
import type { Routine } from '../catalog/routine.ts';
import { type Diagnostic, display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { Endpoint } from './endpoint.ts';

/** A diagnostic, and the routine or operation on a table that it is about. */
export interface RoutineDiagnostic {
  readonly routine: Routine;
  readonly diagnostic: Diagnostic;
}

/** `library.book`: all operations on one table or view. */
export function tableLabel({ schema, name }: Pick<Endpoint, 'schema' | 'name'>): string {
  return `${displayIdentifier(schema)}.${displayIdentifier(name)}`;
}

/** The operations on one table share its comment and its columns: what is said of several of them is said once, of the table. */
export function mergeTableDiagnostics(said: readonly RoutineDiagnostic[]): readonly Diagnostic[] {
  const groups = groupBy(said, ({ routine, diagnostic }) => keyOf(routine, diagnostic));
  return groups.map(([first, second]) => {
    const { diagnostic, routine } = first!;
    return second === undefined ? diagnostic : { ...diagnostic, routine: tableLabel(routine) };
  });
}

/** Null: what is said of a routine stays as it is. */
function keyOf({ source, schema, name, table }: Routine, diagnostic: Diagnostic): string | null {
  if (table === undefined) return null;
  const { severity, code, line, message } = diagnostic;
  return JSON.stringify([source, schema, name, severity, code, line, message]);
}

/** In the order in which the keys come first; an item whose key is null is a group of its own. */
function groupBy<Item>(items: readonly Item[], keyOfItem: (item: Item) => string | null): readonly (readonly Item[])[] {
  const groups = new Map<string | Item, Item[]>();
  for (const item of items) {
    const key = keyOfItem(item) ?? item;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

/** Two endpoints on one method and route. */
export interface RouteConflict {
  readonly endpoint: Endpoint;
  readonly rival: Endpoint;
}

/** One diagnostic for each pair of a table and a rival that share routes; `duplicate` makes it where only one route is shared. */
export function reportDuplicatesPerTable(
  rivals: readonly RouteConflict[],
  duplicate: (endpoint: Endpoint, rival: Endpoint) => Diagnostic,
): readonly Diagnostic[] {
  const groups = groupBy(rivals, ({ endpoint, rival }) =>
    endpoint.table === null ? null : JSON.stringify([tableLabel(endpoint), labelOf(rival)]),
  );
  return groups.map((group) => {
    const [{ endpoint, rival }] = group as [RouteConflict];
    return group.length === 1 ? duplicate(endpoint, rival) : duplicatesOf(group);
  });
}

function labelOf(endpoint: Endpoint): string {
  return endpoint.table === null ? endpoint.id : tableLabel(endpoint);
}

function duplicatesOf(group: readonly RouteConflict[]): Diagnostic {
  const [{ endpoint, rival }] = group as [RouteConflict];
  const own = tableLabel(endpoint);
  const routes = [...new Set(group.map((one) => `${one.endpoint.method} ${display(one.endpoint.path)}`))].join(', ');
  const message =
    labelOf(rival) === own
      ? `${routes} would be several operations on the table (${group.map((one) => one.endpoint.table!.operation).join(', ')}); none of them is published: write a verb or a path below a line "for" that names one operation`
      : `${routes}: also ${labelOf(rival)}; neither is published: give one of them another path`;
  return { severity: 'error', code: 'duplicate-route', routine: own, line: null, message };
}

const setting = new Set(['update', 'updateReturning', 'insertOnConflictDoUpdate', 'insertOnConflictDoUpdateReturning']);

/** An update sets what is no key: of a table without such a column its author learns at start what the operations do. */
export function reportEmptyUpdate(builder: EndpointBuilder): void {
  const { table: use } = builder.routine;
  if (use === undefined || !setting.has(use.operation)) return;
  const isSettable = use.columns.some(
    ({ key, writable, generated, identity }) => !key && writable && !generated && identity !== 'always',
  );
  if (isSettable) return;
  builder.report(
    'info',
    'nothing-to-set',
    `every column of ${tableLabel(builder.routine)} that can be written is a column of its key: an update has nothing to set and always answers 404, and on conflict do update does what on conflict do nothing does; "disabled update, on_conflict_do_update" in the comment hides them`,
    null,
  );
}
