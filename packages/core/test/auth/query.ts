import type { TestDatabase } from '@pgway/testing';
import type { CommandRunner } from '../../src/auth-schemes/command-runner.ts';

/** Commands in a test's database, answered in PostgreSQL's text form as far as tests need it. */
export function queryOf(database: TestDatabase): CommandRunner {
  return async (sql, values) => {
    const rows = await database.query(sql, values);
    return rows.map((row) => Object.values(row).map((value) => (value === null ? null : String(value))));
  };
}
