/** The operations by schema, and in it by table or tag. */
import type { PageOperation } from './page-data.ts';

export interface SchemaGroup {
  /** Empty for operations of no schema. */
  readonly schema: string;
  readonly groups: readonly OperationGroup[];
}

export interface OperationGroup {
  readonly name: string;
  /** That of a table; empty for routines. */
  readonly description: string;
  readonly operations: readonly PageOperation[];
}

/** Keeps the order of the operations. */
export function groupOperations(operations: readonly PageOperation[]): readonly SchemaGroup[] {
  return groupBy(operations, ({ schema }) => schema).map(([schema, own]) => ({
    schema,
    groups: groupBy(own, ({ group }) => group).map(([name, members]) => ({
      name,
      description: members.every(({ isTable }) => isTable) ? members[0]!.description : '',
      operations: members,
    })),
  }));
}

function groupBy(
  operations: readonly PageOperation[],
  toKey: (operation: PageOperation) => string,
): readonly (readonly [string, readonly PageOperation[]])[] {
  const groups = new Map<string, PageOperation[]>();
  for (const operation of operations) {
    const key = toKey(operation);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [operation]);
    else known.push(operation);
  }
  return [...groups];
}
