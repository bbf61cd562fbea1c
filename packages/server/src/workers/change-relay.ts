/** The row changes of a server with workers, in the primary process: one reader of the log, whose messages are encoded once for each worker. */
import { Problem } from '@pgway/core';
import type { ChangeFeed, ChangeListener, ChangeMessage, TableReport } from '@pgway/core/internal';
import { DatabaseError, toError } from '@pgway/core/internal';
import type { Channel } from './channel.ts';
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

/** Opens the feed. It is called when a worker needs row changes. */
export type OpenChangeFeed = () => Promise<ChangeFeed>;

/** The feed of one configuration, which is open while a worker uses it. */
class SharedFeed {
  readonly #open: OpenChangeFeed;
  #opening: Promise<ChangeFeed> | null = null;
  /** Null: no worker needs it. */
  opened: ChangeFeed | null = null;
  workers = 0;

  constructor(open: OpenChangeFeed) {
    this.#open = open;
  }

  get(): Promise<ChangeFeed> {
    this.#opening ??= this.#open().then(
      (feed) => (this.opened = feed),
      (error: unknown) => {
        this.#opening = null;
        throw error;
      },
    );
    return this.#opening;
  }

  async close(): Promise<void> {
    await (await this.#opening?.catch(() => null))?.close();
  }
}

export class ChangeRelay {
  readonly #workers = new Map<Channel, { readonly subscriptions: WorkerSubscriptions; readonly feed: SharedFeed }>();
  /** That of workers that start. */
  #current: SharedFeed;

  constructor(open: OpenChangeFeed) {
    this.#current = new SharedFeed(open);
  }

