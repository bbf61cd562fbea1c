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

/** Returns the head of a broadcast, whose payload is not read: lengths of one byte each, and texts. */
function decodeBroadcast(data: Buffer): Message | null {
  if (data.length < broadcastHeaderBytes || data[0] !== broadcastKind) return null;
  let offset = broadcastHeaderBytes;
  const [joinRef, ref, topic] = [data[1]!, data[2]!, data[3]!].map((length) => {
    const text = data.toString('utf8', offset, offset + length);
    offset += length;
    return text;
  }) as [string, string, string];
  return { joinRef, ref: ref === '' ? null : ref, topic, event: 'broadcast', payload: {} };
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
