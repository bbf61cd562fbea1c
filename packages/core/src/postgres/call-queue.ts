import { type Call, type CallHandle, CallCancelled, type ClientKey, type PoolStatistics } from './port.ts';
import type { CallRequest } from './call-request.ts';
import type { Session } from './session.ts';

/** The calls that may take a connection now. */
export interface AllowedCalls {
  /** Whether it may be a call that blocks. */
  readonly blocking: () => boolean;
  /** Whether it may be a transaction. */
  readonly transaction: () => boolean;
  /** The clients that have read nothing of a response: their calls wait behind those of others. */
  readonly unread: () => ReadonlySet<ClientKey>;
}

/**
 * The calls that wait for a connection, in the order of their arrival. Calls that may block have a separate queue, so that calls
 * which wait for each other's locks do not delay the rest. So have transactions, which wait for their requests too.
 */
export class CallQueue {
  readonly #ordinary: QueuedCall[] = [];
  readonly #blocking: QueuedCall[] = [];
  readonly #transactions: QueuedCall[] = [];
  #waits = 0;
  #waitMs = 0;

  get length(): number {
    return this.#ordinary.length + this.#blocking.length + this.#transactions.length;
  }

  /** The number of queued calls that do not block. */
  get ordinary(): number {
    return this.#ordinary.length;
  }

