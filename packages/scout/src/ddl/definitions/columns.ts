/** Columns of tables: their text in `CREATE TABLE`, and what follows it. */
import type { Part } from '../item.ts';
import { type ObjectGrants, objectGrants } from '../privileges.ts';
import { foreignOptions, optionList } from '../sql-text.ts';
import { sequenceOptions } from './sequence-options.ts';
import type { Column, Compression, Identity, Storage } from '../structure.ts';

export const storages: Readonly<Record<Storage, string>> = { p: 'PLAIN', e: 'EXTERNAL', m: 'MAIN', x: 'EXTENDED' };
export const compressions: Readonly<Record<Compression, string>> = { p: 'pglz', l: 'lz4' };

/** The text of a column, without its default when that is separate. */
export function columnText(column: Column, notNull: string, identity: string, separate: ReadonlySet<string>): string {
  const isSeparate = column.defaultOid !== null && separate.has(defaultKey(column));
  return [
    `${column.name} ${column.type}${column.foreignOptions === null ? '' : foreignOptions(column.foreignOptions)}`,
    ...(column.collation === null ? [] : [`COLLATE ${column.collation}`]),
    ...(isSeparate ? [] : defaultText(column)),
    ...(identity === '' ? [] : [identity]),
    ...(notNull === '' ? [] : [notNull]),
  ].join(' ');
}

export function defaultKey({ defaultOid }: Column): string {
  return `pg_attrdef/${defaultOid}`;
}

export function defaultText({ generated, defaultText: text }: Column): readonly string[] {
  if (text === null) return [];
  if (generated === '') return [`DEFAULT ${text}`];
  return [`GENERATED ALWAYS AS (${text}) ${generated === 's' ? 'STORED' : 'VIRTUAL'}`];
}

/** Returns the defaults that can be set later. Generated columns cannot be. */
export function defaultParts(alterTable: string, columns: readonly Column[]): readonly Part[] {
  return columns
    .filter(({ defaultText: text, generated }) => text !== null && generated === '')
    .map((column) => ({
      key: defaultKey(column),
      statements: [`${alterTable} ALTER COLUMN ${column.name} SET DEFAULT ${column.defaultText}`],
    }));
}

/** Returns `GENERATED … AS IDENTITY` with the options that are not those of a new sequence. */
export function identityText(
  column: Pick<Column, 'identity' | 'type'>,
  identity: Omit<Identity, 'oid' | 'table' | 'column' | 'isUnlogged' | 'privileges'> | undefined,
  defaultName: string,
): string {
  if (column.identity === '' || identity === undefined) return '';
  const named = identity.plainName === defaultName ? [] : [`SEQUENCE NAME ${identity.name}`];
  const options = [...named, ...sequenceOptions({ ...identity, type: column.type }, column.type)].join(' ');
  return `GENERATED ${column.identity === 'a' ? 'ALWAYS' : 'BY DEFAULT'} AS IDENTITY${options === '' ? '' : ` (${options})`}`;
}

/** Returns the settings of a column that `CREATE TABLE` does not take in every version. */
export function columnSettings(alterTable: string, column: Column): readonly string[] {
  const alter = `${alterTable} ALTER COLUMN ${column.name}`;
  const { storage, compression, statistics, options } = column;
  return [
    ...(storage === null ? [] : [`${alter} SET STORAGE ${storages[storage]}`]),
    ...(compression === null ? [] : [`${alter} SET COMPRESSION ${compressions[compression]}`]),
    ...(statistics === null ? [] : [`${alter} SET STATISTICS ${statistics}`]),
    ...(options === null ? [] : [`${alter} SET (${optionList(options)})`]),
  ];
}

export function columnGrants(table: string, column: Column): readonly ObjectGrants[] {
  return objectGrants(`TABLE ${table}`, column.privileges, column.name);
}
