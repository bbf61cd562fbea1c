/** The rows of the catalog from which an item is written, for kinds that can be altered in place. */
import type { Column } from './definitions/columns.ts';
import type { Constraint } from './definitions/constraints.ts';
import type { DomainConstraint } from './definitions/domains.ts';
import type { Sequence } from './definitions/sequences.ts';
import type { Table } from './definitions/tables.ts';
import type { TypeRow } from './definitions/types.ts';

export type Structure =
  | { readonly kind: 'table'; readonly table: Table; readonly inline: readonly Constraint[] }
  | { readonly kind: 'constraint'; readonly constraint: Constraint }
  | { readonly kind: 'index'; readonly index: IndexStructure }
  | { readonly kind: 'attached partition'; readonly parent: string }
  | { readonly kind: 'view'; readonly view: ViewStructure }
  | { readonly kind: 'routine'; readonly routine: RoutineStructure }
  | { readonly kind: 'sequence'; readonly sequence: Sequence }
  | { readonly kind: 'options'; readonly options: OptionsStructure }
  | { readonly kind: 'enum'; readonly labels: readonly string[] }
  | { readonly kind: 'range'; readonly range: RangeStructure }
  | { readonly kind: 'composite'; readonly attributes: readonly Column[] }
  | { readonly kind: 'domain'; readonly domain: TypeRow; readonly constraints: readonly DomainConstraint[] };

export interface IndexStructure {
  readonly name: string;
  readonly definition: string;
  readonly tablespace: string | null;
  readonly statistics: readonly (readonly [column: number, value: number])[];
  /** Whether it has columns only: no expressions and no condition. */
  readonly isPlain: boolean;
  /** The address of the index of the partitioned table to which it is attached. */
  readonly parent: string | null;
  /** `CLUSTER ON` and `REPLICA IDENTITY`. */
  readonly uses: readonly string[];
}

/** A foreign data wrapper, server or user mapping. */
export interface OptionsStructure {
  /** The statement that alters it, without the options. */
  readonly alter: string;
  /** Its definition without the options. */
  readonly base: string;
  /** As in the catalog, such as `host=db`. */
  readonly options: readonly string[];
}

export interface RangeStructure {
  readonly subtype: string;
  /** Since PostgreSQL 14. */
  readonly multirange: string | null;
}

export interface ViewStructure {
  /** Name, type and collation of each column. */
  readonly columns: readonly string[];
  readonly isMaterialized: boolean;
  readonly isPopulated: boolean;
  /** `CREATE OR REPLACE VIEW`. */
  readonly replacement: string;
}

export interface RoutineStructure {
  /** Kind, result, names and modes of arguments, which `CREATE OR REPLACE` cannot change. */
  readonly signature: string;
  /** The number of arguments with defaults, which can only grow. */
  readonly defaults: number;
}
