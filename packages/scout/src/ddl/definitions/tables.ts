/** Tables, partitioned tables, partitions and foreign tables, with columns, constraints and indexes. */
import { groupBy } from '@pgway/core/internal';
import type { CatalogSource } from '../catalog-source.ts';
import { createItem, type Item } from '../item.ts';
import { objectGrants, ownerStatements } from '../privileges.ts';
import { foreignOptions, optionList } from '../sql-text.ts';
import { triggerStates } from './trigger-state.ts';
import {
  columnGrants,
  columnSettings,
  columnText,
  defaultKey,
  defaultParts,
  defaultText,
  identityText,
} from './columns.ts';
import {
  attachIndexItem,
  checkParts,
  constraintAddresses,
  constraintItem,
  constraintKey,
  constraintText,
  indexUses,
  isEqualToEarlierKey,
  isInline,
  isOfParent,
  notNullText,
} from './constraints.ts';
import { readIndexes } from './indexes.ts';
import { clonedTriggersSql, columnsSql, constraintsSql, identitySql, tablesSql } from './tables.sql.ts';
import type { Column, Constraint, Identity, Table, TableRow } from '../structure.ts';

export async function readTables(source: CatalogSource): Promise<readonly Item[]> {
  const rows = await source.read<TableRow>('pg_class', tablesSql);
  const columns = groupByTable(await source.read<Column>('pg_class', columnsSql(source.version, 'rpf')));
  const constraints = groupByTable(await source.read<Constraint>('pg_class', constraintsSql(source.version)));
  const identities = groupByTable(await source.read<Identity>('pg_class', identitySql));
  const tables = rows.map((row): Table => {
    const isForeign = row.kind === 'f';
    return {
      row,
      key: `pg_class/${row.oid}`,
      name: row.name,
      plainName: row.plainName,
      alter: `ALTER ${isForeign ? 'FOREIGN TABLE' : 'TABLE'} ONLY ${row.name}`,
      isPartition: row.isPartition,
      isPartitioned: row.kind === 'p',
      isForeign,
      attachKeys: row.partitions.map((oid) => `attach/${oid}`),
      columns: columns.get(row.oid) ?? [],
      constraints: constraints.get(row.oid) ?? [],
      identities: identities.get(row.oid) ?? [],
    };
  });
  const attachKeys = new Map(tables.map(({ row, attachKeys: keys }) => [row.oid, keys]));
  return [
    ...tables.flatMap(tableItems),
    ...(await readIndexes(source, attachKeys)),
    ...(await readClonedTriggers(source)),
  ];
}

function groupByTable<Row extends { readonly table: string }>(
  rows: readonly Row[],
): ReadonlyMap<string, readonly Row[]> {
  return groupBy(rows, ({ table }) => table);
}

function tableItems(table: Table): readonly Item[] {
  const { constraints, row, key } = table;
  const separate = constraints.filter((constraint) => isSeparate(constraint, table));
  return [
    tableItem(table),
    ...separate.map((constraint) => constraintItem(constraint, table)),
    ...(row.isPartition ? [attachItem(table)] : []),
    ...constraints
      .filter(({ parentIndex }) => parentIndex !== null)
      .map(({ index: oid, indexName, parentIndex, parentIndexName }) =>
        attachIndexItem({ oid, name: indexName!, parent: parentIndex!, parentName: parentIndexName! }, key),
      ),
  ];
}

function isSeparate(constraint: Constraint, table: Table): boolean {
  if (isOfParent(constraint, table)) return false;
  if (constraint.type === 'n') return !constraint.isValidated || isOfInheritedColumn(constraint, table);
  return !isInline(constraint, table) || isEqualToEarlierKey(constraint, table);
}

/** A column that only the parent defines has no place for a constraint. */
function isOfInheritedColumn({ column }: Constraint, { columns, isPartition }: Table): boolean {
  return !isPartition && columns.some(({ number, isLocal }) => number === column && !isLocal);
}

