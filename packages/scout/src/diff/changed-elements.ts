/** The elements of the current schema that cannot remain as they are. */
import type { Affected } from './affected.ts';
import { compareElements, type Way } from './compare.ts';
import { type Domains, readDomains } from './domains.ts';
import { columnsOfType, type ElementGraph } from './element-graph.ts';
import type { Element } from './elements.ts';

export function changedElements(graph: ElementGraph, wanted: ReadonlyMap<string, Element>): Affected {
  const dropped = new Set<Element>();
  const retyped = new Set<Element>();
  const domains = readDomains(graph.schema.items);
  for (const element of graph.elements) {
    if (isOfOther(element, wanted, graph)) continue;
    const after = wanted.get(element.identity);
    const way = after === undefined ? 'rebuild' : wayOf(element, after, { graph, domains });
    if (way === 'retype') retyped.add(element);
    if (way !== 'rebuild') continue;
    dropped.add(element);
    const parent = parentIndex(element);
    if (parent !== undefined && after !== undefined) dropped.add(graph.byAddress.get(parent)!);
  }
  for (const element of persistenceChanges(graph, wanted)) dropped.add(element);
  return { dropped, retyped };
}

interface Surroundings {
  readonly graph: ElementGraph;
  readonly domains: Domains;
}

/** PostgreSQL verifies the values of a domain in columns of the domain, and refuses to do so in arrays, ranges and composite types. */
function wayOf(before: Element, after: Element, { graph, domains }: Surroundings): Way {
  const way = compareElements(before, after, graph.schema.version);
  const [old, wanted] = [before.item.structure, after.item.structure];
  if (way !== 'alter' || old?.kind !== 'domain' || wanted?.kind !== 'domain' || !isTighter(old, wanted)) return way;
  const isContained = columnsOfType(before, graph).some(
    ({ part }) => part.kind === 'column' && !isOfDomain(part.column.type, old.domain.name, domains),
  );
  return isContained ? 'rebuild' : way;
}

type DomainStructure = Extract<NonNullable<Element['item']['structure']>, { readonly kind: 'domain' }>;

function isTighter(before: DomainStructure, after: DomainStructure): boolean {
  if (after.domain.isNotNull && !before.domain.isNotNull) return true;
  const checks = after.constraints.filter(({ isNotNull, isValidated }) => !isNotNull && isValidated);
  return checks.some(
    ({ name, definition }) =>
      !before.constraints.some((other) => other.name === name && other.definition === definition),
  );
}

/** Whether a type is the domain, or a domain over it. */
function isOfDomain(type: string, domain: string, domains: Domains): boolean {
  if (type === domain) return true;
  const base = domains.get(type)?.baseType;
  return base !== undefined && isOfDomain(base, domain, domains);
}

/** The expression of a generated column belongs to the column; the columns of a typed table to the type. */
function isOfOther(
  { part, item: { structure }, object }: Element,
  wanted: ReadonlyMap<string, Element>,
  graph: ElementGraph,
): boolean {
  if (part.kind === 'default' && part.column.generated !== '') return true;
  if (part.kind !== 'column' || structure?.kind !== 'table' || structure.table.row.ofType === null) return false;
  const table = wanted.get(`TABLE ${object.qualifiedName}`)?.item.structure;
  const { ofType } = structure.table.row;
  return table?.kind === 'table' && table.table.row.ofType === ofType && staysInPlace(`TYPE ${ofType}`, wanted, graph);
}

function staysInPlace(type: string, wanted: ReadonlyMap<string, Element>, graph: ElementGraph): boolean {
  const [before, after] = [graph.byIdentity.get(type), wanted.get(type)];
  // The type of an extension has no element.
  if (before === undefined || after === undefined) return true;
  return compareElements(before, after, graph.schema.version) === 'alter';
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
