import type { PipelinedRequest } from './pipelined-request.ts';
import { ProtocolViolation } from './message-parser.ts';

/**
 * Tells the exchange what one of the messages between its beginning and its ReadyForQuery means.
 * @throws ProtocolViolation for a message that has no place there, such as CopyInResponse: the Sync that went along is
 *   swallowed as a part of the data that never comes, and there is no way back from it.
 */
export function progress(head: PipelinedRequest, type: number, chunk: Buffer, start: number): void {
  switch (type) {
    case 0x31: // ParseComplete
      return head.parseComplete();
    case 0x32: // BindComplete
      return head.bindComplete();
    case 0x54: // RowDescription
      return head.described(columnTypes(chunk, start));
    case 0x6e: // NoData
      return head.described([]);
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
export function unasked(type: number): void {
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
