/** Which elements of a schema depend on others, and go with others. */
import type { DatabaseObject } from '../catalog/objects.ts';
import type { Element } from './elements.ts';
import type { Edge, Schema } from './read-schema.ts';

/** The types of dependencies with which a row is dropped together with the one it depends on: auto, internal, partition. */
const withOwner: ReadonlySet<string> = new Set(['a', 'i', 'P']);

export interface ElementGraph {
  readonly elements: readonly Element[];
  readonly byAddress: ReadonlyMap<string, Element>;
  readonly byIdentity: ReadonlyMap<string, Element>;
  /** The edges from an address, and to it. */
  readonly from: ReadonlyMap<string, readonly Edge[]>;
  readonly to: ReadonlyMap<string, readonly Edge[]>;
  readonly schema: Schema;
}

/** @param remains whether the element is in both schemas: what remains is separated from what is dropped */
export function createGraph(
  schema: Schema,
  elements: readonly Element[],
  remains: (element: Element) => boolean,
): ElementGraph {
  const byAddress = new Map<string, Element>();
  for (const element of elements) for (const key of element.addresses) byAddress.set(key, element);
  const heirs = findHeirs(elements, byAddress, remains);
  const edges = [
    ...schema.edges.flatMap((edge) => catalogEdges(edge, { byAddress, remains, heirs })),
    ...elements.flatMap((element) => ownEdges(element, { elements, byAddress, remains, heirs })),
  ];
  return {
    elements,
    byAddress,
    byIdentity: new Map(elements.map((element) => [element.identity, element])),
    from: group(edges, ({ from }) => from),
    to: group(edges, ({ to }) => to),
    schema,
  };
}

function group(edges: readonly Edge[], keyOf: (edge: Edge) => string): ReadonlyMap<string, readonly Edge[]> {
  const found = new Map<string, Edge[]>();
  for (const edge of edges) {
    const list = found.get(keyOf(edge));
    if (list === undefined) found.set(keyOf(edge), [edge]);
    else list.push(edge);
  }
  return found;
}

type ByAddress = ReadonlyMap<string, Element>;

export function isTable(element: Element | undefined): boolean {
  return element?.item.structure?.kind === 'table' && element.part.kind === 'item';
}

const isSequence = (element: Element | undefined): boolean => element?.item.structure?.kind === 'sequence';

/** Returns the objects that remain tables or partitions of the same parents. */
function findHeirs(
  elements: readonly Element[],
  byAddress: ByAddress,
  remains: (element: Element) => boolean,
): ReadonlySet<DatabaseObject> {
  const links = elements.filter((element) => isInheritance(element) && remains(element));
  const kept = links.filter((link) => {
    const table = byAddress.get(link.item.object);
    return table !== undefined && parentsOf(table, byAddress).every(remains);
  });
  return new Set(kept.map(({ object }) => object));
}

/** Inheritance, row types and owners of sequences are elements of their own, with edges of their own. */
function catalogEdges(edge: Edge, { byAddress, remains, heirs }: Omit<Surroundings, 'elements'>): readonly Edge[] {
  const { from, to, type } = edge;
  const [source, target] = [byAddress.get(from), byAddress.get(to)];
  if (isTable(source) && (isTable(target) || isRowType(source!, target))) return [];
  // An index of a partition remains when the partition is detached.
  if (type === 'P' && source !== undefined && !heirs.has(source.object)) return [];
  if (!isSequence(source) || type !== 'a' || !remains(source!)) return [edge];
  return [{ from: from.replace('pg_class/', 'owned/'), to, type: 'n' }];
}

function isRowType({ item: { structure } }: Element, target: Element | undefined): boolean {
  return (
    structure?.kind === 'table' && structure.table.row.ofType !== null && target?.item.structure?.kind === 'composite'
  );
}

interface Surroundings {
  readonly elements: readonly Element[];
  readonly byAddress: ByAddress;
  readonly remains: (element: Element) => boolean;
  /** The tables that keep their parents. */
  readonly heirs: ReadonlySet<DatabaseObject>;
}

/** Returns the edges that the catalog does not have as rows of `pg_depend`. */
function ownEdges(element: Element, surroundings: Surroundings): readonly Edge[] {
  const { item, part } = element;
  const [own] = element.addresses as [string];
  const { structure } = item;
  const edge = (to: string, type: string): Edge => ({ from: own, to, type });
  if (structure?.kind === 'table') {
    const { key, row } = structure.table;
    switch (part.kind) {
      case 'column':
        return [edge(key, 'a'), ...inheritedColumnEdges(element, surroundings)];
      case 'constraint':
        return part.isInherited ? inheritedConstraintEdges(element, surroundings) : [];
      case 'parent':
        return [edge(key, 'a'), edge(`pg_class/${row.parentOids[row.parents.indexOf(part.parent)]}`, 'n')];
      case 'row type':
        return [edge(key, 'a'), ...rowTypeEdges(own, part.type, surroundings.elements)];
      default:
        return [];
    }
  }
  return item.key.startsWith('pg_') ? [] : itemEdges(element);
}

/** Attachments and owners of sequences need what their item requires, and go with their table. */
function itemEdges({ item, addresses: [own] }: Element): readonly Edge[] {
  return item.requires
    .filter((key) => key !== own && (item.structure?.kind !== 'attached partition' || key.startsWith('pg_')))
    .map((to) => ({
      from: own!,
      to,
      type: item.structure?.kind === 'attached partition' && to !== item.object ? 'n' : 'a',
    }));
}

