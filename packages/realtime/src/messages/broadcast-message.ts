import { isObject } from '../message.ts';
import { Refusal } from '../refusal.ts';

/** A message for the receivers of a topic. */
export interface BroadcastMessage {
  readonly event: string;
  /** JSON, or bytes that a client has sent. */
  readonly payload: string | Uint8Array;
  /** The id of a message of the database; null for one of a client. */
  readonly id: string | null;
  /** Whether a join has asked for it, before which it was sent. */
  readonly isReplayed?: boolean;
}

/** Bytes of the name of an event, whose length has one byte in binary messages. */
const maxEventBytes = 255;

/**
 * Reads the payload of a message `broadcast`: `{event, payload}`.
 * @throws Refusal
 */
export function parseBroadcast(message: unknown): BroadcastMessage {
  if (!isObject(message)) throw new Refusal('The payload of broadcast is not an object');
  const { event, payload = {} } = message;
  if (typeof event !== 'string' || event === '') throw new Refusal('"event" of a broadcast is not a text');
  if (Buffer.byteLength(event) > maxEventBytes)
    throw new Refusal(`"event" of a broadcast has more than ${maxEventBytes} bytes`);
  return { event, payload: payload instanceof Uint8Array ? payload : toJson(payload), id: null };
}

/**
 * Returns the text of a value that clients have sent as JSON.
 * @throws Refusal: JSON.parse reads more levels than JSON.stringify writes
 */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw new Refusal('"payload" has too many levels of objects and lists');
  }
}
