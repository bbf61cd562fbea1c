import { displayIdentifier } from '../../catalog/quote.ts';
import type { TableName } from '../../catalog/table-name.ts';
import type { IdentityFacts, TableFacts } from './log-facts.ts';

/** Why a table cannot be published, or its changes cannot be read. */
export interface TableFault {
  readonly code: string;
  readonly message: string;
  /** The statement that mends it; null: none does. */
  readonly statement: string | null;
}

/** Returns the name of a table in SQL, with quotation marks where it needs them. */
export function sqlName({ schema, name }: TableName): string {
  return `${displayIdentifier(schema)}.${displayIdentifier(name)}`;
}

const unloggedKinds = { v: 'a view', m: 'a materialized view', f: 'a foreign table' } as const;

/** Returns why the log of PostgreSQL does not have the changes of a table, or null. */
export function findKindFault(table: TableFacts): TableFault | null {
  const { kind, partitionOf, persistence } = table;
  const name = sqlName(table);
  if (kind === null) return { code: 'no-table', message: `there is no table ${name}`, statement: null };
  if (kind === 'v' || kind === 'm' || kind === 'f') {
    const message = `${name} is ${unloggedKinds[kind]}, whose changes PostgreSQL does not log; name the table that has the rows`;
    return { code: 'not-logged', message, statement: null };
  }
  if (partitionOf !== null) {
    const message = `${name} is a partition; name the partitioned table ${partitionOf}`;
    return { code: 'partition', message, statement: null };
  }
  return persistence === 'p' ? null : describeUnlogged(table);
}

function describeUnlogged({ schema, name, persistence }: IdentityFacts): TableFault {
  const table = sqlName({ schema, name });
  if (persistence === 't')
    return {
      code: 'not-logged',
      message: `${table} is a temporary table, whose changes PostgreSQL does not log`,
      statement: null,
    };
  return {
    code: 'not-logged',
    message: `${table} is unlogged, so that PostgreSQL does not log its changes`,
    statement: `alter table ${table} set logged`,
  };
}

/** Returns why UPDATE and DELETE of a published table would fail, or null. */
export function findIdentityFault(table: TableFacts): TableFault | null {
  const { parts } = table;
  if (parts === null) return hasIdentity(table) ? null : describeMissingIdentity(table, table);
  const unlogged = parts.find(({ persistence }) => persistence !== 'p');
  if (unlogged !== undefined) return describeUnlogged(unlogged);
  const lacking = parts.find((part) => !hasIdentity(part));
  return lacking === undefined ? null : describeMissingIdentity(lacking, table);
}

function hasIdentity({ identity, identityColumns }: IdentityFacts): boolean {
  return identity === 'f' || identityColumns !== null;
}

function describeMissingIdentity(part: IdentityFacts, table: TableFacts): TableFault {
  const name = sqlName(part);
  const message = `${name} has no replica identity; once it is published, PostgreSQL refuses every UPDATE and DELETE of it (55000)`;
  return { code: 'no-identity', message, statement: suggestIdentity(part, table) };
}

function suggestIdentity(part: IdentityFacts, { usableIndex, primaryKey, parts }: TableFacts): string {
  const name = sqlName(part);
  if (primaryKey !== null) return `alter table ${name} replica identity default`;
  if (usableIndex !== null && parts === null)
    return `alter table ${name} replica identity using index ${displayIdentifier(usableIndex)}`;
  return `alter table ${name} add primary key (<columns>)`;
}

/** The columns that the publication has to have; null: all of them. */
export function neededColumns(table: TableFacts): readonly string[] | null {
  const members = [table, ...(table.parts ?? [])].filter((member) => hasIdentity(member));
  if (members.some(({ identity }) => identity === 'f')) return null;
  return [...new Set(members.flatMap(({ identityColumns }) => identityColumns ?? []))];
}
