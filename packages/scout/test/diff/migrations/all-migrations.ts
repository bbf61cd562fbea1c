/** Kinds of migrations, by what changes. */
import { columnTypes } from './column-types.ts';
import { columns } from './columns.ts';
import type { Migration } from './migration.ts';
import { partitionKeys } from './partition-keys.ts';
import { baseTypes, typesInUse } from './types-in-use.ts';

export const migrations: readonly Migration[] = [
  ...columns,
  ...columnTypes,
  ...partitionKeys,
  ...typesInUse,
  ...baseTypes,
];
