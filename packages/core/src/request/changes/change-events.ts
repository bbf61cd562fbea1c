import type { ChangeGapReason, ChangeMessage, RowChange } from '../../ports/changes.ts';

/** The table or view of a stream. */
export interface ChangedTable {
  readonly schema: string;
  readonly name: string;
}

/** Writes messages as server-sent events, once for all subscribers of a group. */
const written = new WeakMap<ChangeMessage, Uint8Array>();

/** Returns the events of a message. The id of a snapshot follows its rows: a client without all of them gets them again. */
export function toServerSentEvents(message: ChangeMessage, table: ChangedTable): Uint8Array {
  const known = written.get(message);
  if (known !== undefined) return known;
  const bytes =
    message.kind === 'changes' ? toChanges(message.changes, table) : Buffer.concat(writeMessage(message, table));
  written.set(message, bytes);
  return bytes;
}

/** A comment with the last id; clients dispatch no event for it. */
export function toIdComment(id: string): Uint8Array {
  return Buffer.from(`:\nid: ${id}\n\n`);
}

/** The last event of a stream that PostgreSQL refuses to the caller. */
export function toForbiddenEvent(table: ChangedTable): Uint8Array {
  return Buffer.concat(writeEvent('gap', null, [gapData('forbidden', table)]));
}

/** Changes of a group as events. Another group with the same rows gets the same bytes, but for the ids. */
interface WrittenChanges {
  readonly changes: readonly RowChange[];
  readonly table: ChangedTable;
  readonly bytes: Uint8Array;
  /** The places of the ids. */
  readonly places: readonly number[];
}

/** By the first row. Groups with the same rows follow each other: a few are enough, for a short time, as they keep all rows of their lookups. */
const recent = new Map<Uint8Array, WrittenChanges>();
const maxRecent = { entries: 64, bytes: 4 * 1024 ** 2 };
const recentMs = 1_000;
let recentBytes = 0;
let recentTimer: NodeJS.Timeout | null = null;

function toChanges(changes: readonly RowChange[], table: ChangedTable): Uint8Array {
  const [first] = changes;
  const key = first?.record ?? first?.old ?? null;
  const same = key === null ? undefined : recent.get(key);
  if (same !== undefined && haveSameContent(same, changes, table)) {
    const bytes = Buffer.from(same.bytes);
    for (const [index, { id }] of changes.entries()) bytes.write(id, same.places[index]!, 'latin1');
    return bytes;
  }
  const all = writeChanges(changes, table);
  if (key !== null) keep(key, all);
  return all.bytes;
}

function haveSameContent(known: WrittenChanges, changes: readonly RowChange[], table: ChangedTable): boolean {
  return (
    known.changes.length === changes.length &&
    known.table.schema === table.schema &&
    known.table.name === table.name &&
    known.changes.every(({ id, operation, commitTimestamp, record, old }, index) => {
      const other = changes[index]!;
      const isSame = other.record === record && other.old === old && other.id.length === id.length;
      return isSame && other.operation === operation && other.commitTimestamp === commitTimestamp;
    })
  );
}

function keep(key: Uint8Array, all: WrittenChanges): void {
  recentBytes += all.bytes.length - (recent.get(key)?.bytes.length ?? 0);
  recent.set(key, all);
  recentTimer ??= setTimeout(forget, recentMs).unref();
  for (const [oldest, { bytes }] of recent) {
    if (recent.size <= maxRecent.entries && recentBytes <= maxRecent.bytes) return;
    recent.delete(oldest);
    recentBytes -= bytes.length;
  }
}

function forget(): void {
  recent.clear();
  recentBytes = 0;
  recentTimer = null;
}

function writeChanges(changes: readonly RowChange[], table: ChangedTable): WrittenChanges {
  const parts: Uint8Array[] = [];
  const places: number[] = [];
  let length = 0;
  for (const change of changes) {
    places.push(length + `event: ${change.operation}\nid: `.length);
    for (const part of writeChange(change, table)) {
      parts.push(part);
      length += part.length;
    }
  }
  parts.push(Buffer.from(': cut\n\n'));
  return { changes, table, places, bytes: Buffer.concat(parts) };
}

function writeMessage(
  message: Exclude<ChangeMessage, { readonly kind: 'changes' }>,
  table: ChangedTable,
): readonly Uint8Array[] {
  switch (message.kind) {
    case 'begin':
      return [toIdComment(message.id)];
    case 'gap':
      return writeEvent('gap', message.id, [gapData(message.reason, table)]);
    case 'rows':
      return [
        ...(message.isReset ? writeEvent('reset', null, [head('reset', table), '}']) : []),
        ...message.rows.flatMap((row) => writeEvent('row', null, [head('row', table), ',"record":', row, '}'])),
        toIdComment(message.id),
      ];
  }
}

function writeChange(
  { id, operation, commitTimestamp, record, old }: RowChange,
  table: ChangedTable,
): readonly Uint8Array[] {
  return writeEvent(operation, id, [
    `${head(operation, table)},"commitTimestamp":"${commitTimestamp}"`,
    ...(record === null ? [] : [',"record":', record]),
    ...(old === null ? [] : [',"old":', old]),
    '}',
  ]);
}

function head(type: string, { schema, name }: ChangedTable): string {
  return `{"type":"${type}","schema":${JSON.stringify(schema)},"table":${JSON.stringify(name)}`;
}

function gapData(reason: ChangeGapReason | 'forbidden', table: ChangedTable): string {
  return `${head('gap', table)},"reason":"${reason}"}`;
}

const lineEnds = /\r\n|\n|\r/;

function writeEvent(name: string, id: string | null, data: readonly (string | Uint8Array)[]): readonly Uint8Array[] {
  const bytes = Buffer.concat(data.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  const fields = Buffer.from(`event: ${name}\n${id === null ? '' : `id: ${id}\n`}data: `);
  if (!bytes.includes(0x0a) && !bytes.includes(0x0d)) return [fields, bytes, Buffer.from('\n\n')];
  // Values of the type json keep the line ends of their input, each of which begins another line of data.
  return [fields, Buffer.from(`${bytes.toString().split(lineEnds).join('\ndata: ')}\n\n`)];
}