  /**
   * Gives workers that start from now on another feed. The one of earlier workers closes when they have exited.
   * @returns a function that undoes it
   */
  configure(open: OpenChangeFeed): () => void {
    const before = this.#current;
    this.#current = new SharedFeed(open);
    return () => (this.#current = before);
  }

  add(channel: Channel): void {
    const feed = this.#current;
    feed.workers++;
    this.#workers.set(channel, { subscriptions: new WorkerSubscriptions(channel, () => feed.get()), feed });
    channel.handle(toPrimary.readChangeStatistics, () => feed.opened?.statistics() ?? null);
  }

  remove(channel: Channel): void {
    const worker = this.#workers.get(channel);
    if (worker === undefined) return;
    this.#workers.delete(channel);
    worker.subscriptions.close();
    worker.feed.workers--;
    if (worker.feed.workers === 0 && worker.feed !== this.#current) void worker.feed.close();
  }

  async close(): Promise<void> {
    await this.#current.close();
  }
}

/** A subscription of a worker. `cancel` is null until the feed has accepted it. */
interface RelayedSubscription {
  cancel: (() => void) | null;
  isCancelled: boolean;
}

interface OutgoingMessage {
  readonly message: ChangeMessage;
  readonly ids: number[];
}

class WorkerSubscriptions {
  readonly #channel: Channel;
  readonly #feed: () => Promise<ChangeFeed>;
  readonly #subscriptions = new Map<number, RelayedSubscription>();
  /** The messages of this turn, in order. */
  #outgoing: OutgoingMessage[] = [];
  /** The position in `#outgoing` of the last message of a subscription. */
  readonly #lastOutgoing = new Map<number, number>();
  readonly #byMessage = new Map<ChangeMessage, number>();
  /** Subscriptions that have missed a message, because the worker does not read its messages fast enough. */
  readonly #lost = new Set<number>();
  /** What ends the reports, by the number of the watch. */
  readonly #watches = new Map<number, () => void>();
  #isClosed = false;

  constructor(channel: Channel, feed: () => Promise<ChangeFeed>) {
    this.#channel = channel;
    this.#feed = feed;
    channel.handle<ChangeSubscribeQuestion>(toPrimary.subscribeChanges, (question) => this.#subscribe(question));
    channel.handle<readonly number[]>(toPrimary.cancelChanges, (ids) => {
      for (const id of ids) this.#cancel(id);
      return null;
    });
    channel.handle<WatchTablesQuestion>(toPrimary.watchTables, (question) => this.#watch(question));
    channel.handle<number>(toPrimary.unwatchTables, (id) => this.#unwatch(id));
    channel.onDrained(() => this.#resume());
  }

  close(): void {
    this.#isClosed = true;
    for (const id of this.#watches.keys()) this.#unwatch(id);
    for (const id of this.#subscriptions.keys()) this.#cancel(id);
  }

  async #watch({ id, tables }: WatchTablesQuestion): Promise<null> {
    this.#unwatch(id);
    // The worker may end it while the feed is opened.
    let isEnded = false;
    this.#watches.set(id, () => (isEnded = true));
    const feed = await this.#feed();
    if (isEnded || this.#isClosed) return null;
    /** The tables of reports that the worker did not get. */
    let missed: TableReport['changed'] = [];
    const stop = feed.watchTables(tables, (next) => {
      const changed = missed === null || next.changed === null ? null : [...new Set([...missed, ...next.changed])];
      const relayed: RelayedTableReport = { id, report: { ...next, changed } };
      missed = this.#channel.tell(toWorker.changedTables, relayed) ? [] : changed;
    });
    this.#watches.set(id, stop);
    return null;
  }

  #unwatch(id: number): null {
    this.#watches.get(id)?.();
    this.#watches.delete(id);
    return null;
  }

  async #subscribe({ id, request }: ChangeSubscribeQuestion): Promise<ChangeSubscribeAnswer> {
    // The worker asks again when it has got no answer.
    this.#cancel(id);
    const relayed: RelayedSubscription = { cancel: null, isCancelled: false };
    this.#subscriptions.set(id, relayed);
    try {
      const feed = await this.#feed();
      const subscription = await feed.subscribe(request, this.#listener(id, relayed));
      if (relayed.isCancelled) subscription.cancel();
      else relayed.cancel = () => subscription.cancel();
      // The messages of the subscription precede the answer.
      this.#flush();
      return { ok: true };
    } catch (error) {
      if (this.#subscriptions.get(id) === relayed) this.#subscriptions.delete(id);
      return { ok: false, failure: toFailure(error) };
    }
  }

  #listener(id: number, relayed: RelayedSubscription): ChangeListener {
    return {
      message: (message) => {
        if (!relayed.isCancelled) this.#add(id, message);
      },
      ended: (reason) => {
        if (relayed.isCancelled) return;
        this.#subscriptions.delete(id);
        this.#flush();
        const ended: EndedChanges = { id, reason };
        if (!this.#channel.tell(toWorker.changesEnded, ended)) this.#lose(id);
      },
    };
  }

  #cancel(id: number): void {
    const relayed = this.#subscriptions.get(id);
    this.#subscriptions.delete(id);
    this.#lost.delete(id);
    if (relayed === undefined) return;
    relayed.isCancelled = true;
    relayed.cancel?.();
  }

  /** The subscribers of a group get one message with all of their numbers, unless one of them has another message in between. */
  #add(id: number, message: ChangeMessage): void {
    if (this.#outgoing.length === 0) queueMicrotask(() => this.#flush());
    const known = this.#byMessage.get(message);
    if (known !== undefined && known > (this.#lastOutgoing.get(id) ?? -1)) {
      this.#outgoing[known]!.ids.push(id);
      this.#lastOutgoing.set(id, known);
      return;
    }
    this.#lastOutgoing.set(id, this.#outgoing.length);
    this.#byMessage.set(message, this.#outgoing.length);
    this.#outgoing.push({ message, ids: [id] });
  }

  #flush(): void {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    this.#lastOutgoing.clear();
    this.#byMessage.clear();
    for (const { message, ids } of outgoing) {
      const receivers = ids.filter((id) => !this.#lost.has(id));
      if (receivers.length === 0) continue;
      const relayed: RelayedChange = { ids: receivers, message };
      if (this.#channel.tell(toWorker.changes, relayed, sizeOf(message) + receivers.length * 8)) continue;
      for (const id of receivers) this.#lose(id);
    }
  }

  /** Ends a subscription that has missed a message. The worker continues it after its last one. */
  #lose(id: number): void {
    this.#cancel(id);
    this.#lost.add(id);
  }

  #resume(): void {
    if (this.#lost.size > 0 && this.#channel.tell(toWorker.changesLost, [...this.#lost], this.#lost.size * 8)) {
      this.#lost.clear();
    }
  }
}

/** Estimates the bytes of a message. */
function sizeOf(message: ChangeMessage): number {
  switch (message.kind) {
    case 'changes':
      return message.changes.reduce(
        (sum, { record, old }) => sum + 150 + (record?.length ?? 0) + (old?.length ?? 0),
        0,
      );
    case 'rows':
      return message.rows.reduce((sum, row) => sum + 20 + row.length, 0);
    case 'begin':
    case 'gap':
      return 100;
  }
}

function toFailure(error: unknown): ChangeFailure {
  if (error instanceof DatabaseError) {
    const { diagnostics, step, phase, label } = error;
    return { kind: 'database', diagnostics, step, phase, label };
  }
  if (error instanceof Problem) {
    const { code, status, title, detail, members, headers } = error;
    return { kind: 'problem', code, status, title, detail, members, headers };
  }
  return { kind: 'other', message: toError(error).message };
}
