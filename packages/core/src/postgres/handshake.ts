import { MessageParser, ProtocolViolation } from './message-parser.ts';

/** Bytes; PostgreSQL's own messages before the first query are a few hundred bytes long. */
const longestMessage = 64 * 1024;
const authenticationSasl = 10;

/**
 * Checks each message that a server sends before the first query, as soon as it has arrived whole. `pg` reads texts up to their zero byte
 * and fields up to the last one, wherever these are: a message without them would keep the process busy for ever.
 * PostgreSQL manual, section 55.7, "Message Formats".
 * @throws ProtocolViolation
 */
export function createHandshakeValidator(): (chunk: Buffer) => void {
  const frames = new MessageParser(checkMessage, longestMessage);
  return (chunk) => frames.push(chunk);
}

function checkMessage(type: number, chunk: Buffer, start: number, end: number): void {
  const body = chunk.subarray(start, end);
  if (!isWhole(type, body)) throw new ProtocolViolation(`a broken message of type ${type} before the first query`);
}

function isWhole(type: number, body: Buffer): boolean {
  switch (type) {
    case 0x45: // ErrorResponse
    case 0x4e: // NoticeResponse
      return fieldsEnd(body) === body.length;
    case 0x53: // ParameterStatus
      return textsEnd(body, 2) === body.length;
    case 0x52: // Authentication
      return body.length >= 4 && (body.readInt32BE(0) !== authenticationSasl || textListEnd(body) === body.length);
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

/** Behind so many texts, each with its zero byte; -1 when there are fewer. */
function textsEnd(body: Buffer, count: number): number {
  let position = 0;
  for (let text = 0; text < count; text++) {
    const zero = body.indexOf(0, position);
    if (zero === -1) return -1;
    position = zero + 1;
  }
  return position;
}

/** Behind the fields of an error: a letter and a text each, and a zero byte after the last. */
function fieldsEnd(body: Buffer): number {
  let position = 0;
  while (position < body.length && body[position] !== 0) {
    const zero = body.indexOf(0, position + 1);
    if (zero === -1) return -1;
    position = zero + 1;
  }
  return position < body.length ? position + 1 : -1;
}

/** Behind the names of the SASL mechanisms and the empty one after the last. */
function textListEnd(body: Buffer): number {
  let position = 4;
  for (;;) {
    const zero = body.indexOf(0, position);
    if (zero === -1) return -1;
    if (zero === position) return zero + 1;
    position = zero + 1;
  }
}
