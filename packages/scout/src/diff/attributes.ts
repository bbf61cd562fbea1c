/** Changes of comments, owners, privileges and `DEPENDS ON EXTENSION` of an object that remains. */
import type { DatabaseObject } from '../catalog/objects.ts';
import { commentStatement } from '../ddl/comments.ts';
import type { Item } from '../ddl/item.ts';
import { type Grant, isSame, type ObjectGrants, privilegeStatements } from '../ddl/privileges.ts';
import { attributeStatements, type DefinitionOptions } from '../ddl/read-definitions.ts';
import type { Schema } from './read-schema.ts';

/** An item in both databases. */
export interface ItemPair {
  readonly before: Item;
  readonly after: Item;
}

/** The databases, and what is compared. */
export interface Comparison {
  readonly current: Schema;
  readonly wanted: Schema;
  readonly options: DefinitionOptions;
  /** Whether the object is compared. */
  readonly isSelected: (object: DatabaseObject) => boolean;
  /** Whether what only the current schema has is dropped. */
  readonly hasDrops: boolean;
}

/** @param lost the targets whose comments went with dropped elements */
export function attributeChanges(
  { before, after }: ItemPair,
  comparison: Comparison,
  lost: ReadonlySet<string>,
): readonly string[] {
  const { current, wanted, options } = comparison;
  return [
    ...extensionChanges(current.extensions.get(before.key) ?? [], wanted.extensions.get(after.key) ?? []),
    ...commentChanges({ before, after }, comparison, lost),
    ...(options.hasOwners && after.part === null ? ownerChanges({ before, after }, current) : []),
    ...(options.hasGrants && after.part === null ? allGrantChanges({ before, after }, lost) : []),
  ];
}

export function newAttributes(item: Item, { wanted, options }: Comparison): readonly string[] {
  return attributeStatements(item, wanted, options);
}

function extensionChanges(before: readonly string[], after: readonly string[]): readonly string[] {
  return [
    ...before
      .filter((statement) => !after.includes(statement))
      .map((statement) => {
        const start = statement.lastIndexOf(' DEPENDS ON EXTENSION ');
        return `${statement.slice(0, start)} NO${statement.slice(start)}`;
      }),
    ...after.filter((statement) => !before.includes(statement)),
  ];
}

function commentChanges(
  { before, after }: ItemPair,
  { current, wanted }: Comparison,
  lost: ReadonlySet<string>,
): readonly string[] {
  // A constraint can be a part of the table in one schema, and an item of its own in the other.
  const isSameItem = (before.part === null) === (after.part === null);
  const old = isSameItem ? (current.comments.get(before.key) ?? []) : [];
  return [
    ...old
      .filter(({ target }) => !wanted.commentTexts.has(target) && !lost.has(target))
      .map(({ target }) => commentStatement({ target, text: null })),
    ...(wanted.comments.get(after.key) ?? [])
      .filter(({ target, text }) => lost.has(target) || current.commentTexts.get(target) !== text)
      .map(commentStatement),
  ];
}

/** The owner of `public` is not written while it is the one that the server has chosen. */
function ownerChanges({ before, after }: ItemPair, { publicOwner }: Schema): readonly string[] {
  if (after.owner.length > 0) return after.owner.filter((statement) => !before.owner.includes(statement));
  return before.owner.map((statement) => statement.replace(/ OWNER TO [^]*$/, ` OWNER TO ${publicOwner}`));
}

/** Privileges on dropped columns and sequences went with them. */
function allGrantChanges({ before, after }: ItemPair, lost: ReadonlySet<string>): readonly string[] {
  const isLost = ({ target, column }: ObjectGrants): boolean =>
    lost.has(column === null ? target : `COLUMN ${target.replace(/^TABLE /, '')}.${column}`);
  const keyOf = ({ prefix, target, column }: ObjectGrants): string => JSON.stringify([prefix, target, column]);
  const old = new Map(before.grants.filter((entry) => !isLost(entry)).map((entry) => [keyOf(entry), entry]));
  const all = new Map(after.grants.map((entry) => [keyOf(entry), entry]));
  return [...new Set([...old.keys(), ...all.keys()])].flatMap((key) => grantChanges(old.get(key), all.get(key)));
}

/** Returns the statements that turn the privileges of an object into others; undefined are the initial ones. */
export function grantChanges(before: ObjectGrants | undefined, after: ObjectGrants | undefined): readonly string[] {
  const target = after ?? before;
  if (target === undefined) return [];
  const [old, all] = [relative(before), relative(after)];
  const owner = target.privileges.owner;
  const named = (grants: readonly Grant[]): readonly Grant[] =>
    grants.map(([grantee, ...others]) => [grantee === ownerMark ? owner : grantee, ...others]);
  return privilegeStatements(target, {
    revoked: named([...without(old.added, all.added), ...without(all.missing, old.missing)]),
    granted: named([...without(all.added, old.added), ...without(old.missing, all.missing)]),
  });
}

/** No role has the name: an empty one is written with quotes. */
const ownerMark = '';

/** Returns the privileges beside the initial ones, and the initial ones that are revoked. The owner has no name: it can change. */
function relative(object: ObjectGrants | undefined): {
  readonly added: readonly Grant[];
  readonly missing: readonly Grant[];
} {
  if (object === undefined) return { added: [], missing: [] };
  const { owner, granted, initial } = object.privileges;
  const marked = (grants: readonly Grant[]): readonly Grant[] =>
    grants.map(([grantee, ...others]) => [grantee === owner ? ownerMark : grantee, ...others]);
  return { added: without(marked(granted), marked(initial)), missing: without(marked(initial), marked(granted)) };
}

function without(grants: readonly Grant[], others: readonly Grant[]): readonly Grant[] {
  return grants.filter((grant) => !others.some((other) => isSame(grant, other)));
}
