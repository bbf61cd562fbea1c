import { CallQueue, QueuedCall } from './call-queue.ts';
import { query } from './query.ts';
import type { CallRequest } from './call-request.ts';
import { Listener } from './listener.ts';
import type { OpenSession } from './session-opener.ts';
import {
  AcquireTimeout,
  type Call,
  type CallHandle,
  ConnectionLost,
  type Database,
  type ChannelEvent,
  type Notice,
  type QueryOptions,
  type TextTable,
  type Value,
} from './port.ts';
import { isTransient } from './target-session-attributes.ts';
import type { Session } from './session.ts';

/** How many short calls may be in flight on one connection. */
const shareDepth = 32;
/**
 * For how many milliseconds of the database's work calls that arrive together leave in one packet, before another connection is woken
 * for more. As it is measured: the way there and waiting in line are a part of it.
 */
const gatherWork = 4;
const sweepInterval = 100;
/** With fewer connections, none is kept free of calls that may block. */
const fewConnections = 4;
/** The longest wait between two attempts to connect, while the database is away: what a request then waits for its refusal. */
const longestBackOff = 500;

export interface PoolOptions {
  readonly open: OpenSession;
  /** The most connections. */
  readonly size: number;
  /** Milliseconds that a call may wait for a connection. */
  readonly acquireTimeout: number;
  /** The most calls that may wait at a time; more are refused at once. */
  readonly maxQueueLength: number;
  /** Whether short calls may share a busy connection. */
  readonly shareConnections: boolean;
  /** Milliseconds after which a connection that nobody used is closed. */
  readonly idleTimeout: number;
  /** Milliseconds that running calls have to finish when the pool is closed. */
  readonly closeGrace: number;
  readonly onNotice: (notice: Notice) => void;
  /** A connection could not be opened; it is tried again when it is needed. */
  readonly onConnectionError: (error: Error) => void;
}

