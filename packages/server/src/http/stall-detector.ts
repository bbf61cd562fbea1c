/** The progress of a write is known when it is complete: a large one has several times the timeout. */
const bytesPerTimeout = 256 * 1024;

/** Bytes that may wait for all destinations together. */
const maxPendingBytes = 256 * 1024 * 1024;

interface Stall {
  readonly sentBytes: number;
  /** In the time of `performance.now()`. */
  readonly endsAt: number;
}

/** A destination that has taken nothing since the check before. */
interface Waiting {
  readonly destination: object;
  readonly pendingBytes: number;
  readonly endsAt: number;
}

/**
 * Finds destinations that take no bytes for some time, because the client does not read. The time is shorter for those that have taken
 * nothing for the longest time, while too many bytes wait for all of them. Otherwise memory and files would stay in use:
 * Node's timeout of a connection is extended by data of the client, and the gateway's ends with its last write.
 */
export class StallDetector {
  readonly #timeoutMs: number;
  readonly #maxPendingBytes: number;
  readonly #stalls = new WeakMap<object, Stall>();
  /** Those of the running check. */
  #waiting: Waiting[] = [];
  #pendingBytes = 0;
  /** The destinations that hold the bytes past the limit. */
  #excess: ReadonlySet<object> = new Set();

  constructor(timeoutMs: number, limit: number = maxPendingBytes) {
    this.#timeoutMs = timeoutMs;
    this.#maxPendingBytes = limit;
  }

  /** Milliseconds between two checks. */
  get intervalMs(): number {
    return Math.min(1000, this.#timeoutMs / 2);
  }

  /** Begins a check of all destinations. */
  beginCheck(): void {
    const excess = new Set<object>();
    let bytes = this.#pendingBytes;
    if (bytes > this.#maxPendingBytes) {
      for (const { destination, pendingBytes } of this.#waiting.toSorted((left, right) => left.endsAt - right.endsAt)) {
        if (bytes <= this.#maxPendingBytes) break;
        bytes -= pendingBytes;
        excess.add(destination);
      }
    }
    this.#excess = excess;
    this.#waiting = [];
    this.#pendingBytes = 0;
  }

  /**
   * Called for each destination at each check.
   * @param pendingBytes bytes that wait for the client
   * @param sentBytes bytes that have been sent; more pending ones alone do not raise the number
   */
  isStalled(destination: object, pendingBytes: number, sentBytes: number): boolean {
    if (pendingBytes === 0) return false;
    const now = performance.now();
    const stall = this.#stalls.get(destination);
    this.#pendingBytes += pendingBytes;
    if (stall !== undefined && sentBytes <= stall.sentBytes) {
      this.#waiting.push({ destination, pendingBytes, endsAt: stall.endsAt });
      return now >= stall.endsAt || this.#excess.has(destination);
    }
    const timeoutMs = this.#timeoutMs * Math.max(1, pendingBytes / bytesPerTimeout);
    this.#stalls.set(destination, { sentBytes, endsAt: now + timeoutMs });
    return false;
  }
}
