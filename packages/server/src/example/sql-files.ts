import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import { exampleError, runFile } from './run-file.ts';

/** Which routines an `api.sql` has made. Kept as the comment of the database, so that it changes in the same transaction. */
export interface AppliedRoutines {
  /** SHA-256 of the file. */
  readonly api: string;
  /** With their schemas and the types of their arguments, as `to_regprocedure` takes them. */
  readonly routines: readonly string[];
}

export function isApplied(applied: AppliedRoutines | null, text: string): boolean {
  return applied?.api === digestOf(text);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Puts the routines of the file in the place of those that were applied before. Routines of the user's stay. The transaction
 * is that of the caller, and holds nothing else.
 * @param applied null: nothing is known of what was, and the file replaces routines of the same signature only
 * @throws ExampleError
 */
export async function applyRoutines(client: Client, file: URL, applied: AppliedRoutines | null): Promise<void> {
  await dropRoutines(client, applied?.routines ?? []);
  const text = await runFile(client, file, 'the routines of the example database cannot be made');
  await client.query('set local search_path = pg_catalog');
  const { rows } = await client.query<{ name: string }>(
    'select oid::regprocedure::text as name from pg_proc where xmin = pg_current_xact_id()::xid order by 1',
  );
  const comment: AppliedRoutines = { api: digestOf(text), routines: rows.map(({ name }) => name) };
  const database = client.escapeIdentifier(client.database!);
  await client.query(`comment on database ${database} is ${client.escapeLiteral(JSON.stringify(comment))}`);
}

async function dropRoutines(client: Client, names: readonly string[]): Promise<void> {
  // A name comes back as the server writes it: nothing but the name of a routine becomes part of the statement.
  const { rows } = await client.query<{ name: string }>(
    `select found::pg_catalog.text as name
     from pg_catalog.unnest($1::pg_catalog.text[]) as given (name), pg_catalog.to_regprocedure(given.name) as found
     where found is not null`,
    [names],
  );
  if (rows.length === 0) return;
  try {
    await client.query(`drop routine ${rows.map(({ name }) => name).join(', ')}`);
  } catch (error) {
    const { message, detail = message } = error as Error & { readonly detail?: string };
    const reason = detail.split('\n').join(', ');
    throw exampleError(
      `api.sql has changed, but its routines in the example database cannot be replaced: ${reason}; drop what depends on them, or`,
      error,
    );
  }
}
