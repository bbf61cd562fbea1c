/** A strict parser of requests: a list of allowed forms, which every implementation of HTTP/1.1 reads in the same way. */

export interface ParsedRequest {
  readonly method: string;
  /** In origin form (RFC 9112, section 3.2.1), as sent. */
  readonly target: string;
  /** Alternating names and values, as sent. */
  readonly rawHeaders: readonly string[];
  /** By lower-case name. No header is repeated. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the client keeps the connection open. */
  readonly keepsAlive: boolean;
  /** The index of the first byte of the body, and of the byte after it. */
  readonly bodyStart: number;
  readonly end: number;
}

export interface ParserLimits {
  /** Bytes of the request line and all headers. */
  readonly maxHeaderSize: number;
  readonly maxHeadersCount: number;
  readonly maxBodyBytes: number;
}

/** `incomplete`: the head is allowed, and the body has not arrived. `other`: `node:http` decides about the request. */
export type Unparsed = 'incomplete' | 'other';

const requestLine = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (\/[!-~]*) HTTP\/1\.1$/;
/** Lines with a token, a colon, and visible characters and spaces (RFC 9110, section 5.5, without tabs and `obs-text`). */
const headerLines = /^(?:[\w!#$%&'*+.^`|~-]+:[ -~]*\r\n)*$/;
/** A name or address, with a port. */
const plainHost = /^[\w.-]+(?::\d{1,5})?$|^\[[\da-fA-F:.]+\](?::\d{1,5})?$/;
const plainLength = /^(?:0|[1-9]\d{0,8})$/;
const plainConnection = /^(?:keep-alive|close)$/i;

/** Headers about the connection or the framing, and those that `node:http` does not keep as they are. Names of properties are left to it, too. */
const leftToNode: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'keep-alive',
  'proxy-connection',
  'http2-settings',
  'set-cookie',
]);

interface HeaderName {
  readonly key: string;
  readonly isLeftToNode: boolean;
}

/** By the name as sent. Clients send few names: a lookup is cheaper than lower case. */
const knownNames = new Map<string, HeaderName>();
const maxKnownNames = 500;

const endOfHead = Buffer.from('\r\n\r\n');
const lineEnd = '\r\n';
const space = 0x20;

/** Reads the request at the beginning of the bytes. */
export function parseRequest(bytes: Buffer, limits: ParserLimits): ParsedRequest | Unparsed {
  const end = bytes.indexOf(endOfHead);
  const bodyStart = end + endOfHead.length;
  if (end === -1 || bodyStart > limits.maxHeaderSize) return 'other';
  const head = bytes.toString('latin1', 0, end + lineEnd.length);
  const firstHeader = head.indexOf(lineEnd) + lineEnd.length;
  const request = requestLine.exec(head.slice(0, firstHeader - lineEnd.length));
  if (request === null) return 'other';
  const lines = head.slice(firstHeader);
  const rawHeaders: string[] = [];
  const headers = headerLines.test(lines) ? readHeaders(lines, rawHeaders) : null;
  if (headers === null || rawHeaders.length > 2 * limits.maxHeadersCount) return 'other';
  if (!isPlain(headers)) return 'other';
  const size = Number(headers['content-length'] ?? 0);
  if (size > limits.maxBodyBytes) return 'other';
  if (bodyStart + size > bytes.length) return 'incomplete';
  return {
    method: request[1]!,
    target: request[2]!,
    rawHeaders,
    headers,
    keepsAlive: headers['connection']?.toLowerCase() !== 'close',
    bodyStart,
    end: bodyStart + size,
  };
}

/** Whether the headers that are about host, connection and body have one meaning. */
function isPlain({ host, connection, 'content-length': length }: Readonly<Record<string, string>>): boolean {
  if (host === undefined || !plainHost.test(host)) return false;
  if (connection !== undefined && !plainConnection.test(connection)) return false;
  return length === undefined || plainLength.test(length);
}

/** Returns the headers of valid lines by name, and adds them to the list; null: one is left to `node:http`. */
function readHeaders(lines: string, rawHeaders: string[]): Record<string, string> | null {
  const headers: Record<string, string> = {};
  let start = 0;
  while (start < lines.length) {
    const colon = lines.indexOf(':', start);
    const end = lines.indexOf(lineEnd, colon);
    const name = lines.slice(start, colon);
    const { key, isLeftToNode } = knownNames.get(name) ?? learnName(name);
    // `node:http` joins the values of repeated headers, or keeps one of them.
    if (isLeftToNode || headers[key] !== undefined) return null;
    const value = trimSpaces(lines, colon + 1, end);
    headers[key] = value;
    rawHeaders.push(name, value);
    start = end + lineEnd.length;
  }
  return headers;
}

function learnName(name: string): HeaderName {
  const key = name.toLowerCase();
  const learned = { key, isLeftToNode: leftToNode.has(key) || key in Object.prototype };
  // A copy: a part of the head would keep all of it.
  if (knownNames.size < maxKnownNames) knownNames.set(Buffer.from(name).toString(), learned);
  return learned;
}

function trimSpaces(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && text.charCodeAt(start) === space) start += 1;
  while (end > start && text.charCodeAt(end - 1) === space) end -= 1;
  return text.slice(start, end);
}
