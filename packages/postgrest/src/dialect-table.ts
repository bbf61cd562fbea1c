import type { TableAccess } from '@pgway/core';
import type { TransactionOptions } from './transaction-options.ts';

/** What requests to a table need besides its columns. */
export interface PostgrestTable {
  /** The path of all tables, without a slash at its end. */
  readonly path: string;
  /** What an insert may do with rows that exist. */
  readonly conflictActions: readonly ('merge' | 'ignore')[];
  /** Whether an UPDATE without a condition may change every row. */
  readonly allowUnfilteredUpdate: boolean;
  readonly transaction: TransactionOptions;
  /** Whether requests may select aggregates. */
  readonly allowAggregates: boolean;
  /** Whether requests may ask for the plan of their statement. */
  readonly planEnabled: boolean;
  /** The most rows of a response. */
  readonly maxRows: number;
}

/** Returns what the dialect has kept in the table of a routine or endpoint. */
export function postgrestTable({ sourceData }: Pick<TableAccess, 'sourceData'>): PostgrestTable {
  return sourceData as PostgrestTable;
}
