import { type FSWatcher, watch } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds from an event to the end of a wait: a save is several events. */
const settleMs = 20;
/** Milliseconds between the ends of two waits that events end: a file of the folder may be written all the time. */
const eventIntervalMs = 100;

/**
 * The events of folders. They shorten the wait of a poll, and do not replace it: network file systems and mounts have none, and limits of the
 * system may refuse them.
 */
export interface FolderEvents {
  /** Watches these folders, and no others. */
  readonly watch: (folders: ReadonlySet<string>) => void;
  /** Waits until an SQL file, link or folder may have changed since the last wait, until the time is over, or for the stop signal. */
  readonly wait: (ms: number, stopSignal: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

/**
 * Whether an event can be one of an SQL file, or of a link or folder on its path, which rarely have an extension. The poll finds the others.
 * @param name of the changed entry; null: unknown
 */
export function concernsFiles(name: string | null): boolean {
  return name === null || /\.sql$/i.test(name) || /^\.*[^.]*$/.test(name);
}

export function createFolderEvents(): FolderEvents {
  const watchers = new Map<string, FSWatcher>();
  let hasEvent = false;
  let earliestEnd = 0;
  let wake: () => void = () => undefined;
  const end = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const begin = (folder: string): void => {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (!concernsFiles(name)) return;
        hasEvent = true;
        wake();
      });
      watcher.on('error', () => end(folder));
      watchers.set(folder, watcher);
    } catch {
      // The poll finds the changes of this folder.
    }
  };
  return {
    watch: (folders) => {
      for (const folder of watchers.keys()) if (!folders.has(folder)) end(folder);
      for (const folder of folders) if (!watchers.has(folder)) begin(folder);
    },
    wait: async (ms, stopSignal) => {
      const woken = new AbortController();
      wake = () => woken.abort();
      const signal = AbortSignal.any([stopSignal, woken.signal]);
      if (!hasEvent) await delay(ms, undefined, { signal }).catch(() => {});
      if (hasEvent) {
        const settling = Math.max(settleMs, earliestEnd - performance.now());
        await delay(settling, undefined, { signal: stopSignal }).catch(() => {});
        earliestEnd = performance.now() + eventIntervalMs;
      }
      wake = () => undefined;
      hasEvent = false;
    },
    close: () => {
      for (const folder of watchers.keys()) end(folder);
    },
  };
}
