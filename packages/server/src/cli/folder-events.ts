import { type FSWatcher, watch } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds from an event to the end of a wait: a save is several events. */
const settleMs = 20;

/**
 * The events of folders. They shorten the wait of a poll, and do not replace it: network file systems and mounts have none, and limits of the
 * system may refuse them.
 */
export interface FolderEvents {
  /** Watches these folders, and no others. */
  readonly watch: (folders: ReadonlySet<string>) => void;
  /** Waits until a folder has had an event since the last wait, until the time is over, or for the stop signal. */
  readonly wait: (ms: number, stopSignal: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

export function createFolderEvents(): FolderEvents {
  const watchers = new Map<string, FSWatcher>();
  let hasEvent = false;
  let wake: () => void = () => undefined;
  const end = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const begin = (folder: string): void => {
    try {
      const watcher = watch(folder, { persistent: false }, () => {
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
      if (hasEvent) await delay(settleMs, undefined, { signal: stopSignal }).catch(() => {});
      wake = () => undefined;
      hasEvent = false;
    },
    close: () => {
      for (const folder of watchers.keys()) end(folder);
    },
  };
}
