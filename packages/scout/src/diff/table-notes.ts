/** What the changes of tables do to rows and to other sessions. Foreign tables have no rows in this database. */
import type { Column, Constraint, IndexStructure, Table } from '../ddl/structure.ts';
import type { Note } from './change.ts';
import type { Conversion } from './conversion.ts';
import { type Domains, resolveDomain } from './domains.ts';

export function rewrites({ name, isPartitioned }: Table): Note {
  return { effect: 'REWRITES', text: isPartitioned ? `the partitions of ${name}` : name };
}

/** The mode that other sessions have to wait for: PostgreSQL's ACCESS EXCLUSIVE, or one that lets them read. */
type Waiting = 'reads and writes' | 'writes';

export function locks(name: string, waiting: Waiting, reason: string): Note {
  return { effect: 'LOCKS', text: `${name} against ${waiting} while ${reason}` };
}

export interface AddedColumn {
  readonly column: Column;
  readonly isNotNull: boolean;
  /** Whether each row gets a value of its own. */
  readonly isVolatile: boolean;
  readonly domains: Domains;
}

export const failingExpression: Note = { effect: 'FAILS IF', text: 'the expression fails for a row' };

export function addedColumnNotes(table: Table, added: AddedColumn): readonly Note[] {
  if (table.isForeign) return [];
  const missing: Note = { effect: 'FAILS IF', text: `${table.name} has rows: the column has no default` };
  const isComputed = added.column.generated === 's';
  return [
    ...(needsDefault(added) ? [missing] : []),
    ...(isComputed ? [failingExpression] : []),
    ...(isWritten(added) ? [rewrites(table)] : []),
  ];
}

function needsDefault({ column, isNotNull, domains }: AddedColumn): boolean {
  const domain = domains.get(column.type);
  const hasValue = column.defaultText !== null || column.identity !== '' || (domain?.defaultText ?? null) !== null;
  return !hasValue && (isNotNull || domain?.isNotNull === true);
}

/** PostgreSQL verifies the values of a domain with constraints in each row. */
function isWritten({ column, isVolatile, domains }: AddedColumn): boolean {
  if (column.generated === 'v') return false;
  const hasOwnValues = column.generated === 's' || column.identity !== '' || isVolatile;
  return hasOwnValues || resolveDomain(column.type, domains).isConstrained;
}

/** @param isKeyed whether a unique index uses the column */
export function retypedColumnNotes(
  table: Table,
  {
    name,
    from,
    to,
    isKeyed,
  }: { readonly name: string; readonly from: string; readonly to: string; readonly isKeyed: boolean },
  conversion: Conversion,
): readonly Note[] {
  if (table.isForeign) return [];
  const fails = (text: string): Note => ({ effect: 'FAILS IF', text });
  return [
    ...(conversion.canFail ? [fails(`a value of ${name} cannot become ${to}`)] : []),
    ...(conversion.canLose && isKeyed ? [fails(`values of ${name} become equal`)] : []),
    ...(conversion.canLose
      ? [{ effect: 'LOSES' as const, text: `what does not fit in values of ${name}: ${from} becomes ${to}` }]
      : []),
    ...(conversion.rewrites ? [rewrites(table)] : []),
  ];
}

const violations: Readonly<Record<Constraint['type'], string>> = {
  n: 'a row has no value',
  c: 'a row violates the check',
  p: 'two rows have the same key, or a row has none',
  u: 'two rows have the same key',
  x: 'two rows exclude each other',
  f: 'a row refers to a row that does not exist',
};

export function violated({ type }: Constraint): Note {
  return { effect: 'FAILS IF', text: violations[type] };
}

/** @param isKept whether the rows had the constraint before, with values that are the same */
export function newConstraintNotes(table: Table, constraint: Constraint, isKept: boolean): readonly Note[] {
  const { type, isValidated, isEnforced } = constraint;
  const isKey = type === 'p' || type === 'u' || type === 'x';
  if (table.isForeign || !isValidated || !isEnforced || (isKey && table.isPartitioned)) return [];
  const reason = isKey ? 'the index is built' : 'all rows are checked';
  return [
    ...(isKept ? [] : [violated(constraint)]),
    type === 'f'
      ? locks(`${table.name} and the table it refers to`, 'writes', reason)
      : locks(table.name, 'reads and writes', reason),
  ];
}

/** @param isKept whether the rows had the index before, with values that are the same */
export function newIndexNotes(table: string, index: IndexStructure, isKept: boolean): readonly Note[] {
  // The indexes of partitions are created one by one.
  if (index.isPartitioned) return [];
  const isUnique = index.definition.startsWith('CREATE UNIQUE INDEX ');
  return [
    ...(isUnique && !isKept ? [{ effect: 'FAILS IF' as const, text: violations.u }] : []),
    ...(index.isPlain || isKept ? [] : [failingExpression]),
    locks(table, 'writes', 'the index is built'),
  ];
}

/** @param defaultPartition the name of the partition for all other rows, if the table has one */
export function attachedPartitionNotes(
  { name, isPartitioned }: Table,
  { isNew, defaultPartition }: { readonly isNew: boolean; readonly defaultPartition: string | undefined },
): readonly Note[] {
  const partitions = isPartitioned ? `the partitions of ${name}` : name;
  return [
    ...(isNew
      ? []
      : [
          { effect: 'FAILS IF' as const, text: `${name} has rows that do not belong to the partition` },
          locks(partitions, 'reads and writes', 'all rows are checked'),
        ]),
    ...(defaultPartition === undefined
      ? []
      : [
          { effect: 'FAILS IF' as const, text: `${defaultPartition} has rows that belong to the partition` },
          locks(defaultPartition, 'reads and writes', 'all rows are checked'),
        ]),
  ];
}
