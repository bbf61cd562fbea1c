import { type AllowedCalls, CallQueue, QueuedCall, QueuedTransaction } from './call-queue.ts';
import { query } from './query.ts';
import { mayBlock, mayReserve } from './connection-reserve.ts';
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
  type PoolStatistics,
  type QueryOptions,
  type TextTable,
  type Transaction,
  type TransactionOptions,
  type Value,
} from './port.ts';
import { CallTransaction, SessionConnection } from './transaction.ts';
import { StalledCalls } from './stalled-calls.ts';
import { isTransient } from './target-session-attributes.ts';
import type { Session } from './session.ts';
import { toError } from '../to-error.ts';

/** The maximum number of calls in the pipeline of one connection. */
const maxPipelineLength = 32;
/**
 * Milliseconds of expected work that are batched on one connection before another idle connection is used. The expected times are
 * measured latencies, which include network and queueing.
 */
const maxBatchMs = 4;
const checkIntervalMs = 100;
/** The maximum delay between attempts to connect, and so the longest wait of a request while the database is unavailable. */
const maxBackOffMs = 500;
/** The same for connections that no call waits for. */
const maxFillBackOffMs = 30_000;
/** The delay after a loss: a server may close each connection as soon as it is open. */
const fillDelayMs = 1_000;
/** A connection is closed up to this part of its lifetime earlier, so that connections of one moment are not closed in one moment. */
const lifetimeJitter = 0.1;

export interface PoolOptions {
  readonly open: OpenSession;
  /** Opens the connection that listens to channels. Default: `open`. */
  readonly openListener?: OpenSession;
  /** The maximum number of connections. */
  readonly size: number;
  /** The number of connections that stay open, from the first call on. */
  readonly minSize: number;
  /** Milliseconds that a call may wait for a connection. */
  readonly acquireTimeout: number;
  /** The maximum number of queued calls; further ones fail at once. */
  readonly maxQueueLength: number;
  /** Whether short calls may join the pipeline of a busy connection. */
  readonly shareConnections: boolean;
  /** Milliseconds until an unused connection above the minimum is closed; infinite for never. */
  readonly idleTimeoutMs: number;
  /** Milliseconds until a connection is closed, when no call runs on it; infinite for never. */
  readonly lifetimeMs: number;
  /** Milliseconds that running calls have to finish when the pool is closed. */
  readonly closeGraceMs: number;
  readonly onNotice: (notice: Notice) => void;
  /** Receives the error of a failed attempt to connect; the pool tries again when it needs a connection. */
  readonly onConnectionError: (error: Error) => void;
}

/** A connection pool that opens connections on demand, queues calls with limits, and pipelines short calls on busy connections. */
export class Pool implements Database {
  readonly #options: PoolOptions;
  /** The open sessions, each with the time at which its lifetime ends, by `performance.now()`. */
  readonly #sessions = new Map<Session, number>();
  /** The most recently used session is last, so that the others can reach the idle timeout. */
  readonly #idle: { readonly session: Session; readonly since: number }[] = [];
  readonly #queue = new CallQueue();
  readonly #allowed: AllowedCalls = {
    blocking: () => mayBlock(this.#sessions, this.#options.size),
    transaction: () => mayReserve(this.#sessions, this.#options.size),
    unread: () => this.#stalledCalls.unread(),
  };
  readonly #stalledCalls: StalledCalls<CallRequest>;
  /** The session that received the latest call. */
  #batchSession: Session | null = null;
  /** Milliseconds of expected work in the batch of that session. */
  #batchMs = 0;
  #opening = 0;
  #failures = 0;
  #retryAt = 0;
  /** The time of the next attempt to reach the minimum size. Infinite before the first connection. */
  #fillAt = Number.POSITIVE_INFINITY;
  #lastFailure: Error | null = null;
  #acquireTimeouts = 0;
  #listener: Listener | null = null;
  #closing: (() => void) | null = null;
  #closed: Promise<void> | null = null;
  readonly #checkTimer: NodeJS.Timeout;
  readonly #dequeue = (queued: QueuedCall): boolean => this.#queue.remove(queued);

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#stalledCalls = new StalledCalls(this.#sessions, this.#queue, options.size);
    this.#checkTimer = setInterval(() => this.#checkTimeouts(), checkIntervalMs).unref();
  }

