/** The statements that change a column of a table that remains. */
import { compressions, identityText, storages } from '../ddl/definitions/columns.ts';
import { alterSequence } from './alter-sequence.ts';
import { type Note, plainStatements, type Statement } from './change.ts';
import { counterStatements } from './counters.ts';
import { onlineNotNull, onlineValidation } from './online-forms.ts';
import { foreignOptionClauses, parameterClauses, quoteName } from './storage-options.ts';
import { failingExpression, locks, rewrites, violated } from './table-notes.ts';
import type { Column, Constraint, Identity, Table } from '../ddl/structure.ts';

/** A column with what other catalogs know of it. */
export interface ColumnState {
  readonly column: Column;
  readonly identity: Identity | undefined;
  /** The constraint of PostgreSQL 18. */
  readonly notNull: Constraint | undefined;
}

/** The names of the table, as in statements. */
export interface ColumnTable {
  /** `ALTER TABLE public.film`. */
  readonly alterAll: string;
  /** `ALTER TABLE ONLY public.film`. */
  readonly alter: string;
  readonly table: Table;
  /** The table as it is before all changes. */
  readonly former: Table;
  /** Whether a column is in the table before the script, and keeps its type. */
  readonly isKeptColumn: (name: string) => boolean;
  readonly takenNames: ReadonlySet<string>;
  /** The major version of the server. */
  readonly version: number;
  /** The last value of a sequence, by key. */
  readonly lastValues: ReadonlyMap<string, bigint>;
  /** The last values of the sequences that columns own, by qualified column. */
  readonly counters: ReadonlyMap<string, bigint>;
}

/** @param before the state after the type of the column has changed */
export function alterColumn(table: ColumnTable, before: ColumnState, after: ColumnState): readonly Statement[] {
  const { name } = after.column;
  const only = (clauses: readonly string[]): readonly Statement[] =>
    plainStatements(clauses.map((clause) => `${table.alter} ALTER COLUMN ${name} ${clause}`));
  const [old, wanted] = [before.column, after.column];
  return [
    ...expressionStatements(table, old, wanted),
    ...only(defaultClauses(old, wanted)),
    ...notNullStatements(table, before, after),
    ...identityStatements(table, before, after),
    ...only(settingClauses(old, wanted)),
  ];
}

function expressionStatements({ table, alterAll }: ColumnTable, before: Column, after: Column): readonly Statement[] {
  if (before.generated === '' || before.defaultText === after.defaultText) return [];
  const alter = `${alterAll} ALTER COLUMN ${after.name}`;
  if (after.generated === '') return plainStatements([`${alter} DROP EXPRESSION`]);
  const notes = after.generated === 's' && !table.isForeign ? [failingExpression, rewrites(table)] : [];
  return [{ sql: `${alter} SET EXPRESSION AS (${after.defaultText})`, notes }];
}

function defaultClauses(before: Column, after: Column): readonly string[] {
  const old = before.generated === '' ? before.defaultText : null;
  if (after.generated !== '' || old === after.defaultText) return [];
  return [after.defaultText === null ? 'DROP DEFAULT' : `SET DEFAULT ${after.defaultText}`];
}

/** Since PostgreSQL 18, the constraint has a name. */
function notNullStatements(table: ColumnTable, before: ColumnState, after: ColumnState): readonly Statement[] {
  const alter = `${table.alterAll} ALTER COLUMN ${after.column.name}`;
  const [old, wanted] = [before.notNull, after.notNull];
  const wasNotNull = before.column.isNotNull || old !== undefined;
  if (!after.column.isNotNull && wanted === undefined)
    return wasNotNull ? plainStatements([`${alter} DROP NOT NULL`]) : [];
  if (wasNotNull) return old === undefined || wanted === undefined ? [] : alterNotNull(table.alterAll, old, wanted);
  const notes = notNullNotes(table.table, after);
  const isUnnamed = wanted === undefined || table.version < 18 || hasDefaultName(wanted, after.column, table);
  const sql = isUnnamed
    ? `${alter} SET NOT NULL`
    : `${table.alterAll} ADD CONSTRAINT ${wanted.name} ${wanted.definition}`;
  if (!table.isKeptColumn(after.column.name)) return [{ sql, notes }];
  return [onlineNotNull(table.table, after.column, { sql, notes }, table.former)];
}

