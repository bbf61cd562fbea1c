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
  const choices = key.map((column) => inView.filter(({ tableColumn }) => tableColumn === column));
  // A view can join a table with itself. Which columns of a key belong together is unknown then.
  if (key.length > 1 && choices.some(({ length }) => length > 1)) return [];
  if (key.length === 1) return choices[0]!.map(({ column }) => ({ schema, name, columns: [column] }));
  const found = choices.flatMap(([only]) => (only === undefined ? [] : [only.column]));
  return found.length === key.length ? [{ schema, name, columns: found }] : [];
}
