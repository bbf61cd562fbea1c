/** Sequences that are created for columns with rows go on after the numbers that are in use. */
import { type SequenceOptions, typeLimit } from '../ddl/definitions/sequence-options.ts';
import { quoteLiteral } from '../ddl/sql-text.ts';
import type { Column, Table } from '../ddl/structure.ts';
import { type Note, notedStatements, type Statement } from './change.ts';
import type { Schema } from './read-schema.ts';
import { locks } from './table-notes.ts';

export interface Counter {
  readonly sequence: SequenceOptions & { readonly name: string };
  /** The last value of the sequence that the new one replaces. */
  readonly lastValue: bigint | undefined;
}

/** Returns the statement that sets a new sequence to the last number; empty tables leave it at its start. */
export function counterStatements(table: Table, { name, number }: Column, counter: Counter): readonly Statement[] {
  const { sequence, lastValue } = counter;
  const isAscending = !sequence.increment.startsWith('-');
  const [aggregate, choice, comparison] = isAscending ? ['max', 'greatest', '>='] : ['min', 'least', '<='];
  const used = `pg_catalog.${aggregate}(${name})`;
  const last = lastValue === undefined ? used : `${choice}(${used}, ${lastValue})`;
  const isKey = table.constraints.some(({ type, column }) => (type === 'p' || type === 'u') && column === number);
  const notes: readonly Note[] = isKey
    ? []
    : [locks(table.name, 'reads and writes', `the last value of ${name} is searched`)];
  return notedStatements(
    [
      `SELECT pg_catalog.setval(${quoteLiteral(sequence.name)}, ${last}) FROM ${table.name} HAVING ${last} ${comparison} ${sequence.start}`,
    ],
    [...outsideNotes(name, sequence, isAscending), ...notes],
  );
}

/** Only narrower limits than those of the type can exclude a value of the column. */
function outsideNotes(name: string, { type, min, max }: SequenceOptions, isAscending: boolean): readonly Note[] {
  const limit = isAscending ? typeLimit(type) - 1n : -typeLimit(type);
  const bound = isAscending ? max : min;
  if (bound === String(limit)) return [];
  return [{ effect: 'FAILS IF', text: `a value of ${name} is ${isAscending ? 'above' : 'below'} ${bound}` }];
}

/** Returns the last values of the sequences that belong to columns, by qualified column. */
export function columnCounters({ items, lastValues }: Schema): ReadonlyMap<string, bigint> {
  const found = new Map<string, bigint>();
  const add = (column: string, oid: string): void => {
    const value = lastValues.get(`pg_class/${oid}`);
    if (value !== undefined) found.set(column, value);
  };
  for (const { structure } of items) {
    if (structure?.kind === 'sequence' && structure.sequence.column !== null) {
      add(structure.sequence.column, structure.sequence.oid);
    }
    if (structure?.kind !== 'table') continue;
    const { name, columns, identities } = structure.table;
    for (const { oid, column: number } of identities) {
      add(`${name}.${columns.find((column) => column.number === number)!.name}`, oid);
    }
  }
  return found;
}
