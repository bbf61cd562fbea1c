/** `pgscout --inserts <table|query;…>`: rows as `INSERT` statements. */
import { escapeControlCharacters } from '@pgway/core/terminal';
import type { Client } from 'pg';
import { type DatabaseObject, readObjects } from '../catalog/objects.ts';
import { inSnapshot } from '../catalog/snapshot.ts';
import type { CommandContext } from '../command/command-context.ts';
import { CommandError, UsageError } from '../process/errors.ts';
import { selectObjects } from '../ddl/select-objects.ts';
import { visibleSql } from '../ddl/sql-text.ts';
import { isQuery, queryRows, type RowSource, splitSources, tableRows } from './row-source.ts';

const rowsAtOnce = 500;

export async function runInserts(context: CommandContext): Promise<number> {
  const { operands, withConnection } = context;
  const sources = splitSources(operands);
  if (sources.length === 0) throw new UsageError('--inserts: needs a table or a query, as in --inserts public.film');
  await withConnection(({ client }) =>
    inSnapshot(client, async () => {
      const objects = sources.every(isQuery) ? [] : await readObjects(client);
      // One cursor after the other.
      for (const source of sources) await printRows(context, client, await rowSources(client, objects, source));
    }),
  );
  return 0;
}

/** Stops when the reader of the output has closed it. */
async function printRows(
  { process: { stdout }, progress }: Pick<CommandContext, 'process' | 'progress'>,
  client: Client,
  sources: readonly RowSource[],
): Promise<void> {
  for (const source of sources) {
    let count = 0;
    const show = (): void => progress.show(`${source.target}: ${count.toLocaleString('en')} rows`);
    show();
    for await (const { text, rows } of insertStatements(client, source)) {
      if (!(await stdout.writeAll(text))) return;
      count += rows;
      show();
    }
  }
}

async function rowSources(
  client: Client,
  objects: readonly DatabaseObject[],
  source: string,
): Promise<readonly RowSource[]> {
  if (!isQuery(source)) return tablesOf(client, objects, source);
  // Names of a query are looked up as in psql.
  await client.query('set local search_path to default');
  return [await queryRows(client, source)];
}

/** Returns the tables and views of a name. */
async function tablesOf(
  client: Client,
  objects: readonly DatabaseObject[],
  name: string,
): Promise<readonly RowSource[]> {
  const relations = objects.filter(({ key, kind }) => key.startsWith('pg_class/') && kind !== 'SEQ');
  const { objects: found, missing } = selectObjects(relations, [name]);
  if (missing.length > 0) throw new CommandError(missing.join('\n'));
  const sources: RowSource[] = [];
  // One connection runs one query after the other.
  for (const table of found) sources.push(await tableRows(client, table));
  return sources;
}

/** A part of the output. */
interface Statements {
  readonly text: string;
  readonly rows: number;
}

/** Reads rows with a cursor, so that a large table does not fill the memory. */
async function* insertStatements(
  client: Client,
  { target, columns, sql, overriding }: RowSource,
): AsyncGenerator<Statements> {
  const literals = columns.map((_, index) => `pg_catalog.quote_nullable(r.c${index}::text)`);
  const names = columns.map((_, index) => `c${index}`).join(', ');
  await client.query(
    `declare pgscout_rows no scroll cursor for select array[${literals.join(', ')}] as row from (${sql}\n) r (${names})`,
  );
  yield { text: `-- ${escapeControlCharacters(target)}\n\n`, rows: 0 };
  const head = `INSERT INTO ${target} (${columns.join(', ')})${overriding}`;
  for (;;) {
    // The next rows follow.
    const { rows } = await client.query<{ row: readonly string[] }>(`fetch ${rowsAtOnce} from pgscout_rows`);
    if (rows.length === 0) break;
    const values = rows.map(({ row }) => `    (${row.join(', ')})`).join(',\n');
    yield { text: `${visibleSql(`${head}\nVALUES\n${values}`)};\n\n`, rows: rows.length };
  }
  await client.query('close pgscout_rows');
}
