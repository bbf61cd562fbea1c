/** The event logs of a worker: the primary process has them. */
import type { EventLog, LogListener, LogSnapshot } from '@pgway/core';
import type { Channel } from './channel.ts';
import { type AppendedEntry, type EntryMessage, toPrimary, toWorker } from './topics.ts';

/** Milliseconds. A worker that starts waits as long as for the ended sessions. */
const openTimeoutMs = 30_000;

/** Characters. A longer entry is dropped: each worker would hold a copy. */
const maxEntryLength = 2 * 1024 * 1024;

/** Returns a function that opens the log of a topic. */
export function workerEventLogs(channel: Channel): (topic: string, listener: LogListener) => Promise<EventLog> {
  const listeners = new Map<string, LogListener>();
  /** Topics whose entries are dropped until their snapshot arrives, which has them. */
  const restoring = new Set<string>();
  let isLost = false;
  const append = (entry: Omit<AppendedEntry, 'lost'>): void => {
    const length = 'event' in entry.content ? entry.content.event.length : 0;
    const message: AppendedEntry = { ...entry, lost: isLost };
    isLost = length > maxEntryLength || !channel.tell(toPrimary.appendEntry, message, length);
  };
  const restore = async (topic: string): Promise<void> => {
    restoring.add(topic);
    try {
      const snapshot = await channel.ask<LogSnapshot>(toPrimary.openLog, topic, openTimeoutMs);
      listeners.get(topic)?.restore(snapshot);
    } finally {
      restoring.delete(topic);
    }
  };
  channel.handle<EntryMessage>(toWorker.logEntry, ({ topic, entry }) => {
    if (!restoring.has(topic)) listeners.get(topic)?.receive(entry);
  });
  // A primary process that does not answer has ended, and this process with it.
  channel.handle<string>(toWorker.logLost, (topic) => void restore(topic).catch(() => undefined));
  channel.onDrained(() => {
    if (isLost) append({ topic: '', path: '', content: { gap: 'connection-lost' }, isNotification: false });
  });
  return async (topic, listener) => {
    listeners.set(topic, listener);
    await restore(topic);
    return {
      append: (path, content, isNotification) => append({ topic, path, content, isNotification }),
      close: () => {
        listeners.delete(topic);
        channel.tell(toPrimary.closeLog, topic);
      },
    };
  };
}
