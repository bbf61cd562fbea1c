import { isObject } from '../message.ts';
import type { Presence } from '../presence/presence-list.ts';
import type { Topic } from './topic.ts';

/** What the processes of a gateway tell each other. */
export type PeerMessage =
  | {
      readonly kind: 'broadcast';
      readonly topic: Topic;
      readonly event: string;
      /** JSON, or Base64 of bytes. */
      readonly payload: string;
      readonly isBinary: boolean;
    }
  | PresenceMessage;

/** The messages about presences. `number` counts those of a process that change its presences, so that a lost one is noticed. */
export type PresenceMessage =
  | {
      readonly kind: 'presence';
      readonly process: string;
      readonly number: number;
      /** As `topicKey` returns it. */
      readonly topic: string;
      readonly joins: readonly Presence[];
      /** References. */
      readonly leaves: readonly string[];
    }
  /** All presences of a process, in several messages. */
  | {
      readonly kind: 'state';
      readonly process: string;
      readonly number: number;
      readonly presences: readonly (readonly [topic: string, presences: readonly Presence[]])[];
      readonly isFirst: boolean;
      readonly isLast: boolean;
    }
  | { readonly kind: 'alive'; readonly process: string; readonly number: number }
  | { readonly kind: 'end'; readonly process: string }
  /** Asks a process for its state; null: all processes. */
  | { readonly kind: 'ask'; readonly process: string | null };

/** Returns null for a text that is not a message: a newer version may send others. */
export function parsePeerMessage(text: string): PeerMessage | null {
  try {
    const message: unknown = JSON.parse(text);
    return isPeerMessage(message) ? message : null;
  } catch {
    return null;
  }
}

function isPeerMessage(message: unknown): message is PeerMessage {
  if (!isObject(message)) return false;
  const { kind } = message;
  return typeof kind === 'string' && forms.get(kind)?.(message) === true;
}

type Members = Readonly<Record<string, unknown>>;

const forms: ReadonlyMap<string, (members: Members) => boolean> = new Map<
  PeerMessage['kind'],
  (members: Members) => boolean
>([
  ['broadcast', isBroadcast],
  [
    'presence',
    (members) =>
      isNumbered(members) &&
      isText(members['topic']) &&
      isListOf(members['joins'], isPresence) &&
      isListOf(members['leaves'], isText),
  ],
  [
    'state',
    (members) =>
      isNumbered(members) &&
      isListOf(members['presences'], isTopicState) &&
      isBoolean(members['isFirst']) &&
      isBoolean(members['isLast']),
  ],
  ['alive', isNumbered],
  ['end', ({ process }) => isText(process)],
  ['ask', ({ process }) => process === null || isText(process)],
]);

function isNumbered({ process, number }: Members): boolean {
  return isText(process) && Number.isSafeInteger(number);
}

function isBroadcast({ topic, event, payload, isBinary }: Members): boolean {
  return (
    isObject(topic) &&
    isText(topic['name']) &&
    isBoolean(topic['isPrivate']) &&
    isText(event) &&
    isText(payload) &&
    isBoolean(isBinary)
  );
}

function isTopicState(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && isText(value[0]) && isListOf(value[1], isPresence);
}

function isPresence(value: unknown): boolean {
  return isObject(value) && isText(value['ref']) && isText(value['key']) && isText(value['meta']);
}

function isListOf(value: unknown, isElement: (element: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isElement);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}
