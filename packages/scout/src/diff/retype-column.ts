/** The statements that give a column another type. */
import type { Column, Constraint, Table } from '../ddl/structure.ts';
import { type Note, plainStatements, type Statement } from './change.ts';
import { type Conversion, type ConversionTypes, convert } from './conversion.ts';
import { columnAddress } from './elements.ts';
import { locks, retypedColumnNotes } from './table-notes.ts';

/** What a change of a table needs to know of the other objects. */
export interface TableSurroundings {
  readonly types: ConversionTypes;
  /** The keys of the defaults that give each row a value of its own, in the wanted schema. */
  readonly volatileDefaults: ReadonlySet<string>;
  /** The last values of the sequences that columns own now, by qualified column. */
  readonly counters: ReadonlyMap<string, bigint>;
  readonly indexUse: IndexUse;
  /** The qualified names of the relations, types and other objects of the current schema. */
  readonly relations: ReadonlySet<string>;
  /** Whether the column of the address is text since its values are unpacked. */
  readonly isText: (address: string) => boolean;
  /** Whether the rows have had the same constraint, with values that are the same. */
  readonly isKept: (constraint: Constraint, table: Table) => boolean;
}

/** The addresses of the columns that indexes use. */
export interface IndexUse {
  readonly any: ReadonlySet<string>;
  readonly unique: ReadonlySet<string>;
}

interface RetypedColumn {
  readonly table: Table;
  readonly before: Column;
  readonly after: Column;
}

export function retypeColumn(column: RetypedColumn, surroundings: TableSurroundings): readonly Statement[] {
  const { table, before, after } = column;
  const { name, type, collation } = after;
  if (surroundings.isText(columnAddress(before)) && type === 'text' && collation === null) return [];
  const isCollation = before.type === type && (before.collation !== null || collation !== null);
  const conversion = convert({ name, from: before.type, to: type, isCollation }, surroundings.types);
  const collate = collation === null ? '' : ` COLLATE ${collation}`;
  const sql = `${table.alter.replace(' ONLY ', ' ')} ALTER COLUMN ${name} TYPE ${type}${collate}`;
  if (table.isForeign) return plainStatements([sql]);
  return [
    ...plainStatements(conversion.setup),
    { sql: `${sql} USING ${conversion.expression}`, notes: notesOf(column, conversion, surroundings) },
    ...plainStatements(conversion.teardown),
  ];
}

function notesOf(
  { table, before, after }: RetypedColumn,
  conversion: Conversion,
  { indexUse }: TableSurroundings,
): readonly Note[] {
  const { name, type: to, collation } = after;
  const address = columnAddress(before);
  // Without other values, only another order needs other indexes.
  const isSorted = before.collation !== collation || (before.type === to && collation !== null);
  const rebuildsIndexes = isSorted && !conversion.rewrites && indexUse.any.has(address);
  return [
    ...retypedColumnNotes(table, { name, from: before.type, to, isKeyed: indexUse.unique.has(address) }, conversion),
    ...(rebuildsIndexes ? [locks(table.name, 'reads and writes', `the indexes on ${name} are built`)] : []),
  ];
}
