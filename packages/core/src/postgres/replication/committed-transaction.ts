/** Changes of rows, as logical replication reports them: which keys changed in which transaction. Values of other columns never appear. */

/** A published relation, as its Relation message describes it. */
export interface ChangedRelation {
  /** OID. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  /** The columns of the replica identity, in the order of the table. */
  readonly keyColumns: readonly string[];
}

/** A change of one row. Values of keys are PostgreSQL's text; `null` only for columns of an identity that allow it. */
export interface KeyChange {
  readonly relation: ChangedRelation;
  readonly operation: 'insert' | 'update' | 'delete';
  readonly key: readonly (string | null)[];
  /** The key before an update that has changed it. */
  readonly oldKey?: readonly (string | null)[];
}

export interface CommittedTransaction {
  /** 32 bits, without the epoch, as the log has it. */
  readonly xid: number;
  /** The end of the commit. */
  readonly commitLsn: bigint;
  /** ISO 8601 with microseconds, in UTC: `2026-11-27T01:02:03.456789Z`. */
  readonly commitTime: string;
  /** In the order in which they happened. */
  readonly changes: readonly KeyChange[];
  /** Whether the transaction has more keys than the limit: `changes` is empty. */
  readonly tooMany: boolean;
  /** The relations with changes or truncations, also of `tooMany`. Those of changes that were rolled back may be among them. */
  readonly relations: readonly ChangedRelation[];
  readonly truncated: readonly ChangedRelation[];
  /** Relations whose definition differs from the one that was known before, as it is now. */
  readonly redefined: readonly ChangedRelation[];
}
