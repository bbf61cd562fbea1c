import { BoundedCache } from './bounded-cache.ts';
import type { Statement } from './port.ts';

/**
 * Statements per endpoint, one for each set of given parameters, and the length of their texts and keys. Clients choose the columns and
 * filters of tables, and so their number and length.
 */
const limits = { entries: 200, size: 256 * 1024 };

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
  readonly #statements = new BoundedCache<CachedStatement>(limits);

  /** Returns the statement of a key. Frequent statements get a name, with which connections keep them prepared. */
  getOrCreate(key: string, create: () => Statement): Statement {
    const cached = this.#statements.get(key) ?? this.#add(key, create());
    cached.uses++;
    if (cached.uses === usesBeforeName && cached.statement.name === '')
      cached.statement = { ...cached.statement, name: nextStatementName() };
    return cached.statement;
  }

  #add(key: string, statement: Statement): CachedStatement {
    const cached = { statement, uses: 0 };
    this.#statements.add(key, cached, key.length + statement.sql.length);
    return cached;
  }
}
