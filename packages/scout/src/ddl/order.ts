/** The order of items: what an item depends on comes before it, and the statements of an object stay together. */
import { calledRoutines } from './called-routines.ts';
import type { Dependencies, Item } from './item.ts';

/** The statements of an item, or of a part of it, in their place. */
export interface OrderedStatements {
  /** The key of the object. */
  readonly object: string;
  readonly statements: readonly string[];
  readonly item: Item;
  /** Whether the item is complete with these statements: they are not a placeholder. */
  readonly isComplete: boolean;
}

/**
 * `active`: its needs are being created. `created`: it exists, without what a cycle of dependencies postpones. `complete`: all
 * statements are written.
 */
type State = 'waiting' | 'active' | 'created' | 'complete';

/** @param items in the order that they have without dependencies; the items of an object follow each other */
export function orderItems(items: readonly Item[], dependencies: Dependencies): readonly OrderedStatements[] {
  return new Sorter(items, dependencies).sort();
}

/** A depth-first search. A cycle ends at an item that can be created in two steps: a table, domain, view or type. */
class Sorter {
  readonly #items: readonly Item[];
  readonly #dependencies: Dependencies;
  /** The routines that tables need beside those of their dependencies. */
  readonly #called: Dependencies;
  /** Items that come after everything else: indexes are planned, and so are the bodies of functions in them. */
  readonly #late: ReadonlySet<Item>;
  readonly #byAddress: ReadonlyMap<string, Item>;
  readonly #byObject = new Map<string, Item[]>();
  readonly #visitedObjects = new Set<string>();
  readonly #states = new Map<Item, State>();
  /** The active items, outermost first. */
  readonly #path: Item[] = [];
  /** The active items whose remaining needs are those of their parts. */
  readonly #atParts = new Set<Item>();
  /** The parts that have statements of their own. */
  readonly #separate = new Map<Item, ReadonlySet<string>>();
  /** The items to complete after the item of the key. */
  readonly #postponed = new Map<Item, Item[]>();
  /** The item whose visit ends, with all visits inside of it. */
  #interrupted: Item | null = null;
  readonly #output: OrderedStatements[] = [];

  constructor(items: readonly Item[], dependencies: Dependencies) {
    this.#items = items;
    this.#dependencies = dependencies;
    this.#called = calledRoutines(items, dependencies);
    this.#late = lateItems(items, dependencies);
    this.#byAddress = new Map(items.flatMap((item) => item.addresses.map(({ key }) => [key, item] as const)));
    for (const item of items) {
      const list = this.#byObject.get(item.object);
      if (list === undefined) this.#byObject.set(item.object, [item]);
      else list.push(item);
    }
  }

