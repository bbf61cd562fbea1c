import { documentSlice, readMembers, type RowChange, sliceToJson } from '@pgway/core/internal';
import type { ChangeEvent } from './bindings.ts';
import type { PlannedSubscription } from './plan-subscriptions.ts';

export const eventOf = { insert: 'INSERT', update: 'UPDATE', delete: 'DELETE' } as const;

/** Written once for all subscribers of a group, which have the same table and columns. */
const written = new WeakMap<RowChange, string>();

/** Returns the member `data` of a change as JSON. */
export function toChangeData(change: RowChange, event: ChangeEvent, subscription: PlannedSubscription): string {
  const known = written.get(change);
  if (known !== undefined) return known;
  const { schema, name } = subscription.table;
  const members = [
    `"schema":${JSON.stringify(schema)}`,
    `"table":${JSON.stringify(name)}`,
    `"commit_timestamp":${JSON.stringify(change.commitTimestamp)}`,
    `"type":"${event}"`,
    `"columns":${columnsOf(subscription)}`,
    ...recordMembers(change, event, subscription),
    `"errors":null`,
  ];
  const data = `{${members.join(',')}}`;
  written.set(change, data);
  return data;
}

function recordMembers(
  { record, old }: RowChange,
  event: ChangeEvent,
  { request, table }: PlannedSubscription,
): readonly string[] {
  const before = old === null ? null : Buffer.from(old).toString();
  if (record === null) return [`"old_record":${before}`];
  const next = Buffer.from(record).toString();
  if (event === 'INSERT') return [`"record":${next}`];
  return [`"record":${next}`, `"old_record":${before ?? (table.isFull ? 'null' : keyOf(next, request.query))}`];
}

/** The key of a row is the same before and after an update: a row with another key is another row. */
function keyOf(record: string, { keyColumns }: PlannedSubscription['request']['query']): string {
  const members = readMembers(documentSlice(record));
  return `{${keyColumns.map((name) => `${JSON.stringify(name)}:${sliceToJson(members.get(name)!)}`).join(',')}}`;
}

const columnLists = new WeakMap<PlannedSubscription['request'], string>();

function columnsOf({ request, table }: PlannedSubscription): string {
  const known = columnLists.get(request);
  if (known !== undefined) return known;
  const columns = request.query.columns.map(({ name }) => ({ name, type: table.typeNames.get(name) }));
  const json = JSON.stringify(columns);
  columnLists.set(request, json);
  return json;
}