function tableItem(table: Table): Item {
  const { row, key, constraints, columns, identities } = table;
  const kind = table.isForeign ? 'FOREIGN TABLE' : 'TABLE';
  const inline = constraints.filter((constraint) => !isOfParent(constraint, table) && !isSeparate(constraint, table));
  const checks = inline.filter(({ type }) => type === 'c');
  return createItem({
    key,
    target: `${kind} ${row.name}`,
    structure: { kind: 'table', table, inline },
    addresses: [
      { key: `pg_type/${row.rowType}`, target: null },
      ...columns
        .filter(({ defaultOid }) => defaultOid !== null)
        .map((column) => ({ key: defaultKey(column), target: null })),
      ...inline.flatMap((constraint) => constraintAddresses(constraint, row.name)),
      ...constraints
        .filter(({ type, isLocal }) => type === 'n' || (type === 'c' && !isLocal))
        .flatMap((constraint) =>
          inline.includes(constraint) || isSeparate(constraint, table) ? [] : constraintAddresses(constraint, row.name),
        ),
      ...identities.map(({ oid, name }) => ({ key: `pg_class/${oid}`, target: `SEQUENCE ${name}` })),
    ],
    parts: [
      ...defaultParts(
        table.alter,
        columns.filter((column) => isWritten(column, table)),
      ),
      ...checkParts(table.alter, checks),
    ],
    statements: (separate) => tableStatements(table, inline, separate),
    owner: ownerStatements(`${kind} ${row.name}`, row.owner),
    grants: [
      ...objectGrants(`TABLE ${row.name}`, row.privileges),
      ...columns.flatMap((column) => columnGrants(row.name, column)),
      ...identities.flatMap(({ name, privileges }) => objectGrants(`SEQUENCE ${name}`, privileges)),
    ],
  });
}

/** Returns the statements that create a table, without the parts that are separate. */
export function tableStatements(
  table: Table,
  inline: readonly Constraint[],
  separate: ReadonlySet<string>,
): readonly string[] {
  return [createStatement(table, inline, separate), ...alterStatements(table, inline)];
}

/** Inherited columns are those of the parents; a partition is created as a table and attached. */
function isWritten({ isLocal }: Column, { row, isPartition }: Table): boolean {
  return isPartition || row.parents.length === 0 || isLocal;
}

function createStatement(table: Table, inline: readonly Constraint[], separate: ReadonlySet<string>): string {
  const { row, isPartition } = table;
  const lines = [
    ...columnLines(table, separate),
    ...inline
      .filter((constraint) => constraint.type !== 'n' && !separate.has(constraintKey(constraint)))
      .map(constraintText),
  ];
  const persistence = row.isUnlogged ? 'UNLOGGED ' : row.kind === 'f' ? 'FOREIGN ' : '';
  return [
    `CREATE ${persistence}TABLE ${row.name}${tableBody(row, lines)}`,
    ...(row.parents.length > 0 && !isPartition ? [`INHERITS (${row.parents.join(', ')})`] : []),
    ...clause('PARTITION BY', row.partitionKey),
    ...(row.server === null ? [] : [`SERVER ${row.server}${foreignOptions(row.foreignOptions)}`]),
    ...clause('USING', row.accessMethod),
    ...storageText(row),
    ...clause('TABLESPACE', row.tablespace),
  ].join('\n');
}

function clause(keyword: string, text: string | null): readonly string[] {
  return text === null ? [] : [`${keyword} ${text}`];
}

function columnLines(table: Table, separate: ReadonlySet<string>): readonly string[] {
  const { row, columns } = table;
  if (row.ofType !== null) return columns.flatMap((column) => typedColumnLine(table, column, separate));
  return columns.filter((column) => isWritten(column, table)).map((column) => columnLine(table, column, separate));
}

/** A typed table without further properties has no parentheses. */
function tableBody({ ofType }: TableRow, lines: readonly string[]): string {
  const type = ofType === null ? '' : ` OF ${ofType}`;
  if (lines.length > 0) return `${type} (\n${lines.map((line) => `    ${line}`).join(',\n')}\n)`;
  return ofType === null ? ' ()' : type;
}

function storageText({ options, toastOptions }: TableRow): readonly string[] {
  const all = [
    ...(options === null ? [] : [optionList(options)]),
    ...(toastOptions === null ? [] : [optionList(toastOptions, 'toast.')]),
  ];
  return all.length === 0 ? [] : [`WITH (${all.join(', ')})`];
}

export function notNullOf(table: Table, column: Column): string {
  const constraint = table.constraints.find(({ type, column: number }) => type === 'n' && number === column.number);
  return notNullText(column, constraint, table);
}

function columnLine(table: Table, column: Column, separate: ReadonlySet<string>): string {
  const identity = table.identities.find(({ column: number }) => number === column.number);
  const identityClause = identityText(column, identity, `${table.plainName}_${column.plainName}_seq`);
  const isOfParent = column.hasExpressionOfParent && !table.isPartition;
  const written = isOfParent ? { ...column, defaultText: null } : column;
  return columnText(written, notNullOf(table, column), identityClause, separate);
}

