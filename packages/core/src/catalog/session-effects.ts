import { type Database, DatabaseError } from '../postgres/port.ts';
import { readFingerprint } from './fingerprint.ts';
import { queryCatalog } from './query-catalog.ts';
import type { SessionEffects, SessionEffectsLookup } from './routine.ts';
import { mapInSlices, runInSlices } from './slices.ts';
import { sessionEffectsSql } from './session-effects.sql.ts';
import { dynamicName } from './statement-template.ts';
import { analyzeForeignSource, analyzeSql } from './statement-effects.ts';
import type { Steps } from './steps.ts';

/** The effects in a database whose catalog could not be read: every call may have every effect. */
export const unknownSessionEffects: SessionEffectsLookup = Object.freeze({
  routine: () => allEffects,
  relation: () => allEffects,
  statement: () => allEffects,
});

/** All combinations, which thousands of routines share; the bits of an index are the effects. */
const combinations: readonly SessionEffects[] = Array.from({ length: 32 }, (_, index) =>
  Object.freeze({
    alters: (index & 1) > 0,
    altersTransaction: (index & 2) > 0,
    mayBlock: (index & 4) > 0,
    ...((index & 8) > 0 ? { readsSequences: true as const } : {}),
    ...((index & 16) > 0 ? { mayPrepare: true as const } : {}),
  }),
);
const allEffects: SessionEffects = combinations.at(-1)!;
/** PostgreSQL locks the relations of a view to show its definition. A running migration must not block the start. */
const lockTimeout = ['lock_timeout', '2s'] as const;
const analyzableLanguages: ReadonlySet<string> = new Set(['sql', 'plpgsql']);

interface CatalogObject extends UsedEffects {
  readonly kind: string;
  readonly schema: string;
  readonly name: string;
  /** The names of objects that it may use. */
  readonly uses: readonly string[];
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
    const rows = await queryCatalog(database, sessionEffectsSql, [], lockTimeout);
    // All words of thousands of bodies would take more memory than their endpoints.
    const names = new Set(rows.map(([, , name]) => name!));
    return await runInSlices(createLookup(await mapInSlices(rows, (row) => toCatalogObject(row, names))));
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    onUnreadable(error.message);
    return unknownSessionEffects;
  }
}

/** Returns a hash of all that `readSessionEffects` depends on. */
export function fingerprintSessionEffects(database: Database): Promise<string> {
  return readFingerprint(database, sessionEffectsSql, [], lockTimeout);
}

function* createLookup(objects: readonly CatalogObject[]): Steps<SessionEffectsLookup> {
  const altering = yield* findDependents(objects, ({ alters }) => alters);
  // An operator or a cast can occur anywhere.
  if (objects.some(({ isImplicit, name }) => isImplicit && altering.has(name))) return unknownSessionEffects;
  const preparing = yield* findDependents(objects, ({ mayPrepare }) => mayPrepare);
  const counting = yield* findDependents(objects, ({ readsSequences }) => readsSequences);
  const setting = yield* findDependents(objects, ({ altersTransaction }) => altersTransaction);
  const setsAnywhere = objects.some(({ isImplicit, name }) => isImplicit && setting.has(name));
  const read = objects.filter(({ onWrite }) => !onWrite);
  const blocking = yield* findDependents(read, ({ mayBlock }) => mayBlock);
  const withUses = (
    { alters, mayPrepare, altersTransaction, mayBlock, readsSequences }: UsedEffects,
    uses: Iterable<string>,
  ): UsedEffects => ({
    alters: alters || intersects(uses, altering),
    mayPrepare: mayPrepare || intersects(uses, preparing),
    altersTransaction: altersTransaction || setsAnywhere || intersects(uses, setting),
    mayBlock: mayBlock || intersects(uses, blocking),
    readsSequences: readsSequences || intersects(uses, counting),
  });
  const routines: EffectsByName = new Map();
  const relations: EffectsByName = new Map();
  for (const object of objects) {
    const used = withUses(object, object.uses);
    const effects = shared({ ...used, mayBlock: used.mayBlock && !object.onWrite });
    if (object.kind === 'routine') addEffects(routines, object, effects);
    else if (object.kind === 'relation') addEffects(relations, object, effects);
    yield;
  }
  return {
    routine: (schema, name) => routines.get(schema)?.get(name) ?? allEffects,
    relation: (schema, name) => relations.get(schema)?.get(name) ?? allEffects,
    statement: (sql) => {
      const effects = analyzeSql(sql);
      return shared(withUses(effects, effects.words));
    },
  };
}

