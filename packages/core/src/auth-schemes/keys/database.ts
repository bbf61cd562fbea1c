import type { CommandRunner } from '../query.ts';
import type { KeyStorage } from './storage.ts';

export interface DatabaseKeysOptions {
  readonly query: CommandRunner;
  /** Gives one row a key, its text in the first column: `select text from gateway_keys`. */
  readonly read: string;
  /**
   * Adds a key, `$1` its id and `$2` its text, and leaves one that is there:
   * `insert into gateway_keys (id, text) values ($1, $2) on conflict do nothing`.
   */
  readonly write: string;
}

/** Keys in the database, by two commands. Whoever may read that table can forge sign-ins, unless the ring has a secret. */
export function keysInDatabase({ query, read, write }: DatabaseKeysOptions): KeyStorage {
  return {
    read: async () => {
      const rows = await query(read, []);
      return rows.flatMap(([text], index) =>
        text === null || text === undefined ? [] : [{ text, place: `row ${index + 1} of the command that reads keys` }],
      );
    },
    write: async (id, text) => {
      await query(write, [id, text]);
    },
    warning: () => Promise.resolve(null),
  };
}
