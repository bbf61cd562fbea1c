import type { PipelinedRequest } from './pipeline.ts';

/** How long a server may take to act on a cancel or a farewell, in milliseconds, before its connection is given up. */
export const gracePeriodMs = 5_000;
/** Milliseconds until a cancel that showed no effect is sent again; doubled each time. */
const firstRepeat = 250;

/** What a session lets those do who cancel what it runs. */
export interface Cancellable {
  /** What runs, and what waits behind it. */
  readonly exchanges: readonly PipelinedRequest[];
  /** Asks the server; resolves when it has been told. */
  readonly cancel: () => Promise<void>;
  /** Runs behind everything that was sent, and tells when it has. */
  readonly barrier: (passed: () => void) => void;
  readonly lose: (reason: string) => void;
}

/** Cancels what nobody wants any more. A cancel hits whatever runs when it arrives: it is sent only when nothing else could be hit. */
export class Canceller {
  readonly #session: Cancellable;
  #underWay = 0;

  constructor(session: Cancellable) {
    this.#session = session;
  }

  /** While a cancel is under way nothing may be sent that it could hit. */
  get isPending(): boolean {
    return this.#underWay > 0;
  }

  /** To be called whenever a call may have become unwanted, or the only one. */
  cancelIfAlone(): void {
    const { exchanges, lose } = this.#session;
    const head = exchanges[0];
    if (this.#underWay > 0 || exchanges.length !== 1 || !head?.pending?.isObsolete) return;
    const impatience = setTimeout(() => lose('the server did not act on a cancel'), gracePeriodMs);
    this.#cancel(head, firstRepeat, () => clearTimeout(impatience));
  }

  /**
   * Cancels a call that is past its timeout.
   * @returns milliseconds that the call at the head is past it; 0 when it is not
   */
  cancelExpired(now: number): number {
    const head = this.#session.exchanges[0];
    const run = head?.pending;
    if (head === undefined || !run || run.timeout === 0 || run.stalled) return 0;
    // The server's own statement_timeout comes first; this one is for a server that does not answer.
    const late = now - head.startedAt - run.timeout;
    if (late < Math.min(1_000, run.timeout)) return 0;
    run.timedOut = true;
    this.cancelIfAlone();
    return late;
  }

  #cancel(exchange: PipelinedRequest, repeat: number, settled: () => void): void {
    const { exchanges, cancel, barrier, lose } = this.#session;
    this.#underWay++;
    cancel().then(
      () => {
        // A late signal must find the session idle: behind this barrier it can hit nobody.
        barrier(() => {
          if (--this.#underWay === 0) settled();
        });
        // The server forgets a cancel that has overtaken its statement.
        const again = (): void => {
          if (exchanges[0] === exchange) this.#cancel(exchange, repeat * 2, settled);
        };
        setTimeout(again, repeat).unref();
      },
      (error: Error) => {
        settled();
        lose(`a cancel could not be sent: ${error.message}`);
      },
    );
  }
}
