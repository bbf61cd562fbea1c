import type { Database, TableColumn } from '@pgway/core';
import {
  parseJsonObject,
  publicationName,
  queryCatalog,
  readArray,
  readTables,
  readText,
  type Relation,
  type Table,
} from '@pgway/core/internal';
import { publishedTablesSql } from './published-tables.sql.ts';

/** A table whose changes PostgreSQL publishes. */
export interface PublishedTable extends Relation {
  /** The columns that identify a row. */
  readonly key: readonly TableColumn[];
  /** Whether the replica identity is FULL: clients then get the whole row before a change. */
  readonly isFull: boolean;
  /** The names of types by the name of the column, as in `pg_type.typname`. */
  readonly typeNames: ReadonlyMap<string, string>;
}

/** Milliseconds that tables are known for: changes of the catalog are seen by joins after this time. */
const maxAgeMs = 10_000;

/** The tables of the publication. */
export class PublishedTables {
  readonly #database: Database;
  #read: { readonly at: number; readonly tables: Promise<readonly PublishedTable[]> } | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Throws errors of the database. */
  list(): Promise<readonly PublishedTable[]> {
    const now = performance.now();
    if (this.#read !== null && now - this.#read.at < maxAgeMs) return this.#read.tables;
    const read = { at: now, tables: readPublishedTables(this.#database) };
    this.#read = read;
    read.tables.catch(() => {
      if (this.#read === read) this.#read = null;
    });
    return read.tables;
  }

  /** The next list is read again: a query did not fit the database. */
  forget(): void {
    this.#read = null;
  }
}

async function readPublishedTables(database: Database): Promise<readonly PublishedTable[]> {
  const rows = await queryCatalog(database, publishedTablesSql, [publicationName]);
  const published = rows.map(([text], index) => decodePublished(`published table ${index + 1}`, text ?? null));
  if (published.length === 0) return [];
  const filters = {
    includeSchemas: [...new Set(published.map(({ schema }) => schema))],
    includeNames: [...new Set(published.map(({ name }) => name))],
  };
  const tables = await readTables(database, filters, { query: null, keepsDefaults: false });
  return published.flatMap((facts) => {
    const table = tables.find(({ schema, name }) => schema === facts.schema && name === facts.name);
    return table === undefined ? [] : [toPublishedTable(facts, table)];
  });
}

interface PublishedFacts {
  readonly schema: string;
  readonly name: string;
  readonly isFull: boolean;
  readonly key: readonly string[];
  readonly typeNames: ReadonlyMap<string, string>;
}

function decodePublished(where: string, text: string | null): PublishedFacts {
  const facts = parseJsonObject(where, text);
  const names = (member: string): readonly string[] =>
    facts.members[member] === null ? [] : readArray(facts, member, (_, name) => String(name));
  const identity = readText(facts, 'identity');
  const [primaryKey, identityKey] = [names('primaryKey'), names('identityKey')];
  const types = facts.members['types'] as Readonly<Record<string, string>>;
  return {
    schema: readText(facts, 'schema'),
    name: readText(facts, 'name'),
    isFull: identity === 'f',
    key: selectKey(identity, primaryKey, identityKey),
    typeNames: new Map(Object.entries(types)),
  };
}

/** The log has the columns of the replica identity only. */
function selectKey(identity: string, primaryKey: readonly string[], identityKey: readonly string[]): readonly string[] {
  if (identity === 'n') return [];
  if (identity !== 'i') return primaryKey;
  const hasPrimaryKey = primaryKey.length > 0 && primaryKey.every((column) => identityKey.includes(column));
  return hasPrimaryKey ? primaryKey : identityKey;
}

function toPublishedTable({ schema, name, isFull, key, typeNames }: PublishedFacts, table: Table): PublishedTable {
  const columns = new Map(table.columns.map((column) => [column.name, column]));
  return { schema, name, isFull, typeNames, columns, key: key.map((column) => columns.get(column)!) };
}