/** Session effects with each property. */
interface UsedEffects extends Omit<SessionEffects, 'readsSequences' | 'mayPrepare'> {
  readonly mayPrepare: boolean;
  readonly readsSequences: boolean;
}

/** Session effects by schema and name. */
type EffectsByName = Map<string, Map<string, SessionEffects>>;

/** Overloads, and a relation and what writes to it, share the effects of all of them. */
function addEffects(known: EffectsByName, { schema, name }: CatalogObject, effects: SessionEffects): void {
  let names = known.get(schema);
  if (names === undefined) known.set(schema, (names = new Map()));
  const other = names.get(name);
  names.set(
    name,
    other === undefined
      ? effects
      : shared({
          alters: effects.alters || other.alters,
          mayPrepare: effects.mayPrepare === true || other.mayPrepare === true,
          altersTransaction: effects.altersTransaction || other.altersTransaction,
          mayBlock: effects.mayBlock || other.mayBlock,
          readsSequences: effects.readsSequences === true || other.readsSequences === true,
        }),
  );
}

function shared({ alters, altersTransaction, mayBlock, readsSequences, mayPrepare }: UsedEffects): SessionEffects {
  const bits = [alters, altersTransaction, mayBlock, readsSequences, mayPrepare];
  return combinations[bits.reduce((index, bit, position) => index + (bit ? 1 << position : 0), 0)]!;
}

/** @param names the names of all objects */
function toCatalogObject(
  [kind, schema, name, language, source]: readonly (string | null)[],
  names: ReadonlySet<string>,
): CatalogObject {
  const text = source ?? '';
  const routine = kind === 'routine';
  const isForeign = routine && !analyzableLanguages.has(language!);
  const { words, ...effects } = isForeign ? analyzeForeignSource(text) : analyzeSql(text);
  const uses: string[] = [];
  for (const word of words) if (names.has(word) || word === dynamicName) uses.push(word);
  return {
    kind: kind === 'writes' ? 'relation' : kind!,
    schema: schema!,
    name: name!,
    onWrite: kind === 'writes',
    isImplicit: kind === 'implicit',
    ...effects,
    uses,
  };
}

/** Returns the names of the objects with an effect, and of all objects that use them directly or indirectly. */
function* findDependents(
  objects: readonly CatalogObject[],
  hasEffect: (object: CatalogObject) => boolean,
): Steps<ReadonlySet<string>> {
  const users = new Map<string, string[]>();
  const relations = new Set<string>();
  for (const { uses, name, kind } of objects) {
    if (kind === 'relation') relations.add(name);
    for (const used of uses) {
      const known = users.get(used);
      if (known === undefined) users.set(used, [name]);
      else known.push(name);
    }
    yield;
  }
  const reached = new Set<string>();
  const pending = objects.filter(hasEffect).map(({ name }) => name);
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    for (const user of users.get(name) ?? []) pending.push(user);
    // A relation whose name is known only at run time may be each one.
    if (relations.has(name) && !reached.has(dynamicName)) pending.push(dynamicName);
    yield;
  }
  return reached;
}

function intersects(words: Iterable<string>, names: ReadonlySet<string>): boolean {
  if (names.size === 0) return false;
  for (const word of words) if (names.has(word)) return true;
  return false;
}