  /** Returns the call that does not block and is the next one. */
  first({ unread }: Pick<AllowedCalls, 'unread'>): QueuedCall | undefined {
    const oldest = headOf(this.#ordinary);
    if (oldest === undefined || isRead(oldest, unread)) return oldest;
    return firstRead(this.#ordinary, unread()) ?? oldest;
  }

  /** Whether a queued call that does not block goes before this one, which is not queued. */
  precedes(queued: QueuedCall, allowed: Pick<AllowedCalls, 'unread'>): boolean {
    const first = this.first(allowed);
    return first !== undefined && (isRead(first, allowed.unread) || !isRead(queued, allowed.unread));
  }

  /**
   * Returns the time since which the oldest call has waited, by `performance.now()`; infinite without a call.
   * @param unread clients whose calls do not count
   * @param own one whose calls count nevertheless
   */
  oldestSince(unread?: ReadonlySet<ClientKey>, own?: ClientKey): number {
    const counts = ({ call: { client } }: QueuedCall): boolean =>
      client === undefined || client === own || unread?.has(client) !== true;
    const sinceOf = (queue: readonly QueuedCall[]): number => queue.find(counts)?.since ?? Infinity;
    return Math.min(sinceOf(this.#ordinary), sinceOf(this.#blocking), sinceOf(this.#transactions));
  }

  push(queued: QueuedCall): void {
    this.#queueFor(queued).push(queued);
  }

  /** Removes and returns the oldest call of a client that reads, else the oldest one. */
  shift(allowed: AllowedCalls): QueuedCall | undefined {
    const next = this.#next(allowed);
    if (next !== undefined) this.remove(next);
    return next;
  }

  #next(allowed: AllowedCalls): QueuedCall | undefined {
    const oldest = this.#oldest(allowed, headOf);
    if (oldest === undefined || isRead(oldest, allowed.unread)) return oldest;
    const unread = allowed.unread();
    return this.#oldest(allowed, (queue) => firstRead(queue, unread)) ?? oldest;
  }

  /** Returns the oldest of the calls that are selected from the queues. */
  #oldest(
    { blocking, transaction }: AllowedCalls,
    select: (queue: readonly QueuedCall[]) => QueuedCall | undefined,
  ): QueuedCall | undefined {
    let oldest = select(this.#ordinary);
    if (this.#blocking.length + this.#transactions.length === 0 || !blocking()) return oldest;
    const blockingCall = select(this.#blocking);
    if (isOlder(blockingCall, oldest)) oldest = blockingCall;
    const transactionCall = select(this.#transactions);
    return isOlder(transactionCall, oldest) && transaction() ? transactionCall : oldest;
  }

  /** Begins a call that was queued. */
  begin(queued: QueuedCall, session: Session): void {
    this.#waits++;
    this.#waitMs += performance.now() - queued.since;
    queued.begin(session);
  }

  get waitStatistics(): Pick<PoolStatistics, 'waits' | 'waitMs'> {
    return { waits: this.#waits, waitMs: this.#waitMs };
  }

  /** Returns false when the call is not in the queue. */
  remove(queued: QueuedCall): boolean {
    const queue = this.#queueFor(queued);
    const index = queue.indexOf(queued);
    if (index === 0) queue.shift();
    else if (index !== -1) queue.splice(index, 1);
    return index !== -1;
  }

  /** Removes and returns the calls that were queued before this `performance.now()` time; all calls without one. */
  removeOlderThan(before: number = Number.POSITIVE_INFINITY): readonly QueuedCall[] {
    return [this.#ordinary, this.#blocking, this.#transactions].flatMap((queue) => {
      const end = queue.findIndex(({ since }) => since >= before);
      return queue.splice(0, end === -1 ? queue.length : end);
    });
  }

  #queueFor(queued: QueuedCall): QueuedCall[] {
    if (queued instanceof QueuedTransaction) return this.#transactions;
    return queued.call.mayBlock === true ? this.#blocking : this.#ordinary;
  }
}

function headOf(queue: readonly QueuedCall[]): QueuedCall | undefined {
  return queue[0];
}

function isOlder(one: QueuedCall | undefined, other: QueuedCall | undefined): boolean {
  return one !== undefined && (other === undefined || one.since < other.since);
}

/** Returns the first call whose client reads. */
function firstRead(queue: readonly QueuedCall[], unread: ReadonlySet<ClientKey>): QueuedCall | undefined {
  return queue.find(({ call: { client } }) => client === undefined || !unread.has(client));
}

/** Whether the client of a call reads, as far as it is known. */
function isRead({ call: { client } }: QueuedCall, unread: AllowedCalls['unread']): boolean {
  return client === undefined || !unread().has(client);
}

/** The number of retries after a lost connection; a call that ends its own connection must not repeat forever. */
const maxRetries = 2;

/** A call of the pool: in the queue, on a connection, or between two connections. */
export class QueuedCall implements CallHandle {
  readonly call: Call;
  readonly since: number;
  readonly #dequeue: (queued: QueuedCall) => boolean;
  #session: Session | null = null;
  #request: CallRequest | null = null;
  #retries = 0;

  /** @param dequeue removes the call from the queue; returns false when it is not queued */
  constructor(call: Call, dequeue: (queued: QueuedCall) => boolean) {
    this.call = call;
    this.since = performance.now();
    this.#dequeue = dequeue;
  }

  begin(session: Session): void {
    this.#session = session;
    this.#request = session.run(this.call);
    this.#request.handle = this;
  }

  /**
   * Prepares the call for another connection; returns false when its retries are used up.
   * @param hadStarted the connection was lost while the call ran: such a call is retried only once
   */
  requeue(hadStarted: boolean): boolean {
    if (this.#retries >= maxRetries) return false;
    this.#retries += hadStarted ? maxRetries : 1;
    this.#session = null;
    this.#request = null;
    return true;
  }

  /** Fails after the caller has the handle that `run` returns. */
  failLater(error: Error): void {
    queueMicrotask(() => this.call.failed(error));
  }

  resume(): void {
    if (this.#request !== null) this.#session!.resume(this.#request);
  }

  cancel(): void {
    if (this.#request !== null) this.#session!.abandon(this.#request);
    else if (this.#dequeue(this)) this.call.failed(new CallCancelled('the caller abandoned the call'));
  }
}

/** A transaction that waits for a session of its own. */
export class QueuedTransaction extends QueuedCall {
  readonly #onSession: (session: Session) => void;

  constructor(
    { role, failed }: Pick<Call, 'role' | 'failed'>,
    dequeue: (queued: QueuedCall) => boolean,
    onSession: (session: Session) => void,
  ) {
    // It counts as a call that may block: statements of a transaction wait for locks, and for the client between them.
    super({ steps: [], mayShare: false, mayBlock: true, role, timeout: 0, done: () => undefined, failed }, dequeue);
    this.#onSession = onSession;
  }

  override begin(session: Session): void {
    this.#onSession(session);
  }
}
