import type { Broadcast, BroadcastEvent } from '../ports/ports.ts';
import type { ReceivedMessage } from './message-chunker.ts';

type Listener = (event: BroadcastEvent) => void;

/** The listeners of a broadcast, by topic. */
export class TopicListeners {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Returns a function that removes the listener. */
  subscribe(topic: string, listener: Listener): () => void {
    // The same function may be subscribed twice.
    const added: Listener = (event) => listener(event);
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(added));
    return () => void listeners.delete(added);
  }

  notify(received: ReceivedMessage): void {
    if (received.kind === 'gap') return this.notifyGap();
    const { topic, payload } = received;
    for (const listener of this.#listeners.get(topic) ?? []) listener({ kind: 'message', payload });
  }

  notifyGap(): void {
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener({ kind: 'gap' });
  }
}

/** The broadcast of a single instance: it carries nothing. */
export const localBroadcast: Broadcast = Object.freeze({
  publish: () => undefined,
  subscribe: () => () => undefined,
  health: () => null,
  close: () => Promise.resolve(),
});
