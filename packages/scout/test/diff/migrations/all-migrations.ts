/** Kinds of migrations, by what changes. */
import { columnTypes } from './column-types.ts';
import { columns } from './columns.ts';
import { constraints } from './constraints.ts';
import type { Migration } from './migration.ts';
import { otherObjects } from './other-objects.ts';
import { partitionKeys } from './partition-keys.ts';
import { tablesAndPartitions } from './tables.ts';
import { baseTypes, typesInUse } from './types-in-use.ts';

export const migrations: readonly Migration[] = [
  ...columns,
  ...columnTypes,
  ...constraints,
  ...tablesAndPartitions,
  ...partitionKeys,
  ...otherObjects,
  ...typesInUse,
  ...baseTypes,
];
