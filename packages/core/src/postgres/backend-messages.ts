import type { PipelinedRequest } from './pipeline.ts';
import { ProtocolViolation } from './message-parser.ts';
import type { DescribedColumn, Diagnostics } from './port.ts';

/** The transaction status "I" (idle) of a ReadyForQuery. */
export const idleStatus = 0x49;

/**
 * Passes a message of a response to its request.
 * @throws ProtocolViolation for an unexpected message, such as CopyInResponse: the server would take the Sync that was already
 *   sent for copy data, and the pipeline could not recover
 */
export function handleResponseMessage(request: PipelinedRequest, type: number, chunk: Buffer, start: number): void {
  switch (type) {
    case 0x31: // ParseComplete
      return request.parseComplete();
    case 0x32: // BindComplete
      return request.bindComplete();
    case 0x54: // RowDescription
      return request.rowDescription(columnTypes(chunk, start), () => describedColumns(chunk, start));
    case 0x6e: // NoData
      return request.rowDescription([], () => []);
    case 0x43: // CommandComplete
    case 0x49: // EmptyQueryResponse
      return request.statementComplete();
    case 0x74: // ParameterDescription
      return request.parameterDescription(() => parameterTypes(chunk, start));
    case 0x33: // CloseComplete
    case 0x48: // CopyOutResponse
    case 0x64: // CopyData
    case 0x63: // CopyDone
      return;
    default:
      throw new ProtocolViolation(`an unexpected message of type ${type}`);
  }
}

/** Between requests, only the CloseComplete of an evicted statement may arrive. */
export function checkUnsolicitedMessage(type: number): void {
  if (type !== 0x33) throw new ProtocolViolation(`an unexpected message of type ${type}`);
}

/** Returns the type OID of each parameter of a ParameterDescription whose body begins at `start`. */
function parameterTypes(chunk: Buffer, start: number): readonly number[] {
  return Array.from({ length: chunk.readUInt16BE(start) }, (_, index) => chunk.readUInt32BE(start + 2 + index * 4));
}

/** Returns the type OID of each column of a RowDescription whose body begins at `start`. */
function columnTypes(chunk: Buffer, start: number): readonly number[] {
  const types: number[] = [];
  let offset = start + 2;
  for (let count = chunk.readUInt16BE(start); count > 0; count--) {
    // After the name: table OID (4 bytes), column number (2), type OID (4), length (2), modifier (4), format (2).
    const attributes = chunk.indexOf(0, offset) + 1;
    types.push(chunk.readUInt32BE(attributes + 6));
    offset = attributes + 18;
  }
  return types;
}

/** Returns the columns of a RowDescription whose body begins at `start`. */
function describedColumns(chunk: Buffer, start: number): readonly DescribedColumn[] {
  const columns: DescribedColumn[] = [];
  let offset = start + 2;
  for (let count = chunk.readUInt16BE(start); count > 0; count--) {
    const end = chunk.indexOf(0, offset);
    columns.push({
      name: chunk.toString('utf8', offset, end),
      table: chunk.readUInt32BE(end + 1),
      attribute: chunk.readInt16BE(end + 5),
      type: chunk.readUInt32BE(end + 7),
    });
    offset = end + 19;
  }
  return columns;
}

const fieldNames: Readonly<Record<string, keyof Diagnostics>> = {
  C: 'code',
  M: 'message',
  D: 'detail',
  H: 'hint',
  P: 'position',
  W: 'where',
  s: 'schema',
  t: 'table',
  c: 'column',
  d: 'dataType',
  n: 'constraint',
  F: 'file',
  L: 'line',
  R: 'routine',
};

/**
 * Reads the fields of an ErrorResponse or NoticeResponse. The severity comes from `V`, which is never localized.
 * PostgreSQL manual, "Error and Notice Message Fields".
 */
export function readDiagnostics(chunk: Buffer, start: number, end: number): Diagnostics {
  const fields: { -readonly [name in keyof Diagnostics]: Diagnostics[name] } = {
    severity: 'ERROR',
    code: 'XX000',
    message: '',
  };
  let offset = start;
  while (offset < end && chunk[offset] !== 0) {
    const field = String.fromCharCode(chunk[offset]!);
    const zero = chunk.indexOf(0, offset + 1);
    const stop = zero === -1 || zero > end ? end : zero;
    const text = chunk.toString('utf8', offset + 1, stop);
    offset = stop + 1;
    const name = field === 'V' ? 'severity' : fieldNames[field];
    if (name !== undefined) fields[name] = text;
  }
  return fields;
}

/** Reads channel and payload of a NotificationResponse; both follow the process ID of the sender. */
export function readNotification(chunk: Buffer, start: number): readonly [channel: string, payload: string] {
  const channel = start + 4;
  const payload = chunk.indexOf(0, channel) + 1;
  return [chunk.toString('utf8', channel, payload - 1), chunk.toString('utf8', payload, chunk.indexOf(0, payload))];
}
