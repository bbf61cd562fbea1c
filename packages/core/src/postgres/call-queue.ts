import { type Call, type CallHandle, CallCancelled } from './port.ts';
import type { CallRequest } from './call-request.ts';
import type { Session } from './session.ts';

/**
 * The calls that wait for a connection, in the order of their arrival. Those that may block have a line of their own: however many of them
 * wait for each other's locks, the others go past them.
 */
export class CallQueue {
  readonly #ordinary: QueuedCall[] = [];
  readonly #blocking: QueuedCall[] = [];

  get length(): number {
    return this.#ordinary.length + this.#blocking.length;
  }

  /** How many wait that do not block. */
  get ordinary(): number {
    return this.#ordinary.length;
  }

  /** The next of those that do not block. */
  get first(): QueuedCall | undefined {
    return this.#ordinary[0];
  }

  push(queued: QueuedCall): void {
    this.#lineOf(queued).push(queued);
  }

  /**
   * Takes the call out that has waited longest.
   * @param mayBlock whether it may be one that blocks
   */
  shift(mayBlock: boolean): QueuedCall | undefined {
    const [ordinary, blocking] = [this.#ordinary[0], mayBlock ? this.#blocking[0] : undefined];
    const blockingFirst = ordinary === undefined || (blocking !== undefined && blocking.since < ordinary.since);
    return blockingFirst && blocking !== undefined ? this.#blocking.shift() : this.#ordinary.shift();
  }

  /** False when it is not in the queue. */
  remove(queued: QueuedCall): boolean {
    const line = this.#lineOf(queued);
    const index = line.indexOf(queued);
    if (index !== -1) line.splice(index, 1);
    return index !== -1;
  }

  /** Takes those out that have waited since before this time of `performance.now()`; all without one. */
  removeSince(before: number = Number.POSITIVE_INFINITY): readonly QueuedCall[] {
    return [this.#ordinary, this.#blocking].flatMap((line) => {
      const late = line.findIndex(({ since }) => since >= before);
      return line.splice(0, late === -1 ? line.length : late);
    });
  }

  #lineOf({ call }: QueuedCall): QueuedCall[] {
    return call.mayBlock === true ? this.#blocking : this.#ordinary;
  }
}

/** How often a call that was lost with its connection is run again: one that ends its own connection must not do so for ever. */
const mostRetries = 2;

/** A call of the pool: in its queue, on a connection, or between two of them. */
export class QueuedCall implements CallHandle {
  readonly call: Call;
  readonly since: number;
  readonly #forget: (queued: QueuedCall) => boolean;
  #session: Session | null = null;
  #run: CallRequest | null = null;
  #retries = 0;

  /** @param forget takes it out of the queue; false when it is not in it */
  constructor(call: Call, forget: (queued: QueuedCall) => boolean) {
    this.call = call;
    this.since = performance.now();
    this.#forget = forget;
  }

  begin(session: Session): void {
    this.#session = session;
    this.#run = session.run(this.call);
    this.#run.handle = this;
  }

  /**
   * Back to where no connection had it yet; false when it was run often enough.
   * @param begun its connection was lost while it ran: that happens once
   */
  requeue(begun: boolean): boolean {
    if (this.#retries >= mostRetries) return false;
    this.#retries += begun ? mostRetries : 1;
    this.#session = null;
    this.#run = null;
    return true;
  }

  resume(): void {
    if (this.#run !== null) this.#session!.resume(this.#run);
  }

  cancel(): void {
    if (this.#run !== null) this.#session!.abandon(this.#run);
    else if (this.#forget(this)) this.call.failed(new CallCancelled('the caller went away'));
  }
}
