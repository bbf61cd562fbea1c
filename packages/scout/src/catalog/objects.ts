import type { Client } from 'pg';
import { readOmissions } from './omissions.ts';
import { noProgress, type Progress } from '../output/progress.ts';
import { largeObjectsSql, type ObjectKind, objectsSql, subscriptionsSql } from './objects.sql.ts';

/** An object of the database that has a definition of its own. */
export interface DatabaseObject {
  /** The catalog and the oid, as in `pg_class/16402`. */
  readonly key: string;
  readonly kind: ObjectKind;
  /** Null for an object outside of schemas. */
  readonly schema: string | null;
  /** The table of a trigger, policy or rule. */
  readonly table: string | null;
  /** The key of that table. */
  readonly tableKey: string | null;
  readonly name: string;
  /** The argument types of a routine, such as `(integer, text)`; otherwise empty. */
  readonly signature: string;
  /** The qualified name as in SQL, such as `public."Film".insert_film`. */
  readonly qualifiedName: string;
}

/** Reads the objects of the database, without those of PostgreSQL itself and of extensions, in the order of their kinds and names. */
export async function readObjects(client: Client, progress: Progress = noProgress): Promise<readonly DatabaseObject[]> {
  progress.show('reading the list of objects');
  const omitted = (await readOmissions(client)).map(({ kind }) => kind);
  const { rows } = await client.query<DatabaseObject>(objectsSql(!omitted.includes('DEFAULT PRIVILEGES')));
  if (omitted.includes('SUBSCRIPTION')) return rows;
  return [...rows, ...(await client.query<DatabaseObject>(subscriptionsSql)).rows];
}

/** Reads the large objects, of which a database can have millions: they are listed on request only. */
export async function readLargeObjects(client: Client): Promise<readonly DatabaseObject[]> {
  const { rows } = await client.query<DatabaseObject>(largeObjectsSql);
  return rows;
}

/** Returns the line of an object: its kind and qualified name. */
export function objectLine({ kind, qualifiedName }: { readonly kind: string; readonly qualifiedName: string }): string {
  return `${kind} ${qualifiedName}`;
}
