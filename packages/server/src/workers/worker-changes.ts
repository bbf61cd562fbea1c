/** The row changes of a worker: the primary process reads them. */
import { Problem } from '@pgway/core';
import {
  type TableName,
  type ChangeFeed,
  type ChangeGapReason,
  type ChangeListener,
  type ChangeMessage,
  type ChangeRequest,
  type ChangeStatistics,
  DatabaseError,
  type TableReport,
} from '@pgway/core/internal';
import type { Channel } from './channel.ts';
import { MessageQueue } from './message-queue.ts';
import {
  type ChangeFailure,
  type ChangeSubscribeAnswer,
  type ChangeSubscribeQuestion,
  type EndedChanges,
  type RelayedChange,
  type RelayedTableReport,
  toPrimary,
  toWorker,
  type WatchTablesQuestion,
} from './topics.ts';

/** Milliseconds. A subscription begins at the next cut, which may wait for slow lookups. */
const subscribeTimeoutMs = 30_000;
const statisticsIntervalMs = 5_000;
/** Subscriptions that are continued at the same time. */
const maxResumptions = 50;
/** Milliseconds until a subscription that could not be continued is tried again. */
const resumeDelayMs = 1_000;
/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const insufficientPrivilege = '42501';
const retryAfter: readonly string[] = ['retry-after', '5'];

interface TableWatch {
  readonly tables: readonly TableName[];
  readonly listener: (report: TableReport) => void;
}

interface Subscriber {
  readonly request: ChangeRequest;
  readonly listener: ChangeListener;
  lastId: string;
  hasBegun: boolean;
}

/**
 * Creates the feed of a worker.
 * @param leads whether this worker reports the counters of the primary process, so that metrics of all workers have them once
 */
export function workerChanges(channel: Channel, leads: () => boolean): ChangeFeed {
  return new WorkerChangeFeed(channel, leads);
}

class WorkerChangeFeed implements ChangeFeed {
  readonly #channel: Channel;
  readonly #leads: () => boolean;
  readonly #subscribers = new Map<number, Subscriber>();
  readonly #watches = new Map<number, TableWatch>();
  readonly #lost: number[] = [];
  readonly #counts = { deliveries: 0, gaps: {} as Partial<Record<ChangeGapReason, number>> };
  readonly #cancelled: MessageQueue<number>;
  readonly #timer: NodeJS.Timeout;
  #resumptions = 0;
  #lastNumber = 0;
  /** Of the primary process. */
  #shared: ChangeStatistics = noStatistics;
  /** What the primary process has counted while this worker leads. */
  readonly #led = { cuts: 0, lookups: 0 };
  #hasRead = false;
  #isClosed = false;

  constructor(channel: Channel, leads: () => boolean) {
    this.#channel = channel;
    this.#leads = leads;
    this.#cancelled = new MessageQueue(channel, toPrimary.cancelChanges);
    channel.handle<RelayedChange>(toWorker.changes, ({ ids, message }) => {
      for (const id of ids) this.#deliver(id, message);
    });
    channel.handle<EndedChanges>(toWorker.changesEnded, ({ id, reason }) => {
      this.#take(id)?.listener.ended(reason);
    });
    channel.handle<readonly number[]>(toWorker.changesLost, (ids) => {
      this.#lost.push(...ids);
      this.#resumeNext();
    });
    channel.handle<RelayedTableReport>(toWorker.changedTables, ({ id, report }) =>
      this.#watches.get(id)?.listener(report),
    );
    void this.#readStatistics();
    this.#timer = setInterval(() => void this.#readStatistics(), statisticsIntervalMs).unref();
  }

