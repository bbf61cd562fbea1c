/** The rows of a table or query, and the table into which they are inserted. */
import type { Client } from 'pg';
import type { DatabaseObject } from '../catalog/objects.ts';

export interface RowSource {
  /** The qualified name of the table. */
  readonly target: string;
  /** Quoted. */
  readonly columns: readonly string[];
  readonly sql: string;
  /** ` OVERRIDING SYSTEM VALUE` for values of identity columns. */
  readonly overriding: string;
}

/** Splits at semicolons outside of quotes. */
export function splitSources(texts: readonly string[]): readonly string[] {
  return texts
    .flatMap((text) => text.match(/(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|[^;'"]|['"])+/g) ?? [])
    .map((source) => source.trim())
    .filter((source) => source !== '');
}

export function isQuery(text: string): boolean {
  return /^(select|with|values|table)\b/i.test(text.trim());
}

/** Generated columns are left out: their values cannot be inserted. */
const columnsSql = `
select quote_ident(a.attname) as name, a.attidentity = 'a' as "isIdentity"
from pg_catalog.pg_attribute a
where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum`;

export async function tableRows(client: Client, { key, qualifiedName }: DatabaseObject): Promise<RowSource> {
  const { rows } = await client.query<{ name: string; isIdentity: boolean }>(columnsSql, [
    key.slice('pg_class/'.length),
  ]);
  const columns = rows.map(({ name }) => name);
  return {
    target: qualifiedName,
    columns,
    sql: `select ${columns.join(', ')} from ${qualifiedName}`,
    overriding: rows.some(({ isIdentity }) => isIdentity) ? ' OVERRIDING SYSTEM VALUE' : '',
  };
}

const sourceSql = `
select format('%I.%I', n.nspname, c.relname) as name, exists (select from pg_catalog.pg_attribute a
  where a.attrelid = c.oid and a.attidentity = 'a') as "hasIdentity"
from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = $1`;

/** The target of a query is the only table of its columns, otherwise a table `result`. */
export async function queryRows(client: Client, sql: string): Promise<RowSource> {
  // A statement with a limit of no rows describes the columns.
  const { fields } = await client.query(`select * from (${sql}\n) r limit 0`);
  const tables = [...new Set(fields.map(({ tableID }) => tableID).filter((table) => table !== 0))];
  const names = await client.query<{ names: string[] }>(
    'select array(select quote_ident(n) from unnest($1::text[]) n) as names',
    [fields.map(({ name }) => name)],
  );
  const table =
    tables.length === 1
      ? (await client.query<{ name: string; hasIdentity: boolean }>(sourceSql, tables)).rows[0]
      : undefined;
  return {
    target: table?.name ?? 'result',
    columns: names.rows[0]!.names,
    sql,
    overriding: table?.hasIdentity === true ? ' OVERRIDING SYSTEM VALUE' : '',
  };
}
