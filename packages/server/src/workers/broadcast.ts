/** The broadcast between the workers of one server: through the primary process, without a database. */
import type { Broadcast, BroadcastEvent } from '@pgway/core';
import type { Channel } from './channel.ts';
import { workerEventLogs } from './worker-event-log.ts';
import { type PublishedMessage, toPrimary, toWorker } from './topics.ts';

type Listener = (event: BroadcastEvent) => void;

/** Characters. A longer message is dropped: each worker would hold a copy. */
const maxMessageLength = 2 * 1024 * 1024;

/** Creates the broadcast of a worker. */
export function workerBroadcast(channel: Channel): Broadcast {
  const listeners = new Map<string, Set<Listener>>();
  let isLost = false;
  let isClosed = false;
  const notify = (topic: string, event: BroadcastEvent): void => {
    if (!isClosed) for (const listener of listeners.get(topic) ?? []) listener(event);
  };
  const send = (topic: string, payload: string): void => {
    const message: PublishedMessage = { topic, payload, lost: isLost };
    isLost = payload.length > maxMessageLength || !channel.tell(toPrimary.publish, message, payload.length);
  };
  channel.handle<PublishedMessage>(toWorker.message, ({ topic, payload }) => {
    notify(topic, { kind: 'message', payload });
  });
  channel.handle(toWorker.gap, () => {
    for (const topic of listeners.keys()) notify(topic, { kind: 'gap' });
  });
  channel.onDrained(() => {
    if (isLost) send(noTopic, '');
  });
  return {
    isPrivate: true,
    openLog: workerEventLogs(channel),
    publish: (topic, payload) => {
      if (!isClosed) send(topic, payload);
    },
    subscribe: (topic, receive) => {
      // The same function may be subscribed twice.
      const listener: Listener = (event) => receive(event);
      const ofTopic = listeners.get(topic) ?? new Set();
      listeners.set(topic, ofTopic.add(listener));
      return () => void ofTopic.delete(listener);
    },
    health: () => null,
    close: () => {
      isClosed = true;
      return Promise.resolve();
    },
  };
}

/** A topic without listeners, for a message that only tells of a gap. */
const noTopic = '';

/** Passes the messages of each worker on to the others. */
export class BroadcastRelay {
  /** The workers, and whether each has missed a message. */
  readonly #workers = new Map<Channel, { hasGap: boolean }>();

  add(channel: Channel): void {
    const worker = { hasGap: false };
    this.#workers.set(channel, worker);
    channel.handle<PublishedMessage>(toPrimary.publish, (message) => this.#relay(channel, message));
    channel.onDrained(() => {
      if (worker.hasGap) worker.hasGap = !channel.tell(toWorker.gap);
    });
  }

  remove(channel: Channel): void {
    this.#workers.delete(channel);
  }

  #relay(sender: Channel, message: PublishedMessage): void {
    for (const [channel, worker] of this.#workers) {
      if (channel === sender) continue;
      if (message.lost) worker.hasGap = true;
      if (worker.hasGap) worker.hasGap = !channel.tell(toWorker.gap);
      if (worker.hasGap || message.topic === noTopic) continue;
      worker.hasGap = !channel.tell(toWorker.message, message, message.payload.length);
    }
  }
}
