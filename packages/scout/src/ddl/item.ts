/** Definitions as data: statements, and what they need before them. */
import type { ObjectGrants } from './privileges.ts';
import type { Structure } from './structure.ts';

/** A row of a system catalog that an item defines. */
export interface Address {
  /** The catalog and the oid, as in `pg_constraint/16410`. */
  readonly key: string;
  /** The object as in `COMMENT ON`, such as `TABLE public.film`; null for rows that have no comments. */
  readonly target: string | null;
}

/** A part of a statement that can also be a statement of its own, such as a default. */
export interface Part {
  readonly key: string;
  readonly statements: readonly string[];
}

/** Statements that belong together. */
export interface Item {
  readonly key: string;
  /** The key of the object under whose header the statements are printed. */
  readonly object: string;
  /** The name of the part among those of its object, without oids; null for the object itself. */
  readonly part: string | null;
  readonly addresses: readonly Address[];
  /** The keys of items that come first, beside those of `pg_depend`. */
  readonly requires: readonly string[];
  /** Returns the statements without the parts of these keys. */
  readonly statements: (separate: ReadonlySet<string>) => readonly string[];
  /** The statements that drop what the item creates; none when it goes with another item. */
  readonly drop: readonly string[];
  readonly parts: readonly Part[];
  /** Statements that end a cycle of dependencies: an empty view or type, which the statements then replace. */
  readonly placeholder: { readonly statements: readonly string[]; readonly replacement: readonly string[] } | null;
  readonly owner: readonly string[];
  readonly grants: readonly ObjectGrants[];
  readonly structure: Structure | null;
}

/** The keys that each key depends on. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

type ItemInput = Pick<Item, 'key'> &
  Partial<Omit<Item, 'key' | 'statements'>> & {
    readonly target?: string | null;
    readonly statements: readonly string[] | Item['statements'];
  };

/** Creates an item; its object is its key, and its first address is its key with the target. */
export function createItem({ target = null, statements, ...input }: ItemInput): Item {
  return {
    object: input.key,
    part: input.object === undefined || input.object === input.key ? null : target,
    requires: [],
    drop: target === null ? [] : [`DROP ${target}`],
    parts: [],
    placeholder: null,
    owner: [],
    grants: [],
    structure: null,
    ...input,
    addresses: [{ key: input.key, target }, ...(input.addresses ?? [])],
    statements: typeof statements === 'function' ? statements : () => statements,
  };
}
