import { queryCatalog } from '../catalog/query-catalog.ts';
import { analyzeSql, beginsStatement } from '../catalog/statement-effects.ts';
import { tokenizeSql } from '../catalog/tokenize-sql.ts';
import type { Database } from '../postgres/port.ts';
import { implicitName, namedObjectsSql } from './named-objects.sql.ts';

/** The effects of the objects that a query names. */
export interface NamedEffects {
  /** Whether a query that uses the name may write. */
  readonly mayWrite: (name: string) => boolean;
  /** Whether a query that uses the name may run a text that has not been read: a dynamic statement, a function in another language. */
  readonly mayRunUnread: (name: string) => boolean;
}

interface NamedObject {
  readonly name: string;
  /** Whether it may write by itself. */
  readonly writes: boolean;
  /** Whether its text does not show all that it runs. */
  readonly isUnread: boolean;
  readonly uses: ReadonlySet<string>;
}

/** Words of a body without which no statement in it writes, locks rows or tells other sessions. */
const writingWords: readonly string[] = (
  'insert update delete merge truncate copy call do execute lock share notify create alter drop grant revoke ' +
  'refresh reindex cluster analyze vacuum'
).split(' ');
/** The first two words of further statements that write. The first word is common in names. */
const writingStatements: ReadonlyMap<string, string> = new Map([
  ['comment', 'on'],
  ['security', 'label'],
  ['import', 'foreign'],
  ['reassign', 'owned'],
]);
const readLanguages: ReadonlySet<string> = new Set(['sql', 'plpgsql']);

/**
 * Reads the objects of these names, and those that they use, and determines which may write: by themselves, or through functions, views,
 * policies and domains. A word counts as a use of every object of that name, in any schema. A declaration as stable or immutable is
 * believed of the statements of a function, which PostgreSQL checks, and not of the functions that it calls.
 */
export async function readNamedEffects(database: Database, names: ReadonlySet<string>): Promise<NamedEffects> {
  const objects: NamedObject[] = [];
  const asked = new Set<string>();
  for (let next = [implicitName, ...names]; next.length > 0;) {
    for (const name of next) asked.add(name);
    const rows = await queryCatalog(database, namedObjectsSql, [JSON.stringify(next)]);
    const found = rows.map(toNamedObject);
    objects.push(...found);
    next = [...new Set(found.flatMap(({ uses }) => [...uses]))].filter((name) => !asked.has(name));
  }
  const users = indexUsers(objects);
  const mayWrite = findUsers(
    objects.filter(({ writes }) => writes),
    users,
  );
  const mayRunUnread = findUsers(
    objects.filter(({ isUnread }) => isUnread),
    users,
  );
  return { mayWrite: testName(mayWrite), mayRunUnread: testName(mayRunUnread) };
}

/** Operators, operator classes and casts can occur anywhere. */
function testName(names: ReadonlySet<string>): (name: string) => boolean {
  return names.has(implicitName) ? () => true : (name) => names.has(name);
}

function toNamedObject([name, language, isVolatile, text]: readonly (string | null)[]): NamedObject {
  const isRead = readLanguages.has(language!);
  const uses: ReadonlySet<string> = isRead ? analyzeSql(text ?? '').words : new Set();
  // SELECT INTO sets variables in PL/pgSQL, and creates a table in SQL.
  const isUnread =
    !isRead ||
    writingWords.some((word) => uses.has(word)) ||
    (language === 'sql' && uses.has('into')) ||
    hasWritingStatement(text ?? '', uses);
  return { name: name!, writes: isVolatile === 't' && isUnread, isUnread, uses };
}

function hasWritingStatement(text: string, words: ReadonlySet<string>): boolean {
  if (![...writingStatements.keys()].some((word) => words.has(word))) return false;
  const tokens = tokenizeSql(text);
  return tokens.some(
    (token, index) =>
      token.kind === 'word' &&
      writingStatements.get(token.text) === (tokens[index + 1]?.text ?? '') &&
      beginsStatement(tokens, index),
  );
}

/** Returns the names of the objects that use a name. */
function indexUsers(objects: readonly NamedObject[]): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  for (const { name, uses } of objects) {
    for (const used of uses) {
      const known = users.get(used);
      if (known === undefined) users.set(used, [name]);
      else known.push(name);
    }
  }
  return users;
}

/** Returns the names of the objects, and of all that use them. */
function findUsers(
  objects: readonly NamedObject[],
  users: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const found = new Set<string>();
  const pending = objects.map(({ name }) => name);
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    pending.push(...(users.get(name) ?? []));
  }
  return found;
}
