import type { Routine } from '../catalog/routine.ts';
import { display } from './display.ts';
import type { Draft } from './endpoint-builder.ts';

/** What a name means: `schema.name` of every routine and table that it may be, by name with and without the schema. */
export type KnownNames = ReadonlyMap<string, readonly string[]>;

/** Names compare without case: to make too much void costs a call, to make too little void is wrong. */
const normal = (name: string): string => name.toLowerCase();

export function knownNames(routines: readonly Pick<Routine, 'schema' | 'name'>[]): KnownNames {
  const known = new Map<string, Set<string>>();
  for (const { schema, name } of routines) {
    const whole = `${schema}.${name}`;
    for (const written of [normal(name), normal(whole)]) {
      const meant = known.get(written) ?? new Set();
      known.set(written, meant.add(whole));
    }
  }
  return new Map([...known].map(([written, meant]) => [written, [...meant]]));
}

/** Every `schema.name` that is meant by a name. */
export function namesMeant(known: KnownNames, written: string): readonly string[] {
  return known.get(normal(written.trim())) ?? [];
}

/** Whose kept answers a call makes void. */
export function planInvalidations(draft: Draft, known: KnownNames): readonly string[] {
  const all = draft.invalidates.flatMap(({ name, line }) => {
    const meant = namesMeant(known, name);
    if (meant.length === 0) {
      draft.report(
        'warning',
        'unknown-routine',
        `invalidates names ${display(name)}, but nothing that is read here has that name`,
        line,
      );
    }
    return meant;
  });
  return [...new Set(all)].toSorted();
}
