/** The most bytes of answers that this process keeps for readers that do not take them. */
const mostBytes = 256 * 1024 * 1024;

interface Held {
  readonly bytes: number;
  readonly cutOff: () => void;
}

/**
 * The bytes that wait for slow readers, of all gateways of the process. Past the bound, the answers are cut off whose readers have
 * taken nothing for the longest time; one answer alone may be larger.
 */
export class ResponseBacklog {
  readonly #most: number;
  /** The reader that has taken nothing for the longest time comes first. */
  readonly #held = new Map<object, Held>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts what is left of an answer. Called again before `release`, its place among the others stays. */
  track(answer: object, bytes: number, cutOff: () => void): void {
    this.#bytes += bytes - (this.#held.get(answer)?.bytes ?? 0);
    this.#held.set(answer, { bytes, cutOff });
    for (const [other, held] of this.#held) {
      if (this.#bytes <= this.#most || other === answer) return;
      this.release(other);
      held.cutOff();
    }
  }

  release(answer: object): void {
    const held = this.#held.get(answer);
    if (held === undefined) return;
    this.#held.delete(answer);
    this.#bytes -= held.bytes;
  }
}

export const responseBacklog: ResponseBacklog = new ResponseBacklog(mostBytes);
