import type { Database } from '../postgres/port.ts';
import type { Constraint, Constraints } from './constraint.ts';
import { constraintsSql } from './constraints.sql.ts';
import { parseConstraintComment } from './constraint-comment.ts';
import { queryCatalog } from './query-catalog.ts';
import { runInSlices } from './slices.ts';
import type { Steps } from './steps.ts';

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
