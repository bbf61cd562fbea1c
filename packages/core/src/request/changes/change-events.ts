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
  const bytes = Buffer.concat(writeMessage(message, table));
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

function writeMessage(message: ChangeMessage, table: ChangedTable): readonly Uint8Array[] {
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
    case 'changes':
      return [...message.changes.flatMap((change) => writeChange(change, table)), Buffer.from(': cut\n\n')];
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
