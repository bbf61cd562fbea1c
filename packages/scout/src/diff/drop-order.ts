/** The order of drops: what depends on an element is dropped before it. */
import { dependentsOf, type ElementGraph, isInheritance, needsOf, ownersOf } from './element-graph.ts';
import type { Affected } from './affected.ts';
import type { Element } from './elements.ts';

export interface Drop {
  readonly element: Element;
  readonly statements: readonly string[];
}

export interface Drops {
  /** What is dropped before all other changes. */
  readonly first: readonly Drop[];
  /** What columns use until their values are text or JSON. */
  readonly unpacked: readonly Drop[];
  /** What columns use until their type has changed. */
  readonly last: readonly Drop[];
}

/** @param unpacked the columns whose values are text or JSON for a while */
export function orderDrops(graph: ElementGraph, { dropped, retyped }: Affected, unpacked: ReadonlySet<Element>): Drops {
  const changed = [...retyped].filter((column) => !unpacked.has(column));
  const last = neededBy(changed, graph, dropped);
  const used = neededBy([...unpacked], graph, dropped);
  const early = [...dropped].filter((element) => !last.has(element) && !used.has(element));
  return {
    first: new Sorter(graph, new Set(early)).sort(),
    unpacked: new Sorter(graph, new Set([...used].filter((element) => !last.has(element)))).sort(),
    last: new Sorter(graph, last).sort(),
  };
}

/** Returns the dropped elements that columns use, and what those need. */
function neededBy(
  columns: readonly Element[],
  graph: ElementGraph,
  dropped: ReadonlySet<Element>,
): ReadonlySet<Element> {
  const late = new Set<Element>();
  const open = [...columns];
  for (let element = open.pop(); element !== undefined; element = open.pop()) {
    for (const needed of needsOf(element, graph)) {
      if (!dropped.has(needed) || late.has(needed)) continue;
      late.add(needed);
      open.push(needed);
    }
  }
  return late;
}

/** A depth-first search. An element that goes with another one has a statement of its own in a cycle only. */
class Sorter {
  readonly #graph: ElementGraph;
  readonly #dropped: ReadonlySet<Element>;
  readonly #roots = new Map<Element, Element>();
  /** The elements that go with a root, with the root. */
  readonly #members = new Map<Element, Element[]>();
  readonly #active = new Set<Element>();
  readonly #done = new Set<Element>();
  /** The types that are dropped with their functions. */
  readonly #cascading = new Set<Element>();
  /** The views and domains that have lost a part. */
  readonly #divided = new Set<Element>();
  readonly #output: Drop[] = [];

  constructor(graph: ElementGraph, dropped: ReadonlySet<Element>) {
    this.#graph = graph;
    this.#dropped = dropped;
    for (const element of dropped) {
      const root = this.#rootOf(element);
      this.#members.set(root, [...(this.#members.get(root) ?? []), element]);
    }
  }

  sort(): readonly Drop[] {
    const elements = [...this.#dropped].toReversed();
    // A partition with rows that are referenced cannot be detached.
    for (const element of elements) if (this.#refersToPartitions(element)) this.#emit(element);
    // A child has columns of its own when it no longer inherits them.
    for (const element of elements)
      if (isInheritance(element) && this.#rootOf(element) === element) this.#emit(element);
    for (const element of elements) this.#visit(this.#rootOf(element));
    return this.#output.filter(({ statements }) => statements.length > 0);
  }

  #refersToPartitions({ part, addresses }: Element): boolean {
    if (part.kind !== 'constraint' || part.constraint.type !== 'f') return false;
    const needed = (this.#graph.from.get(addresses[0]!) ?? []).flatMap(({ to }) => this.#graph.byAddress.get(to) ?? []);
    return needed.some(({ item: { structure } }) => structure?.kind === 'table' && structure.table.isPartitioned);
  }

  #rootOf(element: Element): Element {
    const known = this.#roots.get(element);
    if (known !== undefined) return known;
    // An owner that is its own owner ends here.
    this.#roots.set(element, element);
    const owner = ownersOf(element, this.#graph).find((candidate) => this.#dropped.has(candidate));
    const root = owner === undefined ? element : this.#rootOf(owner);
    this.#roots.set(element, root);
    return root;
  }

  #visit(root: Element): void {
    if (this.#done.has(root) || this.#active.has(root)) return;
    this.#active.add(root);
    for (const [dependent, other] of this.#dependents(root)) {
      // The end of a cycle can have dropped it.
      if (this.#done.has(root)) break;
      if (!this.#active.has(other)) this.#visit(other);
      else if (dependent === other) this.#endCycle(root, other);
      else this.#emit(dependent);
    }
    this.#active.delete(root);
    this.#emit(root);
  }

  /** Returns the dropped elements that depend on the members of a root, each with its root. */
  #dependents(root: Element): readonly (readonly [Element, Element])[] {
    return this.#members.get(root)!.flatMap((member) =>
      member.addresses
        .flatMap((address) => dependentsOf(address, this.#graph))
        .filter(([dependent]) => this.#dropped.has(dependent) && this.#rootOf(dependent) !== root)
        .map(([dependent]) => [dependent, this.#rootOf(dependent)] as const),
    );
  }

  /** Ends a cycle of two elements at the one that has a part which can be dropped before. */
  #endCycle(root: Element, other: Element): void {
    if (this.#divide(other, root)) return;
    for (const [dependent, owner] of this.#dependents(other)) {
      if (owner !== root) continue;
      if (dependent === root) this.#divide(root, other);
      else this.#emit(dependent);
    }
    this.#emit(other);
  }

  /** A view loses its query, a domain its checks, and a type is dropped with its functions. */
  #divide(element: Element, other: Element): boolean {
    if (this.#divided.has(element)) {
      if (this.#cascading.has(element)) this.#done.add(other);
      return true;
    }
    this.#divided.add(element);
    const { placeholder, structure, parts, addresses } = element.item;
    if (structure?.kind === 'domain') {
      const checks = new Set(parts.map(({ key }) => key));
      const names = structure.constraints
        .filter(({ oid }) => checks.has(`pg_constraint/${oid}`))
        .map(({ name }) => name);
      const statements = names.map((name) => `ALTER ${addresses[0]!.target} DROP CONSTRAINT ${name}`);
      this.#output.push({ element, statements });
      return true;
    }
    if (placeholder === null) return false;
    if (structure?.kind === 'view') {
      const statements = placeholder.statements.map((text) => text.replace(/^CREATE /, 'CREATE OR REPLACE '));
      this.#output.push({ element, statements });
    } else {
      this.#cascading.add(element);
      this.#done.add(other);
    }
    return true;
  }

  #emit(element: Element): void {
    if (this.#done.has(element)) return;
    this.#done.add(element);
    const suffix = this.#cascading.has(element) ? ' CASCADE' : '';
    this.#output.push({ element, statements: element.drop.map((statement) => `${statement}${suffix}`) });
  }
}