/** A column of a typed table has its type from there. */
function typedColumnLine(table: Table, column: Column, separate: ReadonlySet<string>): readonly string[] {
  const isDefaultSeparate = column.defaultOid !== null && separate.has(defaultKey(column));
  const options = [...(isDefaultSeparate ? [] : defaultText(column)), notNullOf(table, column)].filter(
    (text) => text !== '',
  );
  return options.length === 0 ? [] : [`${column.name} WITH OPTIONS ${options.join(' ')}`];
}

/** Returns the statement for a sequence of an identity column that is not logged as it is now. */
export function identityPersistence({ name, isUnlogged }: Identity, wasUnlogged: boolean): readonly string[] {
  return isUnlogged === wasUnlogged ? [] : [`ALTER SEQUENCE ${name} SET ${isUnlogged ? 'UNLOGGED' : 'LOGGED'}`];
}

export const replicaIdentities = { d: null, n: 'NOTHING', f: 'FULL', i: null } as const;

function alterStatements(table: Table, inline: readonly Constraint[]): readonly string[] {
  const { row, alter, columns } = table;
  const replicaIdentity = table.isForeign ? null : replicaIdentities[row.replicaIdentity];
  const inherits = row.parents.length > 0 && !table.isPartition;
  return [
    ...(inherits ? columns.flatMap((column) => inheritedColumnStatements(table, column)) : []),
    ...columns.flatMap((column) => columnSettings(alter, column)),
    ...inline.flatMap((constraint) => indexUses(row.name, { ...constraint, plainName: constraint.name })),
    ...table.identities.flatMap((identity) => identityPersistence(identity, row.isUnlogged)),
    ...(replicaIdentity === null ? [] : [`${alter} REPLICA IDENTITY ${replicaIdentity}`]),
    ...(row.hasRowSecurity ? [`ALTER TABLE ${row.name} ENABLE ROW LEVEL SECURITY`] : []),
    ...(row.forcesRowSecurity ? [`ALTER TABLE ONLY ${row.name} FORCE ROW LEVEL SECURITY`] : []),
  ];
}

/** Returns what an inherited column has in place of the properties of the parent. */
function inheritedColumnStatements({ alter, constraints }: Table, column: Column): readonly string[] {
  const { name, isInherited, isLocal, generated, defaultText: text, parentHasDefault } = column;
  if (!isInherited || generated !== '') return [];
  const hasConstraint = constraints.some(({ type, column: number }) => type === 'n' && number === column.number);
  const needsNotNull = !isLocal && column.isNotNull && !column.parentIsNotNull && !hasConstraint;
  return [
    ...(text !== null && !isLocal ? [`${alter} ALTER COLUMN ${name} SET DEFAULT ${text}`] : []),
    ...(text === null && parentHasDefault ? [`${alter} ALTER COLUMN ${name} DROP DEFAULT`] : []),
    ...(needsNotNull ? [`${alter} ALTER COLUMN ${name} SET NOT NULL`] : []),
  ];
}

function attachItem({ row, key }: Table): Item {
  return createItem({
    key: `attach/${row.oid}`,
    object: key,
    part: 'partition',
    structure: { kind: 'attached partition', parent: row.parents[0]! },
    drop: [`ALTER TABLE ${row.parents[0]} DETACH PARTITION ${row.name}`],
    // A partition takes the identity columns of the table to which it is attached, so that the upper levels come first.
    requires: [key, ...row.parentOids.flatMap((oid) => [`pg_class/${oid}`, `attach/${oid}`])],
    statements: [`ALTER TABLE ONLY ${row.parents[0]} ATTACH PARTITION ${row.name} ${row.bound}`],
  });
}

interface ClonedTrigger {
  readonly oid: string;
  readonly table: string;
  readonly name: string;
  /** The trigger of the partitioned table, and the attachments of the table and of those above it. */
  readonly requires: readonly string[];
  readonly tableName: string;
  readonly state: keyof typeof triggerStates;
}

async function readClonedTriggers(source: CatalogSource): Promise<readonly Item[]> {
  const rows = await source.read<ClonedTrigger>('pg_class', clonedTriggersSql);
  return rows.map(({ oid, table, requires, name, tableName, state }) =>
    createItem({
      key: `pg_trigger/${oid}`,
      object: `pg_class/${table}`,
      part: `state of trigger ${name}`,
      drop: [`ALTER TABLE ${tableName} ENABLE TRIGGER ${name}`],
      requires,
      statements: [`ALTER TABLE ${tableName} ${triggerStates[state]} TRIGGER ${name}`],
    }),
  );
}
