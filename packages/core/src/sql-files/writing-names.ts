import { queryCatalog } from '../catalog/query-catalog.ts';
import { analyzeSql } from '../catalog/statement-effects.ts';
import type { Database } from '../postgres/port.ts';
import { implicitName, namedObjectsSql } from './named-objects.sql.ts';

/** The names of which a query that uses one may write. */
export interface WritingNames {
  has(name: string): boolean;
}

interface NamedObject {
  readonly name: string;
  /** Whether it may write by itself. */
  readonly writes: boolean;
  readonly uses: ReadonlySet<string>;
}

/** Words of a body without which no statement in it writes, locks rows or tells other sessions. */
const writingWords: ReadonlySet<string> = new Set(
  (
    'insert update delete merge truncate copy call do execute lock share notify create alter drop grant revoke ' +
    'refresh reindex cluster analyze vacuum'
  ).split(' '),
);
const readLanguages: ReadonlySet<string> = new Set(['sql', 'plpgsql']);

/**
 * Reads the objects of these names, and those that they use, and determines which may write: by themselves, or through functions, views,
 * policies and domains. A word counts as a use of every object of that name, in any schema. A declaration as stable or immutable is
 * believed of the statements of a function, which PostgreSQL checks, and not of the functions that it calls.
 */
export async function readWritingNames(database: Database, names: ReadonlySet<string>): Promise<WritingNames> {
  const objects: NamedObject[] = [];
  const asked = new Set<string>();
  for (let next = [implicitName, ...names]; next.length > 0;) {
    for (const name of next) asked.add(name);
    const rows = await queryCatalog(database, namedObjectsSql, [JSON.stringify(next)]);
    const found = rows.map(toNamedObject);
    objects.push(...found);
    next = [...new Set(found.flatMap(({ uses }) => [...uses]))].filter((name) => !asked.has(name));
  }
  const writing = findWriting(objects);
  // Operators and casts can occur anywhere.
  return writing.has(implicitName) ? { has: () => true } : writing;
}

function toNamedObject([name, language, isVolatile, text]: readonly (string | null)[]): NamedObject {
  const isRead = readLanguages.has(language!);
  const uses: ReadonlySet<string> = isRead ? analyzeSql(text ?? '').words : new Set();
  const writes = isVolatile === 't' && (!isRead || [...writingWords].some((word) => uses.has(word)));
  return { name: name!, writes, uses };
}

function findWriting(objects: readonly NamedObject[]): ReadonlySet<string> {
  const users = new Map<string, string[]>();
  for (const { name, uses } of objects) {
    for (const used of uses) {
      const known = users.get(used);
      if (known === undefined) users.set(used, [name]);
      else known.push(name);
    }
  }
  const writing = new Set<string>();
  const pending = objects.filter(({ writes }) => writes).map(({ name }) => name);
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (writing.has(name)) continue;
    writing.add(name);
    pending.push(...(users.get(name) ?? []));
  }
  return writing;
}
