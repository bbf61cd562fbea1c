/** Runs the statements of `--diff` one by one, and compares what each does to the tables with what its notes say. */
import { Client } from 'pg';
import { expect } from 'vitest';
import { type Database, diff } from './changed-database.ts';

export interface DiffStatement {
  readonly sql: string;
  readonly notes: readonly { readonly effect: string; readonly text: string }[];
}

interface DiffChange {
  readonly isTransactional: boolean;
  readonly statements: readonly DiffStatement[];
}

export async function diffStatements(current: Database, wanted: Database): Promise<readonly DiffChange[]> {
  const { code, stdout, stderr } = await diff(current, wanted, '--json');
  expect([code, stderr.replace(/^(?:the schemas are equal.*\n)?(?:note: .*\n)*$/, '')]).toEqual([0, '']);
  return JSON.parse(stdout) as readonly DiffChange[];
}

export interface Migration {
  /** The error that ended the script; null: it has run. */
  readonly refusal: string | null;
  /** Statements whose effects are not those of their notes. */
  readonly problems: readonly string[];
  readonly statements: readonly DiffStatement[];
}

/** Scans, and the file of each table, of the tables that have one. */
const stateSql = `
  select c.oid::text as oid, c.oid::regclass::text as name, pg_relation_filenode(c.oid)::text as file,
    pg_stat_get_xact_numscans(c.oid)::text as scans
  from pg_class c where c.relkind in ('r', 'm') and c.oid >= 16384`;

interface TableState {
  readonly oid: string;
  readonly name: string;
  readonly file: string;
  readonly scans: string;
}

export async function migrate(current: Database, wanted: Database): Promise<Migration> {
  const changes = await diffStatements(current, wanted);
  const [alone, together] = [false, true].map((isTransactional) =>
    changes.filter((change) => change.isTransactional === isTransactional).flatMap(({ statements }) => statements),
  ) as [DiffStatement[], DiffStatement[]];
  const client = new Client({ connectionString: current.connectionString });
  await client.connect();
  try {
    for (const { sql } of alone) await client.query(sql);
    await client.query(`begin; set local check_function_bodies = off; set local search_path = ''`);
    const outcome = await runStatements(client, together);
    if (outcome.refusal === null) await client.query('commit');
    return { ...outcome, statements: [...alone, ...together] };
  } finally {
    await client.end();
  }
}

export async function runStatements(
  client: Client,
  statements: readonly DiffStatement[],
): Promise<Omit<Migration, 'statements'>> {
  const problems: string[] = [];
  const tables = await readStates(client);
  for (const statement of statements) {
    const { sql, notes } = statement;
    const before = await readStates(client);
    const refusal = await client.query(sql).then(
      () => null,
      (error: Error) => error.message,
    );
    if (refusal !== null) {
      const hasNote = notes.some(({ effect }) => effect === 'FAILS IF');
      return { refusal, problems: [...problems, ...(hasNote ? [] : [`fails without a note: ${sql}: ${refusal}`])] };
    }
    problems.push(...differences(statement, { tables, before, after: await readStates(client) }));
  }
  return { refusal: null, problems };
}

async function readStates(client: Client): Promise<ReadonlyMap<string, TableState>> {
  const { rows } = await client.query<TableState>(stateSql);
  return new Map(rows.map((row) => [row.oid, row]));
}

/** @param states those of the tables that the script has found, and before and after the statement */
function differences(
  { sql, notes }: DiffStatement,
  states: Readonly<Record<'tables' | 'before' | 'after', ReadonlyMap<string, TableState>>>,
): readonly string[] {
  const { tables, before, after } = states;
  const kept = [...after.values()].filter(({ oid }) => tables.has(oid));
  const written = kept.filter(({ oid, file }) => before.get(oid)!.file !== file);
  const scanned = kept.filter(({ oid, scans }) => before.get(oid)!.scans !== scans);
  const says = (effect: string): boolean => notes.some((note) => note.effect === effect);
  const problem = (is: boolean, text: string): readonly string[] => (is ? [`${text}: ${sql}`] : []);
  const isWritten = written.length > 0;
  // The files are those of tables, and a partitioned table can be without partitions for a while.
  const isWithoutRows =
    notes.some(({ text }) => text.startsWith('the partitions of ')) || sql.startsWith('ALTER INDEX');
  return [
    ...problem(isWritten && !says('REWRITES') && !sql.startsWith('REFRESH '), `rewrites ${names(written)}`),
    ...problem(!isWritten && says('REWRITES') && !isWithoutRows, 'does not rewrite'),
    ...(isOther({ sql, notes })
      ? []
      : [
          ...problem(scanned.length > 0 && !isWritten && !says('LOCKS'), `scans ${names(scanned)}`),
          ...problem(scanned.length === 0 && says('LOCKS'), 'does not scan'),
        ]),
  ];
}

const names = (tables: readonly TableState[]): string => tables.map(({ name }) => name).join(', ');

/** The counter of a small table is found by a scan, a validation holds no strong lock, and a missing default ends at the first row. */
function isOther({ sql, notes }: DiffStatement): boolean {
  const isWeak = /^(?:SELECT|REFRESH) /.test(sql) || sql.includes(' VALIDATE CONSTRAINT ');
  return isWeak || notes.some(({ text }) => text.endsWith('the column has no default'));
}