/** Connections that are opened when needed, a queue with a bound on its length and on waiting, and sharing of the busy ones. */
export class Pool implements Database {
  readonly #options: PoolOptions;
  readonly #sessions = new Set<Session>();
  /** The most recently used last: the others may grow old and be closed. */
  readonly #idle: { readonly session: Session; readonly since: number }[] = [];
  readonly #queue = new CallQueue();
  /** The session that was given a call last. */
  #newest: Session | null = null;
  /** Milliseconds of work that it was given since. */
  #gathered = 0;
  #opening = 0;
  #failures = 0;
  #retryAt = 0;
  #lastFailure: Error | null = null;
  #listener: Listener | null = null;
  #closing: (() => void) | null = null;
  #closed: Promise<void> | null = null;
  readonly #sweeper: NodeJS.Timeout;
  readonly #forget = (queued: QueuedCall): boolean => this.#queue.remove(queued);

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#sweeper = setInterval(() => this.#sweep(), sweepInterval);
    this.#sweeper.unref();
  }

  run(call: Call): CallHandle {
    const waiting = new QueuedCall(call, this.#forget);
    if (this.#closed !== null) this.#refuse(waiting, new ConnectionLost('the gateway is closing'));
    else this.#place(waiting);
    return waiting;
  }

  query(sql: string, values: readonly Value[] = [], options: QueryOptions = {}): Promise<TextTable> {
    return query(this, { sql, values, ...options });
  }

  listen(channel: string, hear: (heard: ChannelEvent) => void): () => void {
    if (this.#closed !== null) return () => undefined;
    const { open, onConnectionError: problem } = this.#options;
    this.#listener ??= new Listener({ open, problem });
    return this.#listener.listen(channel, hear);
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#listener?.stop();
      const impatience = setTimeout(() => this.#abort(), this.#options.closeGrace);
      this.#closing = () => {
        clearTimeout(impatience);
        clearInterval(this.#sweeper);
        resolve();
      };
      this.#settle();
    });
    return this.#closed;
  }

  /** A connection could not finish a call that may be run once more. */
  #again({ handle }: CallRequest, begun: boolean): boolean {
    if (!(handle instanceof QueuedCall) || this.#closed !== null || !handle.requeue(begun)) return false;
    this.#place(handle);
    return true;
  }

  #place(waiting: QueuedCall): void {
    if (this.#mustYield(waiting.call)) return this.#enqueue(waiting);
    if (this.#gather(waiting)) return;
    const session = this.#takeIdle(waiting.call.role);
    if (session !== null) {
      this.#newest = session;
      this.#gathered = waiting.call.expectedMs ?? 0;
      return waiting.begin(session);
    }
    const full = this.#sessions.size + this.#opening >= this.#options.size;
    if (!full || this.#queue.ordinary > 0 || !this.#share(waiting)) this.#enqueue(waiting);
  }

  #enqueue(waiting: QueuedCall): void {
    if (this.#queue.length >= this.#options.maxQueueLength) {
      return this.#refuse(waiting, new AcquireTimeout('too many requests wait for a database connection'));
    }
    this.#queue.push(waiting);
    this.#openIfNeeded();
  }

  /** A call that may block leaves one connection of several to those that do not. */
  #mustYield({ mayBlock }: Call): boolean {
    return mayBlock === true && this.#blockedEnough();
  }

  #blockedEnough(): boolean {
    const { size } = this.#options;
    if (size < fewConnections) return false;
    let blocking = 0;
    for (const session of this.#sessions) if (session.mayBlock) blocking++;
    return blocking >= size - 1;
  }

  /** With the calls that arrived just before it, on the connection that they were given. */
  #gather(waiting: QueuedCall): boolean {
    const session = this.#newest;
    if (session === null || !this.#options.shareConnections || !waiting.call.mayShare) return false;
    if (!session.isBatching || session.load >= shareDepth) return false;
    if (!session.canShare(waiting.call, performance.now())) return false;
    const gathered = this.#gathered + (waiting.call.expectedMs ?? 0);
    if (gathered > gatherWork) return false;
    this.#gathered = gathered;
    waiting.begin(session);
    return true;
  }

  /** The most recently used one, of those whose plans are for the role where there are some. */
  #takeIdle(role: string | null | undefined): Session | null {
    if (role !== undefined) {
      const index = this.#idle.findLastIndex(({ session }) => session.isIdle && session.state.hasPlansFor(role));
      if (index !== -1) return this.#idle.splice(index, 1)[0]!.session;
    }
    for (let entry = this.#idle.pop(); entry !== undefined; entry = this.#idle.pop()) {
      if (entry.session.isIdle) return entry.session;
    }
    return null;
  }

  /** Behind the shortest of the lines that it may join. With calls in the queue nobody shares, so that the queue gets its turn. */
  #share(waiting: QueuedCall): boolean {
    if (!this.#options.shareConnections || !waiting.call.mayShare) return false;
    const now = performance.now();
    let best: Session | null = null;
    for (const session of this.#sessions) {
      if (session.load < (best?.load ?? shareDepth) && session.canShare(waiting.call, now)) best = session;
    }
    if (best === null) return false;
    waiting.begin(best);
    return true;
  }

  #openIfNeeded(): void {
    if (this.#failures > 0 && performance.now() < this.#retryAt) return;
    // While the database is away, one attempt at a time tells as much as many.
    const most = this.#failures > 0 ? 1 : Math.min(this.#queue.length, this.#options.size - this.#sessions.size);
    while (this.#queue.length > 0 && this.#opening < most) this.#open();
  }

  #open(): void {
    const { open, onNotice: notice } = this.#options;
    this.#opening++;
    const released = (session: Session): void => this.#released(session);
    const closed = (session: Session): void => this.#lost(session);
    const again = (run: CallRequest, begun = false): boolean => this.#again(run, begun);
    open({ released, closed, notice, requeue: again }).then(
      (session) => this.#opened(session),
      (error: unknown) => this.#notOpened(error instanceof Error ? error : new Error(String(error))),
    );
  }

  #opened(session: Session): void {
    this.#opening--;
    this.#failures = 0;
    this.#lastFailure = null;
    this.#sessions.add(session);
    if (session.isIdle) this.#released(session);
    else this.#lost(session);
    this.#openIfNeeded();
  }

  /**
   * Without any connection those who wait would wait in vain: they hear at once, unless the server says that it is there
   * soon. The next attempt waits a little longer each time.
   */
  #notOpened(error: Error): void {
    this.#opening--;
    this.#lastFailure = error;
    this.#retryAt = performance.now() + Math.min(longestBackOff, 50 * 2 ** this.#failures++);
    const inVain = !isTransient(error) || this.#closing !== null;
    if (inVain && this.#sessions.size === 0 && this.#opening === 0) this.#refuseAll(error);
    this.#options.onConnectionError(error);
    this.#settle();
  }

  #released(session: Session): void {
    if (!this.#sessions.has(session) || !session.isIdle) return;
    const next = this.#queue.shift(!this.#blockedEnough());
    if (next !== undefined) {
      next.begin(session);
      return this.#fill(session);
    }
    if (this.#idle.some((entry) => entry.session === session)) return;
    this.#idle.push({ session, since: performance.now() });
    this.#settle();
  }

  /** Those next in the queue share it too, as many as would be its part if every connection were free now. */
  #fill(session: Session): void {
    if (!this.#options.shareConnections) return;
    const most = Math.min(shareDepth, Math.ceil((this.#queue.ordinary + 1) / this.#options.size));
    const now = performance.now();
    for (let next = this.#queue.first; next !== undefined && session.load < most; next = this.#queue.first) {
      if (!next.call.mayShare || !session.canShare(next.call, now)) return;
      this.#queue.remove(next);
      next.begin(session);
    }
  }

  #lost(session: Session): void {
    if (!this.#sessions.delete(session)) return;
    const index = this.#idle.findIndex((entry) => entry.session === session);
    if (index !== -1) this.#idle.splice(index, 1);
    this.#openIfNeeded();
    this.#settle();
  }

  #refuse(waiting: QueuedCall, error: Error): void {
    // Never before `run` has returned: its caller would not know the handle yet.
    queueMicrotask(() => waiting.call.failed(error));
  }

  #refuseAll(error: Error): void {
    for (const { call } of this.#queue.removeOlderThan()) call.failed(error);
  }

  #late(): AcquireTimeout {
    const reason = this.#lastFailure === null ? '' : `: ${this.#lastFailure.message}`;
    return new AcquireTimeout(`no connection became free within ${this.#options.acquireTimeout} ms${reason}`);
  }

  #sweep(): void {
    const now = performance.now();
    for (const session of this.#sessions) session.checkTimeouts(now);
    for (const { call } of this.#queue.removeOlderThan(now - this.#options.acquireTimeout)) call.failed(this.#late());
    while (this.#idle.length > 0 && now - this.#idle[0]!.since > this.#options.idleTimeout) {
      this.#idle.shift()!.session.end();
    }
    this.#openIfNeeded();
    this.#settle();
  }

  /** While closing: ends what is idle, and is done when nobody waits and nothing is left. */
  #settle(): void {
    if (this.#closing === null) return;
    for (const { session } of this.#idle.splice(0)) session.end();
    if (this.#sessions.size === 0 && this.#opening === 0 && this.#queue.length === 0) this.#closing();
  }

  /** The time to finish is over, for calls and for attempts to connect alike. */
  #abort(): void {
    this.#refuseAll(new ConnectionLost('the gateway is closing'));
    for (const session of this.#sessions) session.destroy('the gateway is closing');
    this.#closing?.();
  }
}
