import type { TestDatabase } from '@pgway/testing';
import type { CommandRunner } from '../../src/auth-schemes/command-runner.ts';

/** Runs commands in a test's database; values come back in PostgreSQL's text format. */
export function queryOf(database: TestDatabase): CommandRunner {
  return async (sql, values) => {
    const rows = await database.query(sql, values);
    return rows.map((row) => Object.values(row).map((value) => (value === null ? null : String(value))));
  };
}
