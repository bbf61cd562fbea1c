import { type Database, DatabaseError } from '../postgres/port.ts';
import { queryCatalog } from './query-catalog.ts';
import type { SessionEffects, SessionEffectsLookup } from './routine.ts';
import { sessionEffectsSql } from './session-effects.sql.ts';
import { type StatementEffects, analyzeForeignSource, analyzeSql } from './statement-effects.ts';

/** Of a database whose catalog could not be read. */
export const unknownSessionEffects: SessionEffectsLookup = Object.freeze({
  routine: () => anything,
  relation: () => anything,
  statement: () => anything,
});

const anything: SessionEffects = Object.freeze({ alters: true, mayBlock: true });
/** PostgreSQL locks a relation to show the view that reads it: the start does not wait for the end of a migration. */
const lockTimeout = ['lock_timeout', '2s'] as const;
const readable: ReadonlySet<string> = new Set(['sql', 'plpgsql']);

interface Thing extends StatementEffects {
  readonly id: string;
  readonly name: string;
  /** It runs when a relation is written to, by statements that may block anyway. */
  readonly onWrite: boolean;
  /** It runs where no text names it. */
  readonly isImplicit: boolean;
}

/**
 * Reads the source of all routines and relations, and finds those that may alter their session or wait, by themselves or by what they
 * name: a word that is the name of such a routine or relation counts as a use of it, in whatever schema it is.
 * @param refused told why PostgreSQL did not show them: each of them may do anything then
 */
export async function readSessionEffects(
  database: Database,
  refused: (reason: string) => void,
): Promise<SessionEffectsLookup> {
  try {
    return usesOf((await queryCatalog(database, sessionEffectsSql, [], lockTimeout)).map(thingOf));
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    refused(error.message);
    return unknownSessionEffects;
  }
}

function usesOf(things: readonly Thing[]): SessionEffectsLookup {
  const altering = namesReached(things, ({ alters }) => alters);
  // An operator or a cast may be anywhere.
  if (things.some(({ isImplicit, name }) => isImplicit && altering.has(name))) return unknownSessionEffects;
  const read = things.filter(({ onWrite }) => !onWrite);
  const blocking = namesReached(read, ({ mayBlock }) => mayBlock);
  const useOf = ({ alters, mayBlock, words }: StatementEffects): SessionEffects => ({
    alters: alters || meets(words, altering),
    mayBlock: mayBlock || meets(words, blocking),
  });
  const uses = new Map<string, SessionEffects>();
  for (const thing of things) {
    const { alters, mayBlock } = useOf(thing);
    const other = uses.get(thing.id) ?? { alters: false, mayBlock: false };
    uses.set(thing.id, { alters: alters || other.alters, mayBlock: (mayBlock && !thing.onWrite) || other.mayBlock });
  }
  return {
    routine: (schema, name) => uses.get(idOf('routine', schema, name)) ?? anything,
    relation: (schema, name) => uses.get(idOf('relation', schema, name)) ?? anything,
    statement: (sql) => useOf(analyzeSql(sql)),
  };
}

function thingOf([kind, schema, name, language, source]: readonly (string | null)[]): Thing {
  const text = source ?? '';
  const routine = kind === 'routine';
  const effects = routine && !readable.has(language!) ? analyzeForeignSource(text) : analyzeSql(text);
  return {
    id: idOf(kind === 'writes' ? 'relation' : kind!, schema!, name!),
    name: name!,
    onWrite: kind === 'writes',
    isImplicit: kind === 'implicit',
    ...effects,
  };
}

function idOf(kind: string, schema: string, name: string): string {
  return JSON.stringify([kind, schema, name]);
}

/** The names of the things that have an effect, and of all that use one of those names. */
function namesReached(things: readonly Thing[], has: (thing: Thing) => boolean): ReadonlySet<string> {
  const users = new Map<string, string[]>();
  for (const { words, name } of things) {
    for (const word of words) {
      const known = users.get(word);
      if (known === undefined) users.set(word, [name]);
      else known.push(name);
    }
  }
  const reached = new Set<string>();
  const waiting = things.filter(has).map(({ name }) => name);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    waiting.push(...(users.get(name) ?? []));
  }
  return reached;
}

function meets(words: ReadonlySet<string>, names: ReadonlySet<string>): boolean {
  for (const word of words) if (names.has(word)) return true;
  return false;
}