  sort(): readonly OrderedStatements[] {
    // Event triggers and subscriptions would take part in what follows them.
    const last = this.#items.findIndex(({ key }) => /^pg_(?:event_trigger|subscription)\//.test(key));
    const end = last === -1 ? this.#items.length : last;
    for (const { object } of this.#items.slice(0, end)) this.#visitObject(object);
    for (const item of this.#late) this.#visit(item);
    for (const { object } of this.#items.slice(end)) this.#visitObject(object);
    return this.#output;
  }

  /** Visits the objects that the items need, then the items: an object is interrupted in a cycle only. */
  #visitObject(object: string): void {
    if (this.#visitedObjects.has(object)) return;
    this.#visitedObjects.add(object);
    const items = this.#byObject.get(object)!.filter((item) => !this.#late.has(item));
    for (const item of items) {
      const keys = item.addresses.map(({ key }) => key);
      for (const needed of this.#needs(item, keys)) this.#visitObject(needed.object);
    }
    for (const item of items) this.#visit(item);
  }

  /** Returns the other items that the addresses of an item depend on. */
  #needs(item: Item, keys: readonly string[]): readonly Item[] {
    const named = [...item.requires, ...(keys.includes(item.key) ? (this.#called.get(item.key) ?? []) : [])];
    const found = [...named, ...keys.flatMap((key) => this.#dependencies.get(key) ?? [])].flatMap((key) => {
      const needed = this.#byAddress.get(key);
      return needed === undefined || needed === item ? [] : [needed];
    });
    return [...new Set(found)];
  }

  #state(item: Item): State {
    return this.#states.get(item) ?? 'waiting';
  }

  #visit(item: Item): void {
    if (this.#state(item) === 'active') this.#endCycle(item);
    else if (this.#state(item) === 'waiting') this.#create(item);
  }

  #create(item: Item): void {
    this.#states.set(item, 'active');
    this.#path.push(item);
    const parts = new Set(item.parts.map(({ key }) => key));
    const main = item.addresses.map(({ key }) => key).filter((key) => !parts.has(key));
    const isDone = this.#visitAll(item, main) && this.#visitAll(item, [...parts], true);
    this.#path.pop();
    this.#atParts.delete(item);
    if (isDone) this.#complete(item);
    else if (this.#interrupted === item) this.#interrupted = null;
    else this.#states.set(item, 'waiting');
  }

  /** Returns false when the visit of the item is interrupted. */
  #visitAll(item: Item, keys: readonly string[], isAtParts: boolean = false): boolean {
    if (isAtParts) this.#atParts.add(item);
    return this.#needs(item, keys).every((needed) => {
      this.#visit(needed);
      return this.#interrupted === null;
    });
  }

  #complete(item: Item): void {
    this.#states.set(item, 'complete');
    this.#output.push({ object: item.object, statements: this.#remainingStatements(item), item, isComplete: true });
    for (const postponed of this.#postponed.get(item) ?? [])
      if (this.#state(postponed) === 'created') this.#create(postponed);
  }

  #remainingStatements(item: Item): readonly string[] {
    const separate = this.#separate.get(item);
    if (separate === undefined) return item.statements(new Set());
    if (item.placeholder !== null) return item.placeholder.replacement;
    return item.parts.filter(({ key }) => separate.has(key)).flatMap(({ statements }) => statements);
  }

  /** Creates the first part of an item of the cycle, which is completed after the item that closes the cycle. */
  #endCycle(closing: Item): void {
    const cycle = this.#path.slice(this.#path.indexOf(closing));
    const item = cycle.find((candidate) => this.#isDivisible(candidate));
    // Without one, the order of the items decides.
    if (item === undefined) return;
    const separate = new Set(item.parts.map(({ key }) => key).filter((key) => !this.#isReady(item, key)));
    this.#separate.set(item, separate);
    const statements = item.placeholder === null ? item.statements(separate) : item.placeholder.statements;
    this.#output.push({ object: item.object, statements, item, isComplete: false });
    this.#states.set(item, 'created');
    if (item === closing) return;
    this.#postponed.set(closing, [...(this.#postponed.get(closing) ?? []), item]);
    this.#interrupted = item;
  }

  #isDivisible(item: Item): boolean {
    if (this.#state(item) !== 'active' || this.#separate.has(item)) return false;
    return item.placeholder !== null || this.#atParts.has(item);
  }

  #isReady(item: Item, key: string): boolean {
    return this.#needs(item, [key]).every((needed) => ['created', 'complete'].includes(this.#state(needed)));
  }
}

/** Returns the indexes that call routines, and what attaches them. */
function lateItems(items: readonly Item[], dependencies: Dependencies): ReadonlySet<Item> {
  const calls = ({ addresses }: Item): boolean =>
    addresses.some(({ key }) => dependencies.get(key)?.some((needed) => needed.startsWith('pg_proc/')));
  const hasExpression = ({ structure }: Item): boolean =>
    structure?.kind === 'index'
      ? !structure.index.isPlain
      : structure?.kind === 'constraint' && structure.constraint.type === 'x';
  const late = new Set(items.filter((item) => hasExpression(item) && calls(item)));
  const keys = new Set([...late].flatMap(({ addresses }) => addresses.map(({ key }) => key)));
  for (const item of items) if (item.requires.some((key) => keys.has(key))) late.add(item);
  return late;
}
