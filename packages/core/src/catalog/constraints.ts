import type { Database } from '../postgres/port.ts';
import { constraintsSql } from './constraints.sql.ts';
import { parseConstraintComment } from './constraint-comment.ts';
import { queryCatalog } from './query-catalog.ts';
import { runInSlices } from './slices.ts';
import type { Steps } from './steps.ts';

/** A constraint of a table or domain, or a unique index. */
export interface Constraint {
  /** The columns that the constraint uses; empty for a domain. */
  readonly columns: readonly string[];
  /** The columns or parameters that its comment names in their place. */
  readonly fields: readonly string[];
  /** The text of its comment; null: none. */
  readonly message: string | null;
}

/** Constraints by `schema.relation.constraint`, those of domains by `schema.domain.constraint`. Not-null constraints: `schema.table..column`. */
export type Constraints = ReadonlyMap<string, Constraint>;

type Row = readonly (string | null)[];

/** Reads all constraints of a database, with their columns and comments. */
export async function readConstraints(database: Database): Promise<Constraints> {
  return runInSlices(decodeRows(await queryCatalog(database, constraintsSql, [])));
}

function* decodeRows(rows: readonly Row[]): Steps<Constraints> {
  const byOid = new Map(rows.map((row) => [row[0], row]));
  const constraints = new Map<string, Constraint>();
  for (const row of rows) {
    const [, , schema, relation, name, type, columnsJson = null] = row;
    const columns: readonly string[] = columnsJson === null ? [] : (JSON.parse(columnsJson) as readonly string[]);
    const comment = findComment(row, byOid);
    const { fields, message } = parseConstraintComment(comment ?? '');
    const key = type === 'n' ? `${schema}.${relation}..${columns[0]}` : `${schema}.${relation}.${name}`;
    constraints.set(key, { columns, fields, message: message === '' ? null : message });
    yield;
  }
  return constraints;
}

/** The comment on the constraint, or else on the one of a parent table. */
function findComment(row: Row, byOid: ReadonlyMap<string | null | undefined, Row>): string | null {
  const [, parent = null, , , , , , comment = null] = row;
  if (comment !== null || parent === null) return comment;
  const inherited = byOid.get(parent);
  return inherited === undefined ? null : findComment(inherited, byOid);
}
