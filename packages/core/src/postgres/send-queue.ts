import type { PipelinedRequest } from './pipelined-request.ts';
import { MessageWriter } from './message-writer.ts';

/** The messages that are to be sent, and the exchanges whose answers are still to come, in the order of the connection. */
export class SendQueue {
  readonly outgoing: MessageWriter = new MessageWriter();
  readonly exchanges: PipelinedRequest[] = [];
  readonly #write: (bytes: Buffer) => void;
  #flushing = false;
  /** The last exchanges whose messages are still in `outgoing`. */
  #unsent = 0;

  constructor(write: (bytes: Buffer) => void) {
    this.#write = write;
  }

  /** Exchanges wait for the end of this round of the event loop: one more travels in the same packet. */
  get gathering(): boolean {
    return this.#flushing;
  }

  /** How many of the exchanges were sent. */
  get sent(): number {
    return this.exchanges.length - this.#unsent;
  }

  /** Ends what was written since the last exchange with a Sync of its own. */
  push(exchange: PipelinedRequest): void {
    this.outgoing.sync();
    if (this.exchanges.length === 0) exchange.startedAt = performance.now();
    this.exchanges.push(exchange);
    this.#unsent++;
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => this.flush());
  }

  flush(): void {
    this.#flushing = false;
    if (this.outgoing.length === 0) return;
    this.#unsent = 0;
    this.#write(this.outgoing.take());
  }
}
