/** The streams of changed rows, as data of endpoints. */
import type { TableName } from '../catalog/table-name.ts';

export const changeOperations = ['insert', 'update', 'delete'] as const;

/** What happened to a row, as the caller sees it. */
export type ChangeOperation = (typeof changeOperations)[number];

/** A column of the published table, and the name under which the table or view of the endpoint shows it. */
export interface KeyColumn {
  readonly column: string;
  readonly shown: string;
}

/** The stream of changes of the rows that an endpoint selects. */
export interface EndpointChanges {
  /** The whole path, without parameters. */
  readonly path: string;
  /** The operations that subscribers get. */
  readonly operations: readonly ChangeOperation[];
  /** The published table whose changes concern the rows: that of the endpoint, or the one that a view has its key from. */
  readonly relation: TableName;
  /** The columns that identify a row. The replica identity of the table contains them. */
  readonly key: readonly KeyColumn[];
  /** Whether updates and deletes have the row before the change. */
  readonly old: boolean;
  /** Subscribers get only changes whose key has the value of their claim in a column of the replica identity; null: all. */
  readonly by: { readonly column: string; readonly claim: string } | null;
  /** Whether rows are read with the address of the client, which then is part of what subscribers share. */
  readonly byAddress: boolean;
  /** Tables whose changes reach subscribers as a gap. */
  readonly gapOn: readonly TableName[];
}
