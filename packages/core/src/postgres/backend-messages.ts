import type { PipelinedRequest } from './pipeline.ts';
import { ProtocolViolation } from './message-parser.ts';
import type { Diagnostics } from './port.ts';

/**
 * Tells the exchange what one of the messages between its beginning and its ReadyForQuery means.
 * @throws ProtocolViolation for a message that has no place there, such as CopyInResponse: the Sync that went along is
 *   swallowed as a part of the data that never comes, and there is no way back from it.
 */
export function handleResponseMessage(head: PipelinedRequest, type: number, chunk: Buffer, start: number): void {
  switch (type) {
    case 0x31: // ParseComplete
      return head.parseComplete();
    case 0x32: // BindComplete
      return head.bindComplete();
    case 0x54: // RowDescription
      return head.rowDescription(columnTypes(chunk, start));
    case 0x6e: // NoData
      return head.rowDescription([]);
    case 0x43: // CommandComplete
    case 0x49: // EmptyQueryResponse
      return head.statementComplete();
    case 0x33: // CloseComplete
    case 0x74: // ParameterDescription
    case 0x48: // CopyOutResponse
    case 0x64: // CopyData
    case 0x63: // CopyDone
      return;
    default:
      throw new ProtocolViolation(`an unexpected message of type ${type}`);
  }
}

/** All that comes while nobody waits is the CloseComplete of a statement that made room. */
export function checkUnsolicitedMessage(type: number): void {
  if (type !== 0x33) throw new ProtocolViolation(`an unexpected message of type ${type}`);
}

/** The type OID of each column of a RowDescription, whose body begins at `start`. */
function columnTypes(chunk: Buffer, start: number): readonly number[] {
  const types: number[] = [];
  let offset = start + 2;
  for (let count = chunk.readUInt16BE(start); count > 0; count--) {
    // After the name: table and column it stems from, then the type, its length and modifier, and the format.
    const facts = chunk.indexOf(0, offset) + 1;
    types.push(chunk.readUInt32BE(facts + 6));
    offset = facts + 18;
  }
  return types;
}

const names: Readonly<Record<string, keyof Diagnostics>> = {
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
 * Reads the body of an ErrorResponse or NoticeResponse: a byte that names the field, its text and a zero, until a zero.
 * `V`, the severity that is never translated, wins over `S`.
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
    const name = field === 'V' ? 'severity' : names[field];
    if (name !== undefined) fields[name] = text;
  }
  return fields;
}

/** Channel and payload of a NotificationResponse, each up to a zero; the process that notified stands before them. */
export function readNotification(chunk: Buffer, start: number): readonly [channel: string, payload: string] {
  const channel = start + 4;
  const payload = chunk.indexOf(0, channel) + 1;
  return [chunk.toString('utf8', channel, payload - 1), chunk.toString('utf8', payload, chunk.indexOf(0, payload))];
}
