import type { Client } from 'pg';

/** The settings that the text of definitions depends on. With an empty search path, PostgreSQL qualifies every name. */
const sessionSql = `
  begin transaction isolation level repeatable read, read only;
  set local search_path = '';
  set local standard_conforming_strings = on;
  set local quote_all_identifiers = off;
  set local datestyle = 'ISO, YMD';
  set local intervalstyle = 'postgres';
  set local timezone = 'UTC';
  set local extra_float_digits = 3;
  set local xmloption = 'content';
  set local bytea_output = 'hex';
  set local row_security = off`;

/** Runs a function that reads the catalog as of one moment. */
export async function inSnapshot<Result>(client: Client, read: () => Promise<Result>): Promise<Result> {
  await client.query(sessionSql);
  try {
    return await read();
  } finally {
    // After a lost connection, the error of `read` is the one to report.
    await client.query('rollback').catch(() => {});
  }
}
