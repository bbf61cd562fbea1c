/** Filters, orders and pages of related rows that a request does not select. */
import type { SelectItem } from './query.ts';
import { ReadFault } from './read-fault.ts';

/**
 * Returns the fault of related rows that are not selected.
 * @param alias by which they are selected; null: they are not
 */
export function notSelected(parameter: string, relation: string, alias: string | null = null): ReadFault {
  return new ReadFault({ kind: 'unselected-relation', parameter, relation, alias });
}

/**
 * Refuses paths of relations that are not selected: what they say would have no effect.
 * @param paths of filters, orders and pages: the names of relations, separated by dots
 * @param used the paths that are selected
 * @throws ReadFault
 */
export function checkPaths(paths: Iterable<string>, used: ReadonlySet<string>, items: readonly SelectItem[]): void {
  for (const path of paths) {
    if (used.has(path)) continue;
    const names = path.split('.');
    const known = names.findIndex((_, index) => !used.has(names.slice(0, index + 1).join('.')));
    let level = items;
    for (const name of names.slice(0, known)) level = relationsOf(level).find(({ alias }) => alias === name)!.items;
    const name = names[known]!;
    throw notSelected(path, name, relationsOf(level).find((item) => item.name === name)?.alias ?? null);
  }
}

function relationsOf(items: readonly SelectItem[]): readonly Extract<SelectItem, { kind: 'relation' }>[] {
  return items.filter((item) => item.kind === 'relation');
}
