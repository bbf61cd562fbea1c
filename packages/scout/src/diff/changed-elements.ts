/** The elements of the current schema that cannot remain as they are. */
import type { Affected } from './affected.ts';
import { compareElements } from './compare.ts';
import type { ElementGraph } from './element-graph.ts';
import type { Element } from './elements.ts';

export function changedElements(graph: ElementGraph, wanted: ReadonlyMap<string, Element>): Affected {
  const dropped = new Set<Element>();
  const retyped = new Set<Element>();
  for (const element of graph.elements) {
    if (isOfOther(element, wanted)) continue;
    const after = wanted.get(element.identity);
    const way = after === undefined ? 'rebuild' : compareElements(element, after, graph.schema.version);
    if (way === 'retype') retyped.add(element);
    if (way !== 'rebuild') continue;
    dropped.add(element);
    const parent = parentIndex(element);
    if (parent !== undefined && after !== undefined) dropped.add(graph.byAddress.get(parent)!);
  }
  for (const element of persistenceChanges(graph, wanted)) dropped.add(element);
  return { dropped, retyped };
}

/** The expression of a generated column belongs to the column; the columns of a typed table to the type. */
function isOfOther({ part, item: { structure }, object }: Element, wanted: ReadonlyMap<string, Element>): boolean {
  if (part.kind === 'default' && part.column.generated !== '') return true;
  if (part.kind !== 'column' || structure?.kind !== 'table' || structure.table.row.ofType === null) return false;
  const table = wanted.get(`TABLE ${object.qualifiedName}`)?.item.structure;
  return table?.kind === 'table' && table.table.row.ofType === structure.table.row.ofType;
}

/** An index of a partition is dropped with that of the table. */
function parentIndex({ item: { structure }, part }: Element): string | undefined {
  if (structure?.kind === 'index') return structure.index.parent ?? undefined;
  if (part.kind !== 'constraint' || part.constraint.parentIndex === null) return undefined;
  return `pg_class/${part.constraint.parentIndex}`;
}

/** Returns the foreign keys of tables that become unlogged or logged: they must not refer to each other in between. */
function persistenceChanges(graph: ElementGraph, wanted: ReadonlyMap<string, Element>): readonly Element[] {
  const changed = new Set(
    graph.elements
      .filter((element) => {
        const [old, next] = [element.item.structure, wanted.get(element.identity)?.item.structure];
        if (element.part.kind !== 'item' || old?.kind !== 'table' || next?.kind !== 'table') return false;
        return old.table.row.isUnlogged !== next.table.row.isUnlogged;
      })
      .map(({ object }) => object),
  );
  if (changed.size === 0) return [];
  return graph.elements.filter(({ part, object, addresses }) => {
    if (part.kind !== 'constraint' || part.constraint.type !== 'f') return false;
    const needed = (graph.from.get(addresses[0]!) ?? []).flatMap(({ to }) => graph.byAddress.get(to) ?? []);
    return changed.has(object) || needed.some((other) => changed.has(other.object));
  });
}
