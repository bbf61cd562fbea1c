/** Runs the SQL files of the example database, and replaces its routines. */
import { ExpectedError } from '../expected-error.ts';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from 'pg';

const undefinedTable = '42P01';

/** The example database cannot be created or changed; the message names the file. */
export class ExampleError extends ExpectedError {
  override readonly name = 'ExampleError';
}

/**
 * Runs the statements of a file and returns its text.
 * @param failure the start of the error message, as in `cannot create the example database`
 * @throws ExampleError naming the file and, where PostgreSQL reports a position, the line
 */
export async function runSqlFile(client: Client, file: URL, failure: string): Promise<string> {
  const text = await readFile(file, 'utf8');
  try {
    await client.query(text);
    return text;
  } catch (error) {
    const { position, message, code } = error as Error & { readonly position?: string; readonly code?: string };
    const line = position === undefined ? '' : `:${lineOf(text, Number(position))}`;
    // Tables of an older example are never changed: they have rows of the user.
    const advice =
      code === undefinedTable ? ' drop the database library, so that the next start creates it again, or' : '';
    throw exampleError(`${failure}: ${fileURLToPath(file)}${line}: ${message};${advice}`, error);
  }
}

/** @param reason the start of the message, up to its last alternative */
function exampleError(reason: string, cause: unknown): ExampleError {
  return new ExampleError(`${reason} pass --embedded.example=false to start without it`, { cause });
}

/** @param position in characters, from 1, as reported by PostgreSQL */
function lineOf(text: string, position: number): number {
  const before = Array.from(text).slice(0, position - 1);
  return before.filter((character) => character === '\n').length + 1;
}

/** The routines that `api.sql` created. Stored as the comment of the database, in the same transaction. */
export interface AppliedRoutines {
  /** SHA-256 of the file. */
  readonly api: string;
  /** Signatures with schema, as accepted by `to_regprocedure`. */
  readonly routines: readonly string[];
}

export function isApplied(applied: AppliedRoutines | null, text: string): boolean {
  return applied?.api === sha256(text);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Replaces the routines of an earlier `api.sql` by those of the file. Routines of users remain. Runs in a transaction of the caller,
 * which must contain nothing else: routines are found by its id.
 * @param applied null if unknown; the file then replaces routines of the same signature only
 * @throws ExampleError
 */
export async function applyRoutines(client: Client, file: URL, applied: AppliedRoutines | null): Promise<void> {
  await dropRoutines(client, applied?.routines ?? []);
  const text = await runSqlFile(client, file, 'cannot create the routines of the example database');
  await client.query('set local search_path = pg_catalog');
  const { rows } = await client.query<{ name: string }>(
    'select oid::regprocedure::text as name from pg_proc where xmin = pg_current_xact_id()::xid order by 1',
  );
  const comment: AppliedRoutines = { api: sha256(text), routines: rows.map(({ name }) => name) };
  const database = client.escapeIdentifier(client.database!);
  await client.query(`comment on database ${database} is ${client.escapeLiteral(JSON.stringify(comment))}`);
}

async function dropRoutines(client: Client, names: readonly string[]): Promise<void> {
  // The stored names are resolved by the server, so that the statement contains quoted names of routines only.
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
      `api.sql has changed, but its routines in the example database cannot be replaced: ${reason}; drop the dependent objects, or`,
      error,
    );
  }
}