  get size(): number {
    return this.#options.size;
  }

  statistics(): PoolStatistics {
    return {
      size: this.#options.size,
      open: this.#sessions.size,
      idle: this.#idle.length,
      waiting: this.#queue.length,
      maxWaiting: this.#options.maxQueueLength,
      acquireTimeouts: this.#acquireTimeouts,
      ...this.#queue.waitStatistics,
    };
  }

  run(call: Call): CallHandle {
    const queued = new QueuedCall(call, this.#dequeue);
    this.#dispatch(queued);
    return queued;
  }

  begin(options: TransactionOptions): Promise<Transaction> {
    return new Promise((resolve, reject) => {
      const onSession = (session: Session): void =>
        void CallTransaction.begin(new SessionConnection(session, options), options).then(resolve, reject);
      const queued = new QueuedTransaction({ role: options.role, failed: reject }, this.#dequeue, onSession);
      options.signal?.addEventListener('abort', () => queued.cancel(), { once: true });
      this.#dispatch(queued);
    });
  }

  query(sql: string, values: readonly Value[] = [], options: QueryOptions = {}): Promise<TextTable> {
    return query(this, { sql, values, ...options });
  }

  listen(channel: string, listener: (event: ChannelEvent) => void): () => void {
    if (this.#closed !== null) return () => undefined;
    const { open, openListener = open, onConnectionError } = this.#options;
    this.#listener ??= new Listener({ open: openListener, onConnectionError });
    return this.#listener.listen(channel, listener);
  }

  disconnect(): void {
    for (const session of this.#sessions.keys()) this.#retire(session);
    this.#idle.length = 0;
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#listener?.stop();
      const timer = setTimeout(() => this.#abort(), this.#options.closeGraceMs);
      this.#closing = () => {
        clearTimeout(timer);
        clearInterval(this.#checkTimer);
        resolve();
      };
      this.#closeIfIdle();
    });
    return this.#closed;
  }

  /** Runs a call of a lost or blocked connection again; returns false when it must not be retried. */
  #requeue({ handle }: CallRequest, hadStarted: boolean): boolean {
    if (!(handle instanceof QueuedCall) || this.#closed !== null || !handle.requeue(hadStarted)) return false;
    this.#dispatch(handle);
    return true;
  }

  #dispatch(queued: QueuedCall): void {
    if (this.#closed !== null) return queued.failLater(new ConnectionLost('the gateway is closing'));
    if (this.#mustYield(queued)) return this.#enqueue(queued);
    if (this.#joinBatch(queued)) return;
    const session = this.#takeIdle(queued.call);
    if (session !== null) {
      this.#batchSession = session;
      this.#batchMs = queued.call.expectedMs ?? 0;
      return queued.begin(session);
    }
    const full = this.#sessions.size + this.#opening >= this.#options.size;
    if (!full || this.#queue.precedes(queued, this.#allowed) || !this.#joinPipeline(queued)) this.#enqueue(queued);
  }

  #enqueue(queued: QueuedCall): void {
    if (this.#queue.length >= this.#options.maxQueueLength) {
      this.#acquireTimeouts++;
      return queued.failLater(new AcquireTimeout('too many requests wait for a database connection'));
    }
    this.#queue.push(queued);
    this.#openIfNeeded();
  }

  /** Returns whether a call that may block has to wait, so that one connection remains for calls that do not block. */
  #mustYield(queued: QueuedCall): boolean {
    if (queued.call.mayBlock !== true) return false;
    const { blocking, transaction } = this.#allowed;
    return !blocking() || (queued instanceof QueuedTransaction && !transaction());
  }

  /** Adds a call to the current batch of short calls, which leaves in one packet. */
  #joinBatch(queued: QueuedCall): boolean {
    const session = this.#batchSession;
    if (session === null || !this.#options.shareConnections || !queued.call.mayShare) return false;
    if (!session.isBatching || session.load >= maxPipelineLength) return false;
    if (!session.canShare(queued.call, performance.now())) return false;
    const batchMs = this.#batchMs + (queued.call.expectedMs ?? 0);
    if (batchMs > maxBatchMs) return false;
    this.#batchMs = batchMs;
    queued.begin(session);
    return true;
  }

  /** Removes and returns the idle session that changes least for the call, the most recently used one of several. */
  #takeIdle(call: Call): Session | null {
    let [best, bestCost] = [-1, Number.POSITIVE_INFINITY];
    for (let index = this.#idle.length - 1; index >= 0 && bestCost > 0; index--) {
      const { session } = this.#idle[index]!;
      const cost = session.isIdle ? session.state.costOfChange(call) : Number.POSITIVE_INFINITY;
      if (cost < bestCost) [best, bestCost] = [index, cost];
    }
    return best === -1 ? null : this.#idle.splice(best, 1)[0]!.session;
  }

  /** Adds a call to the shortest pipeline that accepts it. The caller ensures that no queued call goes before it. */
  #joinPipeline(queued: QueuedCall): boolean {
    if (!this.#options.shareConnections || !queued.call.mayShare) return false;
    const now = performance.now();
    let best: Session | null = null;
    for (const session of this.#sessions.keys()) {
      if (session.load < (best?.load ?? maxPipelineLength) && session.canShare(queued.call, now)) best = session;
    }
    if (best === null) return false;
    queued.begin(best);
    return true;
  }

  #openIfNeeded(): void {
    if (this.#failures > 0 && performance.now() < this.#retryAt) return;
    // While the database is unavailable, attempts are made one at a time.
    const most = this.#failures > 0 ? 1 : Math.min(this.#queue.length, this.#options.size - this.#sessions.size);
    while (this.#queue.length > 0 && this.#opening < most) this.#open();
  }

  #open(): void {
    const { open, onNotice: notice } = this.#options;
    this.#opening++;
    const [released, closed] = [this.#handleReleased.bind(this), this.#handleClosed.bind(this)];
    const requeue = (request: CallRequest, hadStarted = false): boolean => this.#requeue(request, hadStarted);
    open({ released, closed, notice, requeue }).then(
      (session) => this.#handleOpened(session),
      (error: unknown) => this.#handleConnectError(toError(error)),
    );
  }

  #handleOpened(session: Session): void {
    this.#opening--;
    if (this.#failures > 0 || this.#fillAt === Number.POSITIVE_INFINITY) this.#fillAt = 0;
    [this.#failures, this.#lastFailure] = [0, null];
    this.#sessions.set(session, performance.now() + this.#options.lifetimeMs * (1 - lifetimeJitter * Math.random()));
    if (session.isIdle) this.#handleReleased(session);
    else this.#handleClosed(session);
    this.#openIfNeeded();
    this.#fill();
  }

  /** The number of sessions that are not about to be closed. */
  get #lasting(): number {
    return [...this.#sessions.keys()].filter(({ state }) => !state.isRetired).length;
  }

  /** Opens connections up to the minimum size. */
  #fill(): void {
    const { size, minSize } = this.#options;
    if (this.#closed !== null || performance.now() < this.#fillAt) return;
    const missing = Math.min(minSize - this.#lasting, size - this.#sessions.size) - this.#opening;
    for (let count = this.#failures > 0 ? Math.min(missing, 1) : missing; count > 0; count--) this.#open();
  }

  /** Closes a session when its calls have ended. */
  #retire(session: Session): void {
    session.state.isRetired = true;
    if (session.isIdle) session.end();
  }

  /** Fails the queued calls if there is no connection, unless the server is starting. Each failure doubles the next delay. */
  #handleConnectError(error: Error): void {
    this.#opening--;
    this.#lastFailure = error;
    const now = performance.now();
    const backOffMs = 50 * 2 ** this.#failures++;
    this.#retryAt = now + Math.min(maxBackOffMs, backOffMs);
    if (this.#fillAt < Number.POSITIVE_INFINITY) this.#fillAt = now + Math.min(maxFillBackOffMs, backOffMs);
    const mustFail = !isTransient(error) || this.#closing !== null;
    if (mustFail && this.#sessions.size === 0 && this.#opening === 0) this.#failQueued(error);
    this.#options.onConnectionError(error);
    this.#closeIfIdle();
  }

  #handleReleased(session: Session): void {
    const expiresAt = this.#sessions.get(session);
    if (expiresAt === undefined) return;
    const now = performance.now();
    if (now >= expiresAt || session.state.isRetired) return this.#retire(session);
    if (!session.isIdle) return;
    const next = this.#queue.shift(this.#allowed);
    if (next !== undefined) {
      this.#queue.begin(next, session);
      return this.#fillPipeline(session);
    }
    if (this.#idle.some((entry) => entry.session === session)) return;
    this.#idle.push({ session, since: now });
    this.#closeIfIdle();
  }

  /** Adds queued calls to the pipeline of a session, up to its share among all connections. */
  #fillPipeline(session: Session): void {
    if (!this.#options.shareConnections) return;
    const most = Math.min(maxPipelineLength, Math.ceil((this.#queue.ordinary + 1) / this.#options.size));
    while (session.load < most) {
      const next = this.#queue.first(this.#allowed);
      if (next?.call.mayShare !== true || !session.canShare(next.call, performance.now())) return;
      this.#queue.remove(next);
      this.#queue.begin(next, session);
    }
  }

  #handleClosed(session: Session): void {
    if (!this.#sessions.delete(session)) return;
    const index = this.#idle.findIndex((entry) => entry.session === session);
    if (index !== -1) this.#idle.splice(index, 1);
    if (!session.state.isRetired) this.#fillAt = performance.now() + fillDelayMs;
    // Calls that may block wait although connections are idle: the lost one may have run such a call, and a new one may not open.
    if (this.#queue.length > 0) for (const idle of this.#idle.splice(0)) this.#handleReleased(idle.session);
    this.#openIfNeeded();
    this.#fill();
    this.#closeIfIdle();
  }

  #failQueued(error: Error): void {
    for (const { call } of this.#queue.removeOlderThan()) call.failed(error);
  }

  #acquireTimeout(): AcquireTimeout {
    this.#acquireTimeouts++;
    const reason = this.#lastFailure === null ? '' : `: ${this.#lastFailure.message}`;
    return new AcquireTimeout(`no connection became free within ${this.#options.acquireTimeout} ms${reason}`);
  }

  #checkTimeouts(): void {
    const now = performance.now();
    const { size } = this.#sessions;
    for (const session of this.#sessions.keys()) session.checkTimeouts(now);
    this.#stalledCalls.check(now);
    // A server did not answer: calls on its idle connections would also wait until they time out.
    if (this.#sessions.size < size)
      for (const { session } of this.#idle.splice(0)) session.destroy('it may not answer');
    for (const { call } of this.#queue.removeOlderThan(now - this.#options.acquireTimeout))
      call.failed(this.#acquireTimeout());
    this.#retireIdle(now);
    this.#openIfNeeded();
    this.#fill();
    this.#closeIfIdle();
  }

  /** Closes idle connections at the end of their lifetime, and those above the minimum after the idle timeout. */
  #retireIdle(now: number): void {
    const { minSize, idleTimeoutMs } = this.#options;
    let surplus = this.#lasting - minSize;
    // The least recently used connections are first.
    for (const { session, since } of this.#idle) {
      const isUnused = now - since > idleTimeoutMs && surplus > 0;
      if (!isUnused && now < this.#sessions.get(session)!) continue;
      this.#retire(session);
      surplus--;
    }
    this.#idle.splice(0, this.#idle.length, ...this.#idle.filter(({ session }) => session.isIdle));
  }

  /** While closing: closes idle connections, and finishes when no call and no connection remains. */
  #closeIfIdle(): void {
    if (this.#closing === null) return;
    for (const { session } of this.#idle.splice(0)) session.end();
    if (this.#sessions.size === 0 && this.#opening === 0 && this.#queue.length === 0) this.#closing();
  }

  /** Ends the grace period: drops the queued calls and all connections. */
  #abort(): void {
    this.#failQueued(new ConnectionLost('the gateway is closing'));
    for (const session of this.#sessions.keys()) session.destroy('the gateway is closing');
    this.#closing?.();
  }
}
