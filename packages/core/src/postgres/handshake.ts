import { MessageParser, ProtocolViolation } from './message-parser.ts';

/** Bytes; the messages of PostgreSQL before the first query have a few hundred bytes. */
const maxMessageLength = 64 * 1024;
const authenticationSasl = 10;

/**
 * Creates a function that checks the messages of a server before the first query. `pg` would loop forever on a message without
 * its terminating zero bytes. PostgreSQL manual, "Message Formats".
 * @returns a function that takes each chunk and throws a ProtocolViolation for an invalid message
 */
export function createHandshakeValidator(): (chunk: Buffer) => void {
  const parser = new MessageParser(checkMessage, undefined, maxMessageLength);
  return (chunk) => parser.push(chunk);
}

function checkMessage(type: number, chunk: Buffer, start: number, end: number): void {
  const body = chunk.subarray(start, end);
  if (!isValid(type, body)) throw new ProtocolViolation(`an invalid message of type ${type} before the first query`);
}

function isValid(type: number, body: Buffer): boolean {
  switch (type) {
    case 0x45: // ErrorResponse
    case 0x4e: // NoticeResponse
      return fieldsEnd(body) === body.length;
    case 0x53: // ParameterStatus
      return stringsEnd(body, 2) === body.length;
    case 0x52: // Authentication
      return body.length >= 4 && (body.readInt32BE(0) !== authenticationSasl || mechanismsEnd(body) === body.length);
    case 0x4b: // BackendKeyData
      return body.length >= 8;
    case 0x5a: // ReadyForQuery
      return body.length === 1;
    case 0x76: // NegotiateProtocolVersion
      return body.length >= 8;
    default:
      return false;
  }
}

/** Returns the position after this number of zero-terminated strings; -1 when there are fewer. */
function stringsEnd(body: Buffer, count: number): number {
  let position = 0;
  for (let string = 0; string < count; string++) {
    const zero = body.indexOf(0, position);
    if (zero === -1) return -1;
    position = zero + 1;
  }
  return position;
}

/** Returns the position after the fields of an error: a code and a string each, and a final zero byte. */
function fieldsEnd(body: Buffer): number {
  let position = 0;
  while (position < body.length && body[position] !== 0) {
    const zero = body.indexOf(0, position + 1);
    if (zero === -1) return -1;
    position = zero + 1;
  }
  return position < body.length ? position + 1 : -1;
}

/** Returns the position after the names of the SASL mechanisms and the final empty name. */
function mechanismsEnd(body: Buffer): number {
  let position = 4;
  for (;;) {
    const zero = body.indexOf(0, position);
    if (zero === -1) return -1;
    if (zero === position) return zero + 1;
    position = zero + 1;
  }
}
