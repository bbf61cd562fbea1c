/** How `--online` does what would check or index all rows of a table that other sessions wait for. */
import { optionList } from '../ddl/sql-text.ts';
import type { Column, Constraint, IndexStructure, Table } from '../ddl/structure.ts';
import type { Note, OnlineForm, OnlineStep, Statement } from './change.ts';

const alterAll = ({ alter }: Table): string => alter.replace(' ONLY ', ' ');

function step(kind: OnlineStep['kind'], sql: string, notes: readonly Note[] = []): OnlineStep {
  return { kind, sql, notes };
}

/** The index is built without a lock that writers wait for. What reads and locks is not noted then. */
const withoutLocks = (notes: readonly Note[]): readonly Note[] => notes.filter(({ effect }) => effect !== 'LOCKS');

const hasLock = (notes: readonly Note[]): boolean => notes.some(({ effect }) => effect === 'LOCKS');

/** Returns the statements with the forms of an index of a table that remains: all of them come after the transaction. */
export function onlineIndex(statements: readonly Statement[]): readonly Statement[] {
  const [create, ...others] = statements;
  if (create === undefined || !hasLock(create.notes)) return statements;
  const sql = create.sql.replace(/^CREATE (UNIQUE )?INDEX /, 'CREATE $1INDEX CONCURRENTLY ');
  const build = step('build', sql, withoutLocks(create.notes));
  return [{ ...create, online: { before: [], within: [], after: [build] } }, ...others.map(afterTransaction)];
}

/** Moves a statement after the transaction. */
export function afterTransaction(statement: Statement): Statement {
  const { sql, notes } = statement;
  return { ...statement, online: { before: [], within: [], after: [step('change', sql, notes)] } };
}

/** Whether a statement creates what it creates after the transaction only. */
export function isAfterTransaction({ online }: Statement): boolean {
  return online !== undefined && online.within.length === 0;
}

export interface ConstraintPlace {
  readonly table: Table;
  /** The major version of the server. */
  readonly version: number;
  /** Whether a column is in the table before the script, and keeps its type. */
  readonly isKeptColumn: (name: string) => boolean;
  /** Whether the table comes to inherit, or to be a partition: it needs the checks of its parent, validated. */
  readonly isJoining: boolean;
  /** The qualified names of relations of the current schema. */
  readonly relations: ReadonlySet<string>;
}

/** @param statements the one that adds the constraint, and what follows it */
export function onlineConstraint(
  constraint: Constraint,
  place: ConstraintPlace,
  statements: readonly Statement[],
): readonly Statement[] {
  const [add, ...others] = statements;
  if (add === undefined || !hasLock(add.notes)) return statements;
  const online = formOf(constraint, place, add);
  if (online === null) return statements;
  const created = { ...add, online };
  return [created, ...(isAfterTransaction(created) ? others.map(afterTransaction) : others)];
}

function formOf(constraint: Constraint, place: ConstraintPlace, add: Statement): OnlineForm | null {
  const { type, name } = constraint;
  const { table, version } = place;
  const validate = step('validate', `${alterAll(table)} VALIDATE CONSTRAINT ${name}`, withoutLocks(add.notes));
  if (type === 'c' && place.isJoining) return null;
  if (type === 'c') return { before: [], within: [{ sql: `${add.sql} NOT VALID`, notes: [] }], after: [validate] };
  if (type === 'f') {
    // Before PostgreSQL 18, foreign keys of partitioned tables cannot be added without the check.
    if (table.isPartitioned && version < 18) return afterTransaction(add).online!;
    return { before: [], within: [], after: [step('change', `${add.sql} NOT VALID`), validate] };
  }
  return keyForm(constraint, place, add);
}

const identifier = String.raw`(?:"(?:[^"]|"")*"|[^"(),\s]+)`;
const list = String.raw`\(${identifier}(?:, ${identifier})*\)`;
const keyExpression = new RegExp(
  String.raw`^(?<type>PRIMARY KEY|UNIQUE)(?<nulls> NULLS NOT DISTINCT)? (?<columns>${list})(?<include> INCLUDE ${list})?(?<deferral>(?: DEFERRABLE)?(?: INITIALLY DEFERRED)?)$`,
  'u',
);

