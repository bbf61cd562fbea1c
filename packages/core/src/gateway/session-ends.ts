import type { Connections } from './connections.ts';
import type { AuthenticationOptions } from './options/authentication-options.ts';
import type { SessionStore } from '../auth-schemes/sessions.ts';

/** The ends of sessions that another instance, or the database itself, announces. They are evicted from the cache. */
export class SessionEnds {
  readonly #listeners = new Set<(session: string) => void>();
  readonly #stop: () => void;

  constructor({ sessions }: Pick<AuthenticationOptions, 'sessions'>, connections: Connections, store: SessionStore) {
    const channel = sessions?.channel ?? null;
    this.#stop =
      channel === null
        ? () => undefined
        : connections.listen(channel, (event) => {
            // Notifications may have been missed.
            if (event.kind === 'gap') return store.invalidateAll();
            // Before the listeners: a client whose stream ends connects again.
            store.invalidate(event.payload);
            for (const listener of this.#listeners) listener(event.payload);
          });
  }

  /** Calls the listener with each ended session, until the returned function is called. */
  subscribe(listener: (session: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#stop();
  }
}
