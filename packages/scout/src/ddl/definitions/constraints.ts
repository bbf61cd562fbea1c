/** Constraints and indexes of tables. */
import { createItem, type Item, type Part } from '../item.ts';
import { optionList } from '../sql-text.ts';
import type { Column, ConstrainedTable, Constraint, Table } from '../structure.ts';

const usesIndex = ({ type }: Constraint): boolean => type === 'p' || type === 'u' || type === 'x';

/** Whether the constraint is inherited as a whole, so that the parent defines it. */
export function isOfParent({ type, isLocal, isClone }: Constraint, { isPartition }: ConstrainedTable): boolean {
  if (type === 'f') return isClone;
  return (type === 'c' || type === 'n') && !isLocal && !isPartition;
}

/** Whether `CREATE TABLE` can have the constraint. There, it would be valid at once. */
export function isInline(constraint: Constraint, table: ConstrainedTable): boolean {
  const { type, isValidated, isEnforced } = constraint;
  if (type === 'c') return isValidated || !isEnforced;
  return usesIndex(constraint) && !table.isPartition && !table.isPartitioned;
}

/** Whether `CREATE TABLE` would merge the constraint with an earlier one, as both have one index definition. */
export function isEqualToEarlierKey(constraint: Constraint, { constraints }: Pick<Table, 'constraints'>): boolean {
  if (!usesIndex(constraint)) return false;
  // PostgreSQL creates the primary key first.
  const keys = constraints
    .filter(usesIndex)
    .toSorted((left, right) => Number(right.type === 'p') - Number(left.type === 'p'));
  return keys.slice(0, keys.indexOf(constraint)).some((earlier) => indexText(earlier) === indexText(constraint));
}

function indexText({ definition }: Constraint): string {
  return definition.replace(/^(?:PRIMARY KEY|UNIQUE)/, '');
}

/** Returns `CONSTRAINT name CHECK (…)`. */
export function constraintText({ name, definition, options, tablespace }: Constraint): string {
  // `pg_get_constraintdef` leaves out the storage of the index, which comes before the attributes.
  const storage = [
    ...(options === null ? [] : [` WITH (${optionList(options)})`]),
    ...(tablespace === null ? [] : [` USING INDEX TABLESPACE ${tablespace}`]),
  ].join('');
  if (storage === '') return `CONSTRAINT ${name} ${definition}`;
  const attributes = /(?: WHERE \([^]*\))?(?: DEFERRABLE)?(?: INITIALLY DEFERRED)?$/.exec(definition)!;
  return `CONSTRAINT ${name} ${definition.slice(0, attributes.index)}${storage}${attributes[0]}`;
}

/** Checks can be added later. */
export function checkParts(alterTable: string, constraints: readonly Constraint[]): readonly Part[] {
  return constraints
    .filter(({ type }) => type === 'c')
    .map((check) => ({ key: constraintKey(check), statements: [`${alterTable} ADD ${constraintText(check)}`] }));
}

export function constraintKey({ oid }: Constraint): string {
  return `pg_constraint/${oid}`;
}

/** Returns the catalog rows of a constraint, with their targets of comments. */
export function constraintAddresses(constraint: Constraint, table: string): Item['addresses'] {
  const own = { key: constraintKey(constraint), target: `CONSTRAINT ${constraint.name} ON ${table}` };
  return usesIndex(constraint)
    ? [own, { key: `pg_class/${constraint.index}`, target: `INDEX ${constraint.indexName}` }]
    : [own];
}

/** Returns what follows the creation of an index or of its constraint. */
export function indexUses(
  table: string,
  index: {
    readonly isClustered: boolean | null;
    readonly isReplicaIdentity: boolean | null;
    readonly plainName: string;
  },
  isOfMaterializedView: boolean = false,
): readonly string[] {
  const { isClustered, isReplicaIdentity, plainName } = index;
  return [
    ...(isClustered === true
      ? [`ALTER ${isOfMaterializedView ? 'MATERIALIZED VIEW' : 'TABLE'} ${table} CLUSTER ON ${plainName}`]
      : []),
    ...(isReplicaIdentity === true ? [`ALTER TABLE ONLY ${table} REPLICA IDENTITY USING INDEX ${plainName}`] : []),
  ];
}

/** Returns the item of a constraint that is not in `CREATE TABLE`. */
export function constraintItem(constraint: Constraint, table: ConstrainedTable): Item {
  const [own, ...others] = constraintAddresses(constraint, table.name);
  const isForeignKeyOfParent = constraint.type === 'f' && table.isPartitioned;
  const only = isForeignKeyOfParent ? '' : 'ONLY ';
  const kind = table.isForeign ? 'FOREIGN TABLE' : 'TABLE';
  return createItem({
    key: own!.key,
    target: own!.target,
    object: table.key,
    structure: { kind: 'constraint', constraint },
    drop: [`ALTER ${kind} ${table.name} DROP CONSTRAINT ${constraint.name}`],
    addresses: others,
    requires: [table.key, ...table.attachKeys],
    statements: [
      `ALTER ${kind} ${only}${table.name} ADD ${constraintText(constraint)}`,
      ...indexUses(table.name, { ...constraint, plainName: constraint.name }),
    ],
  });
}

/** Returns the item that makes an index a part of the index of the parent. */
export function attachIndexItem(
  index: { readonly oid: string; readonly name: string; readonly parent: string; readonly parentName: string },
  table: string,
): Item {
  return createItem({
    key: `attach/${index.oid}`,
    object: table,
    part: `attached index ${index.name}`,
    requires: [`pg_class/${index.oid}`, `pg_class/${index.parent}`, `attach/${table.slice(table.indexOf('/') + 1)}`],
    statements: [`ALTER INDEX ${index.parentName} ATTACH PARTITION ${index.name}`],
  });
}

/** Returns `NOT NULL`, with the name of the constraint unless it is the one that PostgreSQL chooses. */
export function notNullText(column: Column, constraint: Constraint | undefined, table: ConstrainedTable): string {
  // Before PostgreSQL 18, it is a property of the column.
  if (constraint === undefined) return column.isNotNull && !isNotNullByParent(column, table) ? 'NOT NULL' : '';
  if (isOfParent(constraint, table) || !constraint.isValidated) return '';
  const byDefault = `${table.plainName}_${column.plainName}_not_null`;
  const isFree = Buffer.byteLength(byDefault) < maxNameBytes && table.takenNames?.has(byDefault) !== true;
  const isDefault = constraint.plainName === byDefault && isFree;
  return `${isDefault ? '' : `CONSTRAINT ${constraint.name} `}NOT NULL${constraint.isNoInherit ? ' NO INHERIT' : ''}`;
}

const maxNameBytes = 64;

function isNotNullByParent(
  { isInherited, isLocal, parentIsNotNull }: Column,
  { isPartition }: ConstrainedTable,
): boolean {
  return isInherited && !isLocal && parentIsNotNull && !isPartition;
}
