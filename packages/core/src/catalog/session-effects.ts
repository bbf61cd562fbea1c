import { type Database, DatabaseError } from '../postgres/port.ts';
import { queryCatalog } from './query-catalog.ts';
import type { SessionEffects, SessionEffectsLookup } from './routine.ts';
import { sessionEffectsSql } from './session-effects.sql.ts';
import { type StatementEffects, analyzeForeignSource, analyzeSql } from './statement-effects.ts';

/** The effects in a database whose catalog could not be read: every call may have every effect. */
export const unknownSessionEffects: SessionEffectsLookup = Object.freeze({
  routine: () => allEffects,
  relation: () => allEffects,
  statement: () => allEffects,
});

const allEffects: SessionEffects = Object.freeze({ alters: true, mayBlock: true });
/** PostgreSQL locks the relations of a view to show its definition. A running migration must not block the start. */
const lockTimeout = ['lock_timeout', '2s'] as const;
const analyzableLanguages: ReadonlySet<string> = new Set(['sql', 'plpgsql']);

interface CatalogObject extends StatementEffects {
  readonly id: string;
  readonly name: string;
  /** Whether the object runs only when a relation is written to, by statements that may block anyway. */
  readonly onWrite: boolean;
  /** Whether the object runs without being named in any text: functions of operators and casts. */
  readonly isImplicit: boolean;
}

/**
 * Reads the source of all routines and relations and determines which ones may alter their session or block, directly or through
 * objects that they name. A word counts as a use of every object of that name, in any schema.
 * @param onUnreadable receives the error of PostgreSQL; then every object may have every effect
 */
export async function readSessionEffects(
  database: Database,
  onUnreadable: (reason: string) => void,
): Promise<SessionEffectsLookup> {
  try {
    return createLookup((await queryCatalog(database, sessionEffectsSql, [], lockTimeout)).map(toCatalogObject));
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    onUnreadable(error.message);
    return unknownSessionEffects;
  }
}

function createLookup(objects: readonly CatalogObject[]): SessionEffectsLookup {
  const altering = findDependents(objects, ({ alters }) => alters);
  // An operator or a cast can occur anywhere.
  if (objects.some(({ isImplicit, name }) => isImplicit && altering.has(name))) return unknownSessionEffects;
  const read = objects.filter(({ onWrite }) => !onWrite);
  const blocking = findDependents(read, ({ mayBlock }) => mayBlock);
  const sessionEffects = ({ alters, mayBlock, words }: StatementEffects): SessionEffects => ({
    alters: alters || intersects(words, altering),
    mayBlock: mayBlock || intersects(words, blocking),
  });
  const effectsByKey = new Map<string, SessionEffects>();
  for (const object of objects) {
    const { alters, mayBlock } = sessionEffects(object);
    const other = effectsByKey.get(object.id) ?? { alters: false, mayBlock: false };
    effectsByKey.set(object.id, {
      alters: alters || other.alters,
      mayBlock: (mayBlock && !object.onWrite) || other.mayBlock,
    });
  }
  return {
    routine: (schema, name) => effectsByKey.get(objectKey('routine', schema, name)) ?? allEffects,
    relation: (schema, name) => effectsByKey.get(objectKey('relation', schema, name)) ?? allEffects,
    statement: (sql) => sessionEffects(analyzeSql(sql)),
  };
}

function toCatalogObject([kind, schema, name, language, source]: readonly (string | null)[]): CatalogObject {
  const text = source ?? '';
  const routine = kind === 'routine';
  const effects = routine && !analyzableLanguages.has(language!) ? analyzeForeignSource(text) : analyzeSql(text);
  return {
    id: objectKey(kind === 'writes' ? 'relation' : kind!, schema!, name!),
    name: name!,
    onWrite: kind === 'writes',
    isImplicit: kind === 'implicit',
    ...effects,
  };
}

function objectKey(kind: string, schema: string, name: string): string {
  return JSON.stringify([kind, schema, name]);
}

/** Returns the names of the objects with an effect, and of all objects that use them directly or indirectly. */
function findDependents(
  objects: readonly CatalogObject[],
  hasEffect: (object: CatalogObject) => boolean,
): ReadonlySet<string> {
  const usersByWord = new Map<string, string[]>();
  for (const { words, name } of objects) {
    for (const word of words) {
      const known = usersByWord.get(word);
      if (known === undefined) usersByWord.set(word, [name]);
      else known.push(name);
    }
  }
  const reached = new Set<string>();
  const pending = objects.filter(hasEffect).map(({ name }) => name);
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    pending.push(...(usersByWord.get(name) ?? []));
  }
  return reached;
}

function intersects(words: ReadonlySet<string>, names: ReadonlySet<string>): boolean {
  for (const word of words) if (names.has(word)) return true;
  return false;
}
