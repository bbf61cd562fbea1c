import type { GatewayRequest } from '../../http/request.ts';
import type { ExecutableCall } from '../build-query.ts';
import type { CachedResponse } from '../../ports/ports.ts';

/** One call whose answer several requests wait for. It goes on as long as one of them does. */
export class Flight {
  /** Null: it is none that can be shared. */
  readonly answer: Promise<CachedResponse | null>;
  readonly #call: ExecutableCall;
  readonly #abandoned: () => void;
  #resolve!: (answer: CachedResponse | null) => void;
  #reject!: (error: unknown) => void;
  #waiting = 0;
  #cancel: (() => void) | null = null;
  #over = false;
  /** Whether it has an answer for all. */
  successful = false;

  /**
   * @param call that of the request that leads
   * @param abandoned told right before it is cancelled because nobody waits any more
   */
  constructor(call: ExecutableCall, abandoned: () => void) {
    this.#call = call;
    this.#abandoned = abandoned;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The leader hears of a failure by itself; there may be nobody else.
    this.answer.catch(() => undefined);
  }

  /** Whether a call has the very same values, so that it would fail with the same. */
  isOf({ values, arguments: own }: ExecutableCall): boolean {
    return equal(this.#call.values, values) && equal(this.#call.arguments, own);
  }

  join(request: GatewayRequest): void {
    this.#waiting++;
    request.onLeave(() => {
      this.#waiting--;
      this.#endIfAbandoned();
    });
  }

  /** Takes what ends the call. */
  endWith(cancel: () => void): void {
    this.#cancel = cancel;
    this.#endIfAbandoned();
  }

  /** The call has come out well; who leaves from now on has no say in it. */
  land(answer: CachedResponse | null): void {
    this.#over = true;
    this.successful = answer !== null;
    this.#resolve(answer);
  }

  fail(error: unknown): void {
    this.#over = true;
    this.#reject(error);
  }

  #endIfAbandoned(): void {
    if (this.#over || this.#waiting > 0 || this.#cancel === null) return;
    this.#over = true;
    this.#abandoned();
    this.#cancel();
  }
}

/** Bytes are the same only when they are the same piece: to compare them may cost more than a call. */
function equal(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}