function rowTypeEdges(own: string, type: string, elements: readonly Element[]): readonly Edge[] {
  const found = elements.find(
    ({ item }) => item.structure?.kind === 'composite' && item.addresses[0]!.target === `TYPE ${type}`,
  );
  return found === undefined ? [] : [{ from: own, to: found.item.key, type: 'n' }];
}

/** Returns the tables of the parents. */
function parentsOf({ item: { structure } }: Element, byAddress: ByAddress): readonly Element[] {
  if (structure?.kind !== 'table') return [];
  return structure.table.row.parentOids.flatMap((oid) => byAddress.get(`pg_class/${oid}`) ?? []);
}

/** A column that only the parent declares goes with that of the parent, unless the child keeps it. */
function inheritedColumnEdges(
  element: Element,
  { byAddress, elements, remains, heirs }: Surroundings,
): readonly Edge[] {
  const { part } = element;
  if (part.kind !== 'column' || !part.column.isInherited || part.column.isLocal || remains(element)) return [];
  if (!heirs.has(element.object)) return [];
  return parentsOf(element, byAddress).flatMap((parent) =>
    elements
      .filter(
        ({ item, part: other }) =>
          item === parent.item && other.kind === 'column' && other.column.plainName === part.column.plainName,
      )
      .map(({ addresses }) => ({ from: element.addresses[0]!, to: addresses[0]!, type: 'a' })),
  );
}

/** The relation of a table to its parent, or of a partition to its table. */
export function isInheritance({ item, part }: Element): boolean {
  return part.kind === 'parent' || item.structure?.kind === 'attached partition';
}

/** What a parent has declared belongs to the child when it no longer inherits. */
function inheritedConstraintEdges(element: Element, { byAddress, elements, heirs }: Surroundings): readonly Edge[] {
  const { part } = element;
  if (part.kind !== 'constraint' || !heirs.has(element.object)) return [];
  return parentsOf(element, byAddress).flatMap((parent) =>
    elements
      .filter(
        ({ object, part: other }) =>
          object === parent.object &&
          other.kind === 'constraint' &&
          other.constraint.plainName === part.constraint.plainName,
      )
      .map(({ addresses }) => ({ from: element.addresses[0]!, to: addresses[0]!, type: 'a' })),
  );
}

/**
 * Returns the elements that depend on the address, with the edge that leads to each. Rows without an element are followed: array
 * types, members of extensions.
 */
export function dependentsOf(address: string, graph: ElementGraph): readonly (readonly [Element, Edge])[] {
  const found: (readonly [Element, Edge])[] = [];
  const seen = new Set<string>([address]);
  const open = [...(graph.to.get(address) ?? [])];
  for (let edge = open.pop(); edge !== undefined; edge = open.pop()) {
    const element = graph.byAddress.get(edge.from);
    if (element !== undefined) found.push([element, edge]);
    if (element !== undefined || seen.has(edge.from)) continue;
    seen.add(edge.from);
    open.push(...(graph.to.get(edge.from) ?? []));
    // A part of an object cannot be dropped without it.
    for (const whole of (graph.from.get(edge.from) ?? []).filter((other) => isPart(other))) {
      const owner = graph.byAddress.get(whole.to);
      if (owner !== undefined) found.push([owner, whole]);
    }
  }
  return found.filter(([element]) => !element.addresses.includes(address));
}

function isPart({ from, to, type }: Edge): boolean {
  if (type === 'i' || type === 'P') return true;
  return (
    type === 'a' &&
    ((from.startsWith('pg_publication_') && to.startsWith('pg_publication/')) || from.startsWith('pg_am'))
  );
}

/** Returns the columns whose values contain those of a type: directly, or in arrays, domains, ranges and composite types. */
export function columnsOfType(element: Element, graph: ElementGraph): readonly Element[] {
  const columns = new Set<Element>();
  const seen = new Set<Element>([element]);
  const open = [element];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const types = next.addresses.filter((address) => address.startsWith('pg_type/'));
    for (const [dependent, { type }] of types.flatMap((address) => dependentsOf(address, graph))) {
      const isColumn = dependent.part.kind === 'column';
      if (isColumn && type === 'n') columns.add(dependent);
      if (isColumn || seen.has(dependent) || !containerKinds.has(dependent.item.structure?.kind ?? '')) continue;
      seen.add(dependent);
      open.push(dependent);
    }
  }
  return [...columns];
}

/** The kinds of types that contain values of others. */
const containerKinds: ReadonlySet<string> = new Set(['domain', 'composite', 'range']);

/** Returns the elements with which an element is dropped. */
export function ownersOf(element: Element, graph: ElementGraph): readonly Element[] {
  const found = element.addresses
    .flatMap((address) => graph.from.get(address) ?? [])
    .filter(({ type }) => withOwner.has(type))
    .flatMap(({ to }) => graph.byAddress.get(to) ?? []);
  return [...new Set(found)].filter((owner) => owner !== element);
}

/** Returns the elements that an element depends on, directly or through rows without an element. */
export function needsOf(element: Element, graph: ElementGraph): readonly Element[] {
  const found = new Set<Element>();
  const seen = new Set<string>();
  const open = [...element.addresses];
  for (let address = open.pop(); address !== undefined; address = open.pop()) {
    if (seen.has(address)) continue;
    seen.add(address);
    for (const { to } of graph.from.get(address) ?? []) {
      const needed = graph.byAddress.get(to);
      if (needed === undefined) open.push(to);
      else if (needed !== element) found.add(needed);
    }
  }
  return [...found];
}
