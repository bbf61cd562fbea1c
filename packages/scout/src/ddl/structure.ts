/** The rows of the catalog from which an item is written, for kinds that can be altered in place. */
import type { SequenceOptions } from './definitions/sequence-options.ts';
import type { Privileges } from './privileges.ts';

export type Structure =
  | { readonly kind: 'table'; readonly table: Table; readonly inline: readonly Constraint[] }
  | { readonly kind: 'constraint'; readonly constraint: Constraint }
  | { readonly kind: 'index'; readonly index: IndexStructure }
  | { readonly kind: 'attached partition'; readonly parent: string }
  | { readonly kind: 'view'; readonly view: ViewStructure }
  | { readonly kind: 'routine'; readonly routine: RoutineStructure }
  | { readonly kind: 'sequence'; readonly sequence: Sequence }
  | { readonly kind: 'options'; readonly options: OptionsStructure }
  | { readonly kind: 'base'; readonly options: readonly string[] }
  | { readonly kind: 'statistics'; readonly sorted: readonly string[] }
  | { readonly kind: 'enum'; readonly labels: readonly string[] }
  | { readonly kind: 'range'; readonly range: RangeStructure }
  | { readonly kind: 'composite'; readonly attributes: readonly Column[] }
  | { readonly kind: 'domain'; readonly domain: TypeRow; readonly constraints: readonly DomainConstraint[] };

export interface IndexStructure {
  readonly name: string;
  readonly definition: string;
  readonly tablespace: string | null;
  readonly statistics: readonly (readonly [column: number, value: number])[];
  readonly isPartitioned: boolean;
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

/** Of `pg_attribute.attstorage`. */
export type Storage = 'p' | 'e' | 'm' | 'x';

/** Of `pg_attribute.attcompression`. */
export type Compression = 'p' | 'l';

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
  readonly storage: Storage | null;
  readonly typeStorage: Storage;
  readonly compression: Compression | null;
  readonly statistics: number | null;
  readonly options: readonly string[] | null;
  readonly foreignOptions: readonly string[] | null;
  readonly parentHasDefault: boolean;
  readonly parentIsNotNull: boolean;
  /** Whether `CREATE TABLE` takes the expression from the parent, and refuses one of the child: before PostgreSQL 16. */
  readonly hasExpressionOfParent: boolean;
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

export interface Constraint {
  readonly oid: string;
  readonly table: string;
  readonly name: string;
  readonly plainName: string;
  /** Not null, check, primary key, unique, exclusion, foreign key. */
  readonly type: 'n' | 'c' | 'p' | 'u' | 'x' | 'f';
  readonly definition: string;
  readonly isValidated: boolean;
  readonly isEnforced: boolean;
  readonly isLocal: boolean;
  readonly isNoInherit: boolean;
  readonly isClone: boolean;
  readonly index: string;
  readonly column: number;
  readonly options: readonly string[] | null;
  readonly tablespace: string | null;
  readonly isClustered: boolean | null;
  readonly isReplicaIdentity: boolean | null;
  readonly indexName: string | null;
  readonly parentIndex: string | null;
  readonly parentIndexName: string | null;
}

/** What constraints need to know of their table. */
export interface ConstrainedTable {
  readonly key: string;
  readonly name: string;
  readonly plainName: string;
  readonly isPartition: boolean;
  readonly isPartitioned: boolean;
  readonly isForeign: boolean;
  /** The items that attach the partitions: indexes of the parent come after them. */
  readonly attachKeys: readonly string[];
  /** Names of constraints that are in use elsewhere in the schema: PostgreSQL would choose others. */
  readonly takenNames?: ReadonlySet<string>;
}

export interface TableRow {
  readonly oid: string;
  readonly name: string;
  readonly plainName: string;
  readonly kind: 'r' | 'p' | 'f';
  readonly isUnlogged: boolean;
  readonly isPartition: boolean;
  readonly rowType: string;
  readonly partitionKey: string | null;
  readonly bound: string | null;
  readonly parents: readonly string[];
  readonly parentOids: readonly string[];
  readonly partitions: readonly string[];
  readonly ofType: string | null;
  readonly options: readonly string[] | null;
  readonly toastOptions: readonly string[] | null;
  readonly accessMethod: string | null;
  readonly tablespace: string | null;
  readonly replicaIdentity: 'd' | 'n' | 'f' | 'i';
  readonly hasRowSecurity: boolean;
  readonly forcesRowSecurity: boolean;
  readonly server: string | null;
  readonly foreignOptions: readonly string[] | null;
  readonly owner: string;
  readonly privileges: Privileges | null;
}

/** A table with all that belongs to it. */
export interface Table extends ConstrainedTable {
  readonly row: TableRow;
  /** `ALTER TABLE ONLY public.film`. */
  readonly alter: string;
  readonly columns: readonly Column[];
  readonly constraints: readonly Constraint[];
  readonly identities: readonly Identity[];
}

export interface Sequence extends SequenceOptions {
  readonly oid: string;
  readonly name: string;
  readonly isUnlogged: boolean;
  readonly table: string | null;
  readonly column: string | null;
  readonly owner: string;
  readonly privileges: Privileges | null;
}

export interface TypeRow {
  readonly oid: string;
  readonly name: string;
  readonly plainName: string;
  readonly kind: 'b' | 'c' | 'd' | 'e' | 'r' | 'p';
  readonly relation: string;
  readonly baseType: string;
  readonly collation: string | null;
  readonly isNotNull: boolean;
  readonly defaultText: string | null;
  readonly labels: readonly string[];
  readonly subtype: string | null;
  readonly rangeOptions: readonly string[] | null;
  readonly multirange: string | null;
  readonly multirangeOid: string | null;
  readonly owner: string;
  readonly privileges: Privileges | null;
}

export interface DomainConstraint {
  readonly oid: string;
  /** The oid of the domain. */
  readonly type: string;
  readonly name: string;
  readonly plainName: string;
  readonly isNotNull: boolean;
  readonly definition: string;
  readonly isValidated: boolean;
}
