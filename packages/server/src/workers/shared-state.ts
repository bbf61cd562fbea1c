/** The state of all workers, in the primary process. It survives the end of each of them. */
import { memoryKeyStorage, memorySessions } from '@pgway/core';
import type { Configuration } from '../config/schema.ts';
import type { BatchSink } from '../log/batch-queue.ts';
import type { ProcessContext } from '../process-context.ts';
import { BroadcastRelay } from './broadcast.ts';
import type { ChangeRelay } from './change-relay.ts';
import type { Channel } from './channel.ts';
import { EventLogs } from './event-logs.ts';
import { WorkerMetrics } from './worker-metrics.ts';
import { SharedLimits } from './shared-limits.ts';
import { SharedListeners } from './shared-listeners.ts';
import {
  answerTimeouts,
  type RefreshTokenUse,
  type SessionEnd,
  toPrimary,
  toWorker,
  type WrittenKey,
} from './topics.ts';

/** Ended sessions that are remembered until their credentials expire. */
const maxEndedSessions = 100_000;

/** The outputs that one process writes. */
export interface SharedOutputs {
  readonly writeLog: ProcessContext['writeLog'];
  /** Null: there is no log file. */
  readonly file: BatchSink<Uint8Array> | null;
}

export class SharedState {
  readonly #channels = new Set<Channel>();
  readonly #relay = new BroadcastRelay();
  readonly #metrics = new WorkerMetrics();
  readonly #listeners = new SharedListeners();
  readonly #keys = memoryKeyStorage();
  readonly #limits: SharedLimits;
  readonly #events: EventLogs;
  /** Which refresh tokens were used. */
  readonly #sessions = memorySessions();
  /** When ended sessions expire, in seconds since 1970; the first one has ended first. */
  readonly #ended = new Map<string, number>();
  readonly #outputs: SharedOutputs;
  readonly #changes: ChangeRelay;

  constructor(configuration: Configuration, outputs: SharedOutputs, changes: ChangeRelay) {
    this.#changes = changes;
    this.#limits = new SharedLimits(configuration);
    this.#events = new EventLogs();
    this.#outputs = outputs;
  }

  /** Takes the limits of a configuration that was loaded again. */
  configure(configuration: Configuration): void {
    this.#limits.configure(configuration);
  }

  /** Serves the questions of a worker. */
  add(channel: Channel): void {
    this.#channels.add(channel);
    this.#relay.add(channel);
    this.#metrics.add(channel);
    this.#listeners.add(channel);
    this.#serveKeys(channel);
    this.#limits.add(channel);
    this.#events.add(channel);
    this.#changes.add(channel);
    this.#serveSessions(channel);
    channel.handle<readonly string[]>(toPrimary.invalidateCache, (routines) =>
      this.#askOthers(channel, toWorker.invalidateCache, routines),
    );
    channel.handle(
      toPrimary.writeConsole,
      oneAtATime<Uint8Array, void>((lines) => this.#outputs.writeLog(lines)),
    );
    channel.handle(
      toPrimary.writeLogFile,
      oneAtATime<readonly Uint8Array[], number>(async (blocks) => (await this.#outputs.file?.write(blocks)) ?? 0),
    );
    channel.handle(toPrimary.readMetrics, () => this.#metrics.read());
  }

  remove(channel: Channel): void {
    this.#channels.delete(channel);
    this.#relay.remove(channel);
    this.#metrics.remove(channel);
    this.#listeners.remove(channel);
    this.#limits.remove(channel);
    this.#events.remove(channel);
    this.#changes.remove(channel);
    channel.close();
  }

  #askOthers(sender: Channel, topic: string, data: unknown): Promise<readonly unknown[]> {
    const others = [...this.#channels].filter((channel) => channel !== sender);
    return ask(others, topic, data);
  }

  #serveKeys(channel: Channel): void {
    channel.handle(toPrimary.readKeys, () => this.#keys.read());
    channel.handle<WrittenKey>(toPrimary.writeKey, ({ id, text }) => this.#keys.write(id, text));
    channel.handle(toPrimary.keyWarning, () => this.#keys.warning());
  }

  #serveSessions(channel: Channel): void {
    channel.handle(toPrimary.endedSessions, () => {
      this.#forgetExpired();
      return [...this.#ended].map(([session, expires]): SessionEnd => ({ session, expires }));
    });
    channel.handle<readonly SessionEnd[]>(toPrimary.endSessions, (ends) => {
      for (const { session, expires } of ends) this.#ended.set(session, expires);
      while (this.#ended.size > maxEndedSessions) this.#ended.delete(this.#ended.keys().next().value!);
      return this.#askOthers(channel, toWorker.sessionsEnded, ends).then(() => null);
    });
    channel.handle<RefreshTokenUse>(toPrimary.useRefreshToken, ({ session, generation, expires }) =>
      this.#sessions.useRefreshToken(session, generation, expires),
    );
  }

  #forgetExpired(): void {
    const now = Date.now() / 1000;
    for (const [session, expires] of this.#ended) if (expires <= now) this.#ended.delete(session);
  }
}

/** Returns the answers that arrive in time. A worker that does not answer is busy: it must not hold up the others. */
async function ask(channels: readonly Channel[], topic: string, data: unknown): Promise<readonly unknown[]> {
  const answers = await Promise.allSettled(channels.map((channel) => channel.ask(topic, data, answerTimeouts.workers)));
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
}

/**
 * Returns a function that rejects while a call runs. A worker repeats a write that was not answered in time: while an output is blocked,
 * such as a pipe without a reader, each attempt would add a copy to the memory.
 */
function oneAtATime<Data, Answer>(write: (data: Data) => Promise<Answer>): (data: Data) => Promise<Answer> {
  let isWriting = false;
  return async (data) => {
    if (isWriting) throw new Error('the output does not take the lines before');
    isWriting = true;
    try {
      return await write(data);
    } finally {
      isWriting = false;
    }
  };
}
