/** The routines that bodies given as text call: PostgreSQL has no entries in `pg_depend` for them. */
import type { Dependencies, Item } from './item.ts';

const isRoutine = (key: string): boolean => key.startsWith('pg_proc/');

/**
 * Returns the routines that must exist before a table, beside those that it depends on: the expressions of generated columns and partition
 * keys are planned when it is created, with the bodies of SQL functions in place of their calls. A routine that itself depends on the
 * table is left out.
 */
export function calledRoutines(items: readonly Item[], dependencies: Dependencies): Dependencies {
  const planned = items.filter((item) => isPlannedAtCreation(item) && directRoutines(item, dependencies).length > 0);
  if (planned.length === 0) return new Map();
  const byName = routinesByName(items);
  const calls = new Map<string, readonly string[]>();
  const callsOf = (routine: Item): readonly string[] => {
    const known = calls.get(routine.key);
    if (known !== undefined) return known;
    const found = namesOfCalls(routine.statements(new Set()).join('\n')).flatMap((name) => byName.get(name) ?? []);
    calls.set(routine.key, found);
    return found;
  };
  const byKey = new Map(items.map((item) => [item.key, item]));
  return new Map(
    planned.map((table) => {
      const reached = closure(directRoutines(table, dependencies), (key) => callsOf(byKey.get(key)!));
      const own = new Set(table.addresses.map(({ key }) => key));
      return [table.key, reached.filter((routine) => !reaches(routine, own, dependencies))] as const;
    }),
  );
}

function isPlannedAtCreation({ structure }: Item): boolean {
  if (structure?.kind !== 'table') return false;
  return structure.table.row.partitionKey !== null || structure.table.columns.some(({ generated }) => generated !== '');
}

function directRoutines(item: Item, dependencies: Dependencies): readonly string[] {
  return item.addresses.flatMap(({ key }) => dependencies.get(key) ?? []).filter(isRoutine);
}

/** By name without schema and quotes, in lower case: a name too many only moves a routine ahead. */
function routinesByName(items: readonly Item[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { key, addresses } of items) {
    const name = /(?:"((?:[^"]|"")+)"|([^\s".(]+))\(/.exec(addresses[0]!.target ?? '');
    if (!isRoutine(key) || name === null) continue;
    const plain = (name[1] ?? name[2]!).replaceAll('""', '"').toLowerCase();
    found.set(plain, [...(found.get(plain) ?? []), key]);
  }
  return found;
}

function namesOfCalls(text: string): readonly string[] {
  const names = [...text.matchAll(/(?:"((?:[^"]|"")+)"|([\p{L}_][\p{L}\p{N}_$]*))\s*\(/gu)];
  return [...new Set(names.map(([, quoted, bare]) => (quoted?.replaceAll('""', '"') ?? bare!).toLowerCase()))];
}

function closure(from: readonly string[], next: (key: string) => readonly string[]): readonly string[] {
  const seen = new Set(from);
  const open = [...from];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (const found of next(key)) {
      if (seen.has(found)) continue;
      seen.add(found);
      open.push(found);
    }
  }
  return [...seen];
}

function reaches(key: string, targets: ReadonlySet<string>, dependencies: Dependencies): boolean {
  return closure([key], (current) => dependencies.get(current) ?? []).some((found) => targets.has(found));
}
