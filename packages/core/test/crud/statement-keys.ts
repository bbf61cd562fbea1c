import type { Endpoint } from '@pgway/core';
import { Problem } from '../../src/http/problem.ts';
import type { Query, QueryContext } from '../../src/ports/ports.ts';

/* A statement is prepared once for its key: statements with one key have one text, and a text has one key. */

export const request = (query: string, given: Readonly<Record<string, string>>, method = 'GET'): never =>
  ({ query, method, path: '/rest/book', header: (name: string) => given[name] }) as never;

export const context: QueryContext = { caller: null, role: null, headers: () => new Map(), mayCall: () => true };

/** The statements of endpoints. */
export class Statements {
  readonly #texts = new Map<string, string>();
  readonly #keys = new Map<string, string>();
  /** Keys with several texts, and texts with several keys. */
  readonly conflicts: string[] = [];

  get size(): number {
    return this.#texts.size;
  }

  add(endpoint: Endpoint, query: Query): void {
    for (const statement of [query, query.headerQuery]) {
      if (statement === undefined) continue;
      const text = typeof statement.sql === 'string' ? statement.sql : statement.sql();
      const key = `${endpoint.id} ${statement.statementKey!}`;
      this.#keep(this.#texts, key, text);
      this.#keep(this.#keys, `${endpoint.id} ${text}`, key);
    }
  }

  #keep(values: Map<string, string>, name: string, value: string): void {
    const known = values.get(name) ?? value;
    if (known !== value) this.conflicts.push(`${name}: ${known} and ${value}`);
    values.set(name, value);
  }
}

/** Adds the query that is built; a refused request has none. */
export async function build(
  statements: Statements,
  endpoint: Endpoint,
  query: () => Query | Promise<Query>,
): Promise<void> {
  try {
    statements.add(endpoint, await query());
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}
