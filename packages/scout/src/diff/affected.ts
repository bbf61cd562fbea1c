/** The elements that a change requires to be dropped and created again, and the columns whose type is created again. */
import { dependentsOf, type ElementGraph } from './element-graph.ts';
import { columnAddress, type Element } from './elements.ts';
import type { Edge } from './read-schema.ts';

export interface Affected {
  readonly dropped: ReadonlySet<Element>;
  readonly retyped: ReadonlySet<Element>;
}

export function findAffected(graph: ElementGraph, changed: Affected): Affected {
  return new Search(graph).run(changed);
}

class Search {
  readonly #graph: ElementGraph;
  readonly #dropped = new Set<Element>();
  readonly #retyped = new Set<Element>();
  /** The columns that inherit, by table and name of the parent's column. */
  readonly #heirs = new Map<string, Element[]>();
  readonly #open: (() => void)[] = [];

  constructor(graph: ElementGraph) {
    this.#graph = graph;
    for (const element of graph.elements) {
      const { item, part } = element;
      if (part.kind !== 'column' || !part.column.isInherited || item.structure?.kind !== 'table') continue;
      for (const oid of item.structure.table.row.parentOids) {
        const key = `${oid}.${part.column.plainName}`;
        this.#heirs.set(key, [...(this.#heirs.get(key) ?? []), element]);
      }
    }
  }

  run({ dropped, retyped }: Affected): Affected {
    for (const element of dropped) this.#drop(element);
    for (const element of retyped) this.#retype(element);
    for (let step = this.#open.pop(); step !== undefined; step = this.#open.pop()) step();
    return {
      dropped: this.#dropped,
      retyped: new Set([...this.#retyped].filter((element) => !this.#dropped.has(element))),
    };
  }

  #drop(element: Element): void {
    if (this.#dropped.has(element)) return;
    this.#dropped.add(element);
    this.#open.push(() => {
      const { part } = element;
      // A generated column goes with its expression.
      if (part.kind === 'default' && part.column.generated !== '') {
        this.#drop(this.#graph.byAddress.get(columnAddress(part.column))!);
      }
      for (const address of element.addresses) {
        for (const [dependent, edge] of dependentsOf(address, this.#graph)) this.#reach(dependent, edge);
      }
    });
  }

  /** Returns the table whose partition key uses a column: the key cannot change, and the rows are in the partitions. */
  #partitionedTable(column: Element): Element | undefined {
    const [address] = column.addresses as [string];
    const table = address.slice(0, address.indexOf('.'));
    const isKey = (this.#graph.from.get(address) ?? []).some(({ to, type }) => to === table && type === 'i');
    return isKey ? this.#graph.byAddress.get(table) : undefined;
  }

  #reach(element: Element, { type }: Edge): void {
    if (element.part.kind === 'column' && type === 'n') this.#retype(element);
    else this.#drop(element);
  }

  #retype(element: Element): void {
    const { item, part } = element;
    if (part.kind !== 'column' || this.#retyped.has(element)) return;
    if (part.column.generated !== '') {
      this.#drop(element);
      return;
    }
    const partitioned = this.#partitionedTable(element);
    if (partitioned !== undefined) {
      this.#drop(partitioned);
      return;
    }
    this.#retyped.add(element);
    this.#open.push(() => {
      for (const [dependent] of dependentsOf(element.addresses[0]!, this.#graph)) {
        if (isInTheWay(dependent)) this.#drop(dependent);
      }
      for (const heir of this.#heirs.get(`${part.column.table}.${part.column.plainName}`) ?? []) {
        if (heir.item !== item) this.#retype(heir);
      }
    });
  }
}

/** PostgreSQL adapts keys, plain indexes and sequences to the new type of a column. */
function isInTheWay({ item: { key, structure }, part }: Element): boolean {
  if (part.kind === 'identity') return false;
  if (part.kind === 'constraint') return part.constraint.type !== 'p' && part.constraint.type !== 'u';
  if (part.kind !== 'item' || structure === null) return part.kind !== 'item' || !key.startsWith('owned/');
  return !(structure?.kind === 'index' && structure.index.isPlain) && structure?.kind !== 'sequence';
}
