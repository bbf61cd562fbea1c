import type { Routine } from '../catalog/routine.ts';

/** The tags of table endpoints. A routine carries none of them, but they are no slip of the pen in its comment either. */
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

/** Tags compare without case, and without `_` and `-`, so that `on_conflict`, `on-conflict` and `OnConflict` are one. */
const normal = (tag: string): string => tag.toLowerCase().replaceAll(/[-_]/g, '');

const known: ReadonlySet<string> = new Set([...tableTags, ...routineTags].map(normal));

/** The tags that a routine carries. */
export function getTags({ tags, kind, volatility }: Pick<Routine, 'tags' | 'kind' | 'volatility'>): readonly string[] {
  return tags ?? [kind, volatility];
}

/** True when one of `wanted` is among `carried`. */
export function hasAnyTag(carried: readonly string[], wanted: readonly string[]): boolean {
  return wanted.some((tag) => carried.some((own) => normal(own) === normal(tag)));
}

/** Those of `wanted` that no endpoint of any kind carries: misspelt tags, or the words of a sentence. */
export function findUnknownTags(wanted: readonly string[]): readonly string[] {
  return wanted.filter((tag) => !known.has(normal(tag)));
}
