import type { Statement } from './port.ts';

/** Statements per endpoint, one for each set of given parameters. Past it, the least recently used one is evicted. */
const maxStatements = 200;
/** Length of the texts and keys of these statements. Clients choose the columns and filters of tables, and so their length. */
const maxStatementLength = 256 * 1024;

/**
 * Uses of a statement before it becomes a named prepared statement. Rarer statements are parsed at every call, so that requests
 * with ever new sets of keys leave nothing on the connections.
 */
const usesBeforeName = 3;

interface CachedStatement {
  statement: Statement;
  uses: number;
}

let statementCount = 0;

/** Returns the name of a new prepared statement. */
export function nextStatementName(): string {
  return `pgway_${++statementCount}`;
}

/** The statements that requests of one endpoint have used, within limits of number and length. */
export class StatementCache {
  /** In the order of use: the first one is evicted first. */
  readonly #statements = new Map<string, CachedStatement>();
  #length = 0;

  /** Returns the statement of a key. Frequent statements get a name, with which connections keep them prepared. */
  getOrCreate(key: string, create: () => Statement): Statement {
    const cached = this.#statements.get(key) ?? { statement: create(), uses: 0 };
    cached.uses++;
    if (cached.uses === usesBeforeName && cached.statement.name === '')
      cached.statement = { ...cached.statement, name: nextStatementName() };
    this.#remove(key);
    this.#statements.set(key, cached);
    this.#length += lengthOf(key, cached);
    while (this.#statements.size > maxStatements || this.#length > maxStatementLength)
      this.#remove(this.#statements.keys().next().value!);
    return cached.statement;
  }

  #remove(key: string): void {
    const removed = this.#statements.get(key);
    if (removed === undefined) return;
    this.#statements.delete(key);
    this.#length -= lengthOf(key, removed);
  }
}

function lengthOf(key: string, { statement }: CachedStatement): number {
  return key.length + statement.sql.length;
}
