import type { TextTable } from '../../postgres/port.ts';
import { groupBy } from '../../endpoints/group-by.ts';
import { parseJsonObject, readText } from '../../catalog/json-object.ts';

/** A column of a view that shows a column of a table unchanged. */
export interface ViewColumn {
  readonly schema: string;
  readonly view: string;
  readonly column: string;
  readonly tableSchema: string;
  readonly table: string;
  readonly tableColumn: string;
}

export function decodeViewColumns(rows: TextTable): readonly ViewColumn[] {
  return rows.map(([text], index) => {
    const facts = parseJsonObject(`view column ${index + 1}`, text ?? null);
    return {
      schema: readText(facts, 'schema'),
      view: readText(facts, 'view'),
      column: readText(facts, 'column'),
      tableSchema: readText(facts, 'tableSchema'),
      table: readText(facts, 'table'),
      tableColumn: readText(facts, 'tableColumn'),
    };
  });
}

/** The columns of a key in a view, in their order. */
export interface KeyInView {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
  /**
   * Whether the view shows a column of a composite key several times: which of them belong together is unknown.
   * - `first`: the first choice of the columns
   * - `other`: a second one, whatever their number is: two are enough to be ambiguous
   */
  readonly ambiguity: 'none' | 'first' | 'other';
}

/** Returns a function that lists the views which show all columns of a key. */
export function createViewKeys(
  columns: readonly ViewColumn[],
): (schema: string, table: string, key: readonly string[]) => readonly KeyInView[] {
  const byTable = groupBy(columns, ({ tableSchema, table }) => JSON.stringify([tableSchema, table]));
  return (schema, table, key) => {
    const shown = byTable.get(JSON.stringify([schema, table])) ?? [];
    const byView = groupBy(shown, ({ schema: own, view }) => JSON.stringify([own, view]));
    return [...byView.values()].flatMap((inView) => keysInView(inView, key));
  };
}

function keysInView(inView: readonly ViewColumn[], key: readonly string[]): readonly KeyInView[] {
  const { schema, view: name } = inView[0]!;
  const shown = key.map((column) => inView.filter(({ tableColumn }) => tableColumn === column));
  if (shown.some(({ length }) => length === 0)) return [];
  if (shown.length === 1)
    return shown[0]!.map(({ column }) => ({ schema, name, columns: [column], ambiguity: 'none' }));
  const first = shown.map(([column]) => column!.column);
  // A view can join a table with itself, or show a column twice.
  const repeated = shown.findLastIndex(({ length }) => length > 1);
  if (repeated === -1) return [{ schema, name, columns: first, ambiguity: 'none' }];
  const other = first.with(repeated, shown[repeated]![1]!.column);
  return [
    { schema, name, columns: first, ambiguity: 'first' },
    { schema, name, columns: other, ambiguity: 'other' },
  ];
}
