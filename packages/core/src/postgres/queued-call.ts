import { type Call, type CallHandle, Cancelled } from './port.ts';
import type { Run } from './run.ts';
import type { Session } from './session.ts';

/** How often a call that was lost with its connection is run again: one that ends its own connection must not do so for ever. */
const mostRetries = 2;

/** A call of the pool: in its queue, on a connection, or between two of them. */
export class QueuedCall implements CallHandle {
  readonly call: Call;
  readonly since: number;
  readonly #forget: (queued: QueuedCall) => boolean;
  #session: Session | null = null;
  #run: Run | null = null;
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
  again(begun: boolean): boolean {
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
    else if (this.#forget(this)) this.call.failed(new Cancelled('the caller went away'));
  }
}
