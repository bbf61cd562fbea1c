/** The statements that change a column of a table that remains. */
import { compressions, identityText, storages } from '../ddl/definitions/columns.ts';
import { alterSequence } from './alter-sequence.ts';
import { plainStatements, type Statement } from './change.ts';
import { foreignOptionClauses, parameterClauses, quoteName } from './storage-options.ts';
import type { Column, Constraint, Identity } from '../ddl/structure.ts';

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
  readonly plainName: string;
  readonly takenNames: ReadonlySet<string>;
  /** The major version of the server. */
  readonly version: number;
  /** The last value of a sequence, by key. */
  readonly lastValues: ReadonlyMap<string, bigint>;
}

/** @param before the state after the type of the column has changed */
export function alterColumn(table: ColumnTable, before: ColumnState, after: ColumnState): readonly Statement[] {
  const { name } = after.column;
  const only = (clauses: readonly string[]): readonly Statement[] =>
    plainStatements(clauses.map((clause) => `${table.alter} ALTER COLUMN ${name} ${clause}`));
  const [old, wanted] = [before.column, after.column];
  return [
    ...plainStatements(
      expressionClauses(old, wanted).map((clause) => `${table.alterAll} ALTER COLUMN ${name} ${clause}`),
    ),
    ...only(defaultClauses(old, wanted)),
    ...plainStatements(notNullStatements(table, before, after)),
    ...identityStatements(table, before, after),
    ...only(settingClauses(old, wanted)),
  ];
}

function expressionClauses(before: Column, after: Column): readonly string[] {
  if (before.generated === '' || before.defaultText === after.defaultText) return [];
  return [after.generated === '' ? 'DROP EXPRESSION' : `SET EXPRESSION AS (${after.defaultText})`];
}

function defaultClauses(before: Column, after: Column): readonly string[] {
  const old = before.generated === '' ? before.defaultText : null;
  if (after.generated !== '' || old === after.defaultText) return [];
  return [after.defaultText === null ? 'DROP DEFAULT' : `SET DEFAULT ${after.defaultText}`];
}

/** Since PostgreSQL 18, the constraint has a name. */
function notNullStatements(table: ColumnTable, before: ColumnState, after: ColumnState): readonly string[] {
  const alter = `${table.alterAll} ALTER COLUMN ${after.column.name}`;
  const [old, wanted] = [before.notNull, after.notNull];
  const wasNotNull = before.column.isNotNull || old !== undefined;
  if (!after.column.isNotNull && wanted === undefined) return wasNotNull ? [`${alter} DROP NOT NULL`] : [];
  if (wasNotNull) return old === undefined || wanted === undefined ? [] : alterNotNull(table.alterAll, old, wanted);
  if (wanted === undefined || table.version < 18 || hasDefaultName(wanted, after.column, table)) {
    return [`${alter} SET NOT NULL`];
  }
  return [`${table.alterAll} ADD CONSTRAINT ${wanted.name} ${wanted.definition}`];
}

/** Whether `SET NOT NULL` creates the constraint. */
function hasDefaultName(
  { plainName, isValidated, isNoInherit }: Constraint,
  column: Column,
  table: ColumnTable,
): boolean {
  const byDefault = `${table.plainName}_${column.plainName}_not_null`;
  return plainName === byDefault && !table.takenNames.has(byDefault) && isValidated && !isNoInherit;
}

function alterNotNull(alterAll: string, before: Constraint, after: Constraint): readonly string[] {
  const { name, isNoInherit, isValidated } = after;
  return [
    ...(before.name === name ? [] : [`${alterAll} RENAME CONSTRAINT ${before.name} TO ${name}`]),
    ...(before.isNoInherit === isNoInherit
      ? []
      : [`${alterAll} ALTER CONSTRAINT ${name} ${isNoInherit ? 'NO INHERIT' : 'INHERIT'}`]),
    ...(!before.isValidated && isValidated ? [`${alterAll} VALIDATE CONSTRAINT ${name}`] : []),
  ];
}

const generatedTexts = { a: 'ALWAYS', d: 'BY DEFAULT' } as const;

function identityStatements(table: ColumnTable, before: ColumnState, after: ColumnState): readonly Statement[] {
  const { column, identity } = after;
  const old = before.identity;
  if (column.identity === '' || identity === undefined) return [];
  const alter = `${table.alter} ALTER COLUMN ${column.name}`;
  if (before.column.identity === '' || old === undefined) {
    const text = identityText(column, identity, `${table.plainName}_${column.plainName}_seq`);
    const note = 'the numbers of new rows begin at the start of the sequence, also if existing rows have them';
    return [{ sql: `${alter} ADD ${text}`, loss: null, note }];
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
