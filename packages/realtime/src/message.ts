/** The two forms of messages, which a client selects with `vsn`. */

export const versions = ['1.0.0', '2.0.0'] as const;

export type Version = (typeof versions)[number];

export interface Message {
  /** The reference of the join that the channel began with. */
  readonly joinRef: string | null;
  readonly ref: string | null;
  readonly topic: string;
  readonly event: string;
  readonly payload: unknown;
}

/** Kind of a binary message: a broadcast of a client. */
const broadcastKind = 3;
const broadcastHeaderBytes = 7;
const bytesEncoding = 0;
const jsonEncoding = 1;

/** Returns the message of a client; null for one that has another form. */
export function decodeMessage(version: Version, data: Buffer, isBinary: boolean): Message | null {
  if (isBinary) return version === '2.0.0' ? decodeBroadcast(data) : null;
  const value = parseJson(data.toString());
  if (version === '2.0.0') {
    if (!Array.isArray(value) || value.length !== 5) return null;
    const [joinRef, ref, topic, event, payload] = value as unknown[];
    return toMessage({ joinRef, ref, topic, event, payload });
  }
  if (!isObject(value)) return null;
  const { join_ref: joinRef, ref, topic, event, payload } = value;
  return toMessage({ joinRef, ref, topic, event, payload });
}

/** Returns a broadcast: lengths of one byte each, the encoding, texts, and the payload, which is JSON or bytes. */
function decodeBroadcast(data: Buffer): Message | null {
  if (data.length < broadcastHeaderBytes || data[0] !== broadcastKind) return null;
  let offset = broadcastHeaderBytes;
  const read = (length: number): string => toText(data.subarray(offset, (offset += length)));
  const [joinRef, ref, topic, event] = [read(data[1]!), read(data[2]!), read(data[3]!), read(data[4]!)];
  // Metadata of clients is not sent on.
  offset += data[5]!;
  if (offset > data.length) return null;
  const payload = decodePayload(data[6]!, data.subarray(offset));
  if (payload === undefined) return null;
  const toRef = (text: string): string | null => (text === '' ? null : text);
  return { joinRef: toRef(joinRef), ref: toRef(ref), topic, event: 'broadcast', payload: { event, payload } };
}

/** Returns undefined for an unknown encoding, and for a text that is not JSON. */
function decodePayload(encoding: number, data: Buffer): unknown {
  if (encoding === bytesEncoding) return Buffer.from(data);
  return encoding === jsonEncoding ? parseJson(data.toString()) : undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** `@supabase/realtime-js` writes the lower byte of each character, which is Latin-1 for most European languages. */
function toText(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

function toMessage(parts: Readonly<Record<keyof Message, unknown>>): Message | null {
  const { topic, event, payload } = parts;
  const joinRef = toReference(parts.joinRef);
  const ref = toReference(parts.ref);
  if (typeof topic !== 'string' || typeof event !== 'string' || joinRef === undefined || ref === undefined) return null;
  return { joinRef, ref, topic, event, payload };
}

/** Clients number their messages with texts; a number is accepted, too. */
function toReference(value: unknown): string | null | undefined {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.length <= maxReferenceLength ? value : undefined;
}

const maxReferenceLength = 255;

/** Writes a message. Its payload is JSON already. */
export function encodeMessage(
  version: Version,
  { joinRef, ref, topic, event, payload }: Omit<Message, 'payload'> & { readonly payload: string },
): string {
  if (version === '2.0.0') return `[${[joinRef, ref, topic, event].map(toJson).join(',')},${payload}]`;
  return `{"join_ref":${toJson(joinRef)},"ref":${toJson(ref)},"topic":${toJson(topic)},"event":${toJson(event)},"payload":${payload}}`;
}

function toJson(value: string | null): string {
  return JSON.stringify(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