/**
 * The index of a key is built before the transaction, or after it when the script adds a column of it. Views can depend on primary
 * keys, which are created in the transaction.
 */
function keyForm(
  constraint: Constraint,
  { table, isKeptColumn, relations }: ConstraintPlace,
  add: Statement,
): OnlineForm | null {
  const { name, oid, definition } = constraint;
  const parts = keyExpression.exec(definition)?.groups;
  if (parts === undefined) return null;
  const { type, nulls = '', columns = '', include = '', deferral = '' } = parts;
  const names = `${columns}${include}`.match(new RegExp(identifier, 'gu'))!.filter((word) => word !== 'INCLUDE');
  const isPrepared = names.every(isKeptColumn);
  if (!isPrepared && type === 'PRIMARY KEY') return null;
  const isTaken = isPrepared && relations.has(`${schemaPrefix(table.name)}${name}`);
  const index = isTaken ? `pgscout_new_${oid}` : name;
  const attributes = `${columns}${include}${nulls}${storageOf(constraint)}`;
  const sql = `CREATE UNIQUE INDEX CONCURRENTLY ${index} ON ${table.name} USING btree ${attributes}`;
  const build = step('build', sql, withoutLocks(add.notes));
  const attach = `${alterAll(table)} ADD CONSTRAINT ${name} ${type} USING INDEX ${index}${deferral}`;
  return isPrepared
    ? { before: [build], within: [{ sql: attach, notes: [] }], after: [] }
    : { before: [], within: [], after: [build, step('change', attach)] };
}

function storageOf({ options, tablespace }: Constraint): string {
  const parameters = options === null ? '' : ` WITH (${optionList(options)})`;
  return tablespace === null ? parameters : `${parameters} TABLESPACE ${tablespace}`;
}

/** Returns the quoted schema of a qualified name, with its dot. */
function schemaPrefix(name: string): string {
  return /^(?:"(?:[^"]|"")*"|[^".]+)\./.exec(name)![0];
}

/** `SET NOT NULL` does not read the rows when a check has validated them. */
export function onlineNotNull(table: Table, column: Column, statement: Statement, before: Table): Statement {
  if (!hasLock(statement.notes)) return statement;
  const taken = new Set(before.constraints.map(({ plainName }) => plainName));
  let name = `pgscout_not_null_${column.number}`;
  while (taken.has(name)) name += '_';
  const alter = alterAll(table);
  return {
    ...statement,
    online: {
      before: [
        step('change', `${alter} ADD CONSTRAINT ${name} CHECK (${column.name} IS NOT NULL) NOT VALID`),
        step('validate', `${alter} VALIDATE CONSTRAINT ${name}`, withoutLocks(statement.notes)),
      ],
      within: [
        { sql: statement.sql, notes: [] },
        { sql: `${alter} DROP CONSTRAINT ${name}`, notes: [] },
      ],
      after: [],
    },
  };
}

/** A validation that is in the transaction would keep the locks of all statements before it. */
export function onlineValidation(statement: Statement): Statement {
  const { sql, notes } = statement;
  return { ...statement, online: { before: [], within: [], after: [step('validate', sql, notes)] } };
}

/** An index that is replaced has another name until the new one is built. */
export function onlineDrop(
  statement: Statement,
  { name }: IndexStructure,
  { isReplaced, oid }: { readonly isReplaced: boolean; readonly oid: string },
): Statement {
  const old = `pgscout_old_${oid}`;
  const within = isReplaced ? [{ sql: `ALTER INDEX ${name} RENAME TO ${old}`, notes: [] }] : [];
  const dropped = isReplaced ? `${schemaPrefix(name)}${old}` : name;
  const drop = step('remove', `DROP INDEX CONCURRENTLY ${dropped}`);
  return { ...statement, online: { before: [], within, after: [drop] } };
}