function notNullNotes(table: Table, { column, notNull }: ColumnState): readonly Note[] {
  if (table.isForeign || notNull?.isValidated === false) return [];
  return [
    { effect: 'FAILS IF', text: `a row has no value of ${column.name}` },
    locks(table.name, 'reads and writes', 'all rows are checked'),
  ];
}

/** Whether `SET NOT NULL` creates the constraint. */
function hasDefaultName(
  { plainName, isValidated, isNoInherit }: Constraint,
  column: Column,
  { table, takenNames }: ColumnTable,
): boolean {
  const byDefault = `${table.plainName}_${column.plainName}_not_null`;
  return plainName === byDefault && !takenNames.has(byDefault) && isValidated && !isNoInherit;
}

function alterNotNull(alterAll: string, before: Constraint, after: Constraint): readonly Statement[] {
  const { name, isNoInherit, isValidated } = after;
  return [
    ...plainStatements(before.name === name ? [] : [`${alterAll} RENAME CONSTRAINT ${before.name} TO ${name}`]),
    ...plainStatements(
      before.isNoInherit === isNoInherit
        ? []
        : [`${alterAll} ALTER CONSTRAINT ${name} ${isNoInherit ? 'NO INHERIT' : 'INHERIT'}`],
    ),
    ...(!before.isValidated && isValidated
      ? [onlineValidation({ sql: `${alterAll} VALIDATE CONSTRAINT ${name}`, notes: [violated(after)] })]
      : []),
  ];
}

const generatedTexts = { a: 'ALWAYS', d: 'BY DEFAULT' } as const;

function identityStatements(table: ColumnTable, before: ColumnState, after: ColumnState): readonly Statement[] {
  const { column, identity } = after;
  const old = before.identity;
  if (column.identity === '' || identity === undefined) return [];
  const alter = `${table.alter} ALTER COLUMN ${column.name}`;
  if (before.column.identity === '' || old === undefined) {
    const text = identityText(column, identity, `${table.table.plainName}_${column.plainName}_seq`);
    const counter = { sequence: identity, lastValue: table.counters.get(`${table.table.name}.${column.name}`) };
    return [...plainStatements([`${alter} ADD ${text}`]), ...counterStatements(table.table, column, counter)];
  }
  const isRenamed = old.plainName !== identity.plainName;
  const sequence = isRenamed ? identity.name : old.name;
  // The type of the sequence changes with that of the column.
  const sameType = { ...old, type: identity.type };
  return [
    ...plainStatements(
      before.column.identity === column.identity ? [] : [`${alter} SET GENERATED ${generatedTexts[column.identity]}`],
    ),
    ...plainStatements(isRenamed ? [`ALTER SEQUENCE ${old.name} RENAME TO ${quoteName(identity.plainName)}`] : []),
    ...alterSequence(sequence, sameType, identity, table.lastValues.get(`pg_class/${old.oid}`)),
  ];
}

function settingClauses(before: Column, after: Column): readonly string[] {
  const { storage, compression, statistics } = after;
  const byDefault = storages[after.typeStorage];
  return [
    ...(before.storage === storage ? [] : [`SET STORAGE ${storage === null ? byDefault : storages[storage]}`]),
    ...(before.compression === compression
      ? []
      : [`SET COMPRESSION ${compression === null ? 'DEFAULT' : compressions[compression]}`]),
    ...(before.statistics === statistics ? [] : [`SET STATISTICS ${statistics ?? -1}`]),
    ...parameterClauses(before.options, after.options),
    ...foreignOptionClauses(before.foreignOptions, after.foreignOptions),
  ];
}
