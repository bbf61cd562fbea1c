import type { Broadcast, Observer } from '../../ports/ports.ts';

const topic = 'refresh';

export interface SharedRefresh {
  /** Reads the catalog again here, then has the other instances do so. */
  readonly refresh: () => Promise<void>;
  readonly stop: () => void;
}

/** What one instance is asked to read again the others read again as well. */
export function followRefreshes(refresh: () => Promise<void>, broadcast: Broadcast, observe: Observer): SharedRefresh {
  const stop = broadcast.subscribe(topic, () => {
    // Also after a gap: one may have been asked for meanwhile.
    refresh().catch((error: unknown) => {
      observe({ kind: 'refresh-failed', error: error instanceof Error ? error : new Error(String(error)) });
    });
  });
  return {
    refresh: async () => {
      await refresh();
      broadcast.publish(topic, '');
    },
    stop,
  };
}
