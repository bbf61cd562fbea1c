/** Columns of tables: their text in `CREATE TABLE`, and what follows it. */
import type { Part } from '../item.ts';
import { type ObjectGrants, objectGrants, type Privileges } from '../privileges.ts';
import { foreignOptions, optionList } from '../sql-text.ts';
import { sequenceOptions, type SequenceOptions } from './sequence-options.ts';

export interface Column {
  readonly table: string;
  readonly number: number;
  readonly name: string;
  readonly plainName: string;
  readonly type: string;
  readonly isNotNull: boolean;
  readonly isLocal: boolean;
  readonly isInherited: boolean;
  readonly collation: string | null;
  readonly identity: '' | 'a' | 'd';
  readonly generated: '' | 's' | 'v';
  readonly defaultOid: string | null;
  readonly defaultText: string | null;
  readonly storage: keyof typeof storages | null;
  readonly typeStorage: keyof typeof storages;
  readonly compression: keyof typeof compressions | null;
  readonly statistics: number | null;
  readonly options: readonly string[] | null;
  readonly foreignOptions: readonly string[] | null;
  readonly parentHasDefault: boolean;
  readonly parentIsNotNull: boolean;
  readonly privileges: Privileges | null;
}

export interface Identity extends SequenceOptions {
  readonly table: string;
  readonly column: number;
  readonly oid: string;
  readonly name: string;
  readonly plainName: string;
  readonly isUnlogged: boolean;
  readonly privileges: Privileges | null;
}

export const storages = { p: 'PLAIN', e: 'EXTERNAL', m: 'MAIN', x: 'EXTENDED' } as const;
export const compressions = { p: 'pglz', l: 'lz4' } as const;

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
export function identityText(column: Column, identity: Identity | undefined, defaultName: string): string {
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