  async subscribe(request: ChangeRequest, listener: ChangeListener): ReturnType<ChangeFeed['subscribe']> {
    if (this.#isClosed) throw new Problem('changes-unavailable', { headers: retryAfter });
    const subscriber: Subscriber = { request, listener, lastId: request.lastEventId ?? '', hasBegun: false };
    const id = ++this.#lastNumber;
    this.#subscribers.set(id, subscriber);
    const answer = await this.#ask({ id, request });
    if (!answer.ok) {
      this.#subscribers.delete(id);
      throw fromFailure(answer.failure);
    }
    return {
      get lastId() {
        return subscriber.lastId;
      },
      cancel: () => {
        if (this.#take(id) !== undefined) this.#cancelled.push(String(id), id);
      },
    };
  }

  watchTables(tables: readonly TableName[], listener: TableWatch['listener']): () => void {
    const id = ++this.#lastNumber;
    this.#watches.set(id, { tables, listener });
    this.#watch(id);
    return () => {
      this.#watches.delete(id);
      // A primary process that does not answer has lost the watch with its connection, or reports in vain.
      this.#channel.ask(toPrimary.unwatchTables, id, subscribeTimeoutMs).catch(() => undefined);
    };
  }

  statistics(): ChangeStatistics {
    const { isOpen, lagBytes, cutAgeMs, groups } = this.#shared;
    return {
      isOpen,
      lagBytes,
      cutAgeMs,
      subscribers: this.#subscribers.size,
      groups: this.#leads() ? groups : 0,
      ...this.#led,
      deliveries: this.#counts.deliveries,
      gaps: { ...this.#counts.gaps },
    };
  }

  close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#watches.clear();
    for (const id of this.#subscribers.keys()) {
      this.#take(id)?.listener.ended('closing');
      this.#cancelled.push(String(id), id);
    }
    return Promise.resolve();
  }

  async #ask(question: ChangeSubscribeQuestion): Promise<ChangeSubscribeAnswer> {
    try {
      return await this.#channel.ask<ChangeSubscribeAnswer>(toPrimary.subscribeChanges, question, subscribeTimeoutMs);
    } catch (error) {
      // The primary process may have received the question.
      this.#cancelled.push(String(question.id), question.id);
      return { ok: false, failure: { kind: 'other', message: String(error) } };
    }
  }

  #deliver(id: number, message: ChangeMessage): void {
    const subscriber = this.#subscribers.get(id);
    if (subscriber === undefined) return;
    subscriber.lastId = message.id;
    const isRepeated = message.kind === 'begin' && subscriber.hasBegun;
    subscriber.hasBegun = true;
    // A subscription that was continued begins again, after a gap.
    if (isRepeated) return;
    if (message.kind === 'changes') this.#counts.deliveries += message.changes.length;
    if (message.kind === 'gap') this.#counts.gaps[message.reason] = (this.#counts.gaps[message.reason] ?? 0) + 1;
    subscriber.listener.message(message);
  }

  #take(id: number): Subscriber | undefined {
    const subscriber = this.#subscribers.get(id);
    this.#subscribers.delete(id);
    return subscriber;
  }

  /** Continues subscriptions that have missed messages, some at a time. */
  #resumeNext(): void {
    while (this.#resumptions < maxResumptions && this.#lost.length > 0) {
      this.#resumptions++;
      void this.#resume(this.#lost.shift()!).finally(() => {
        this.#resumptions--;
        this.#resumeNext();
      });
    }
  }

  async #resume(id: number): Promise<void> {
    const subscriber = this.#subscribers.get(id);
    if (subscriber === undefined) return;
    const { request, lastId } = subscriber;
    const answer = await this.#ask({ id, request: { ...request, lastEventId: lastId === '' ? null : lastId } });
    if (this.#subscribers.get(id) !== subscriber) {
      // The subscriber has left meanwhile.
      if (answer.ok) this.#cancelled.push(String(id), id);
      return;
    }
    if (answer.ok) return;
    if (answer.failure.kind === 'database') {
      const isForbidden = answer.failure.diagnostics.code === insufficientPrivilege;
      // A client that connects again gets the error.
      return this.#take(id)?.listener.ended(isForbidden ? 'forbidden' : 'closing');
    }
    // The log cannot be read now. The subscription continues after its last message when it can.
    setTimeout(() => {
      this.#lost.push(id);
      this.#resumeNext();
    }, resumeDelayMs).unref();
  }

  #watch(id: number): void {
    const watch = this.#watches.get(id);
    if (watch === undefined || this.#isClosed) return;
    const question: WatchTablesQuestion = { id, tables: watch.tables };
    this.#channel.ask(toPrimary.watchTables, question, subscribeTimeoutMs).catch(() => {
      setTimeout(() => this.#watch(id), resumeDelayMs).unref();
    });
  }

  async #readStatistics(): Promise<void> {
    const { readChangeStatistics: topic } = toPrimary;
    const answer = await this.#channel
      .ask<ChangeStatistics | null>(topic, null, statisticsIntervalMs)
      .catch(() => this.#shared);
    const next = answer ?? noStatistics;
    if (this.#hasRead && this.#leads()) {
      this.#led.cuts += Math.max(0, next.cuts - this.#shared.cuts);
      this.#led.lookups += Math.max(0, next.lookups - this.#shared.lookups);
    }
    this.#shared = next;
    this.#hasRead = true;
  }
}

const noStatistics: ChangeStatistics = {
  isOpen: false,
  lagBytes: null,
  cutAgeMs: null,
  subscribers: 0,
  groups: 0,
  cuts: 0,
  lookups: 0,
  deliveries: 0,
  gaps: {},
};

function fromFailure(failure: ChangeFailure): Error {
  switch (failure.kind) {
    case 'database':
      return new DatabaseError(failure.diagnostics, failure.step, failure.phase, failure.label);
    case 'problem': {
      const { code, status, title, detail, members, headers } = failure;
      return new Problem(code, { status, title, members, headers, ...(detail === undefined ? {} : { detail }) });
    }
    case 'other':
      return new Problem('changes-unavailable', { headers: retryAfter, cause: new Error(failure.message) });
  }
}
