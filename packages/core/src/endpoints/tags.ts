import type { Routine } from '../catalog/routine.ts';

/** The tags of table operations. Comments of routines may contain them too. */
const tableTags = [
  'select',
  'read',
  'get',
  'update',
  'post',
  'delete',
  'insert',
  'put',
  'create',
  'returning',
  'update_returning',
  'delete_returning',
  'insert_returning',
  'on_conflict',
  'on_conflict_do_nothing',
  'on_conflict_do_update',
  'insert_on_conflict_do_nothing',
  'insert_on_conflict_do_update',
  'insert_on_conflict_do_nothing_returning',
  'insert_on_conflict_do_update_returning',
];

const routineTags = ['function', 'procedure', 'volatile', 'stable', 'immutable'];

/** Removes case, `_` and `-`: `on_conflict`, `on-conflict` and `OnConflict` are the same tag. */
const normalize = (tag: string): string => tag.toLowerCase().replaceAll(/[-_]/g, '');

const known: ReadonlySet<string> = new Set([...tableTags, ...routineTags].map(normalize));

/** Returns the tags of a routine. */
export function getTags({ tags, kind, volatility }: Pick<Routine, 'tags' | 'kind' | 'volatility'>): readonly string[] {
  return tags ?? [kind, volatility];
}

/** Returns whether a routine with these tags has one of `names`. */
export function hasAnyTag(tags: readonly string[], names: readonly string[]): boolean {
  return names.some((name) => tags.some((tag) => normalize(tag) === normalize(name)));
}

/** Returns the names that no endpoint has as a tag: misspelt tags, or words of a sentence. */
export function findUnknownTags(names: readonly string[]): readonly string[] {
  return names.filter((tag) => !known.has(normalize(tag)));
}
