import { encodeMessage, type Version } from '../message.ts';
import type { BroadcastMessage } from './broadcast-message.ts';
import { topicPrefix } from './topic.ts';

/** A WebSocket message in the form of one version. */
export interface Frame {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/** A message for many receivers, which is written once for each version. */
export class SharedFrame {
  readonly #write: (version: Version) => Frame | null;
  readonly #written = new Map<Version, Frame | null>();

  /** @param write returns null for a version that cannot have the message */
  constructor(write: (version: Version) => Frame | null) {
    this.#write = write;
  }

  in(version: Version): Frame | null {
    const known = this.#written.get(version);
    if (known !== undefined) return known;
    const frame = this.#write(version);
    this.#written.set(version, frame);
    return frame;
  }
}

/** Writes a message of a topic, whose payload is JSON. */
export function textFrame(name: string, event: string, payload: string): SharedFrame {
  const message = { joinRef: null, ref: null, topic: `${topicPrefix}${name}`, event, payload };
  return new SharedFrame((version) => ({ data: Buffer.from(encodeMessage(version, message)), isBinary: false }));
}

/** Writes a broadcast. Version 1.0.0 has no form for bytes. */
export function broadcastFrame(name: string, { event, payload, id, isReplayed }: BroadcastMessage): SharedFrame {
  if (typeof payload !== 'string') {
    return new SharedFrame((version) => (version === '1.0.0' ? null : binaryFrame(name, event, payload)));
  }
  const meta = id === null ? '' : `,"meta":${JSON.stringify(isReplayed === true ? { id, replayed: true } : { id })}`;
  return textFrame(
    name,
    'broadcast',
    `{"type":"broadcast","event":${JSON.stringify(event)},"payload":${payload}${meta}}`,
  );
}

/** Kind of a binary message: a broadcast of the server. */
const broadcastKind = 4;
const bytesEncoding = 0;

/** The lengths of topic, event and metadata, which have one byte each, the encoding, the texts, and the bytes. */
function binaryFrame(name: string, event: string, payload: Uint8Array): Frame {
  const [topicBytes, eventBytes] = [Buffer.from(`${topicPrefix}${name}`), Buffer.from(event)];
  const head = Buffer.from([broadcastKind, topicBytes.length, eventBytes.length, 0, bytesEncoding]);
  return { data: Buffer.concat([head, topicBytes, eventBytes, payload]), isBinary: true };
}
