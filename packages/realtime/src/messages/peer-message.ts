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

const kinds: ReadonlySet<unknown> = new Set(['broadcast', 'presence', 'state', 'alive', 'end', 'ask']);

/** Returns null for a text that is not a message: a newer version may send others. */
export function parsePeerMessage(text: string): PeerMessage | null {
  try {
    const message = JSON.parse(text) as PeerMessage | null;
    return typeof message === 'object' && message !== null && kinds.has(message.kind) ? message : null;
  } catch {
    return null;
  }
}
