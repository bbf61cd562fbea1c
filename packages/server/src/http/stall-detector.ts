/** The progress of a write is known when it is complete: a large one has several times the timeout. */
const bytesPerTimeout = 256 * 1024;

interface Stall {
  readonly sentBytes: number;
  /** In the time of `performance.now()`. */
  readonly endsAt: number;
}

/**
 * Finds destinations that take no bytes for some time, because the client does not read. Otherwise memory and files would stay in use:
 * Node's timeout of a connection is extended by data of the client, and the gateway's ends with its last write.
 */
export class StallDetector {
  readonly #timeoutMs: number;
  readonly #stalls = new WeakMap<object, Stall>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Milliseconds between two checks. */
  get intervalMs(): number {
    return Math.min(1000, this.#timeoutMs / 2);
  }

  /**
   * Called at each check.
   * @param pendingBytes bytes that wait for the client
   * @param sentBytes bytes that have been sent; more pending ones alone do not raise the number
   */
  isStalled(destination: object, pendingBytes: number, sentBytes: number): boolean {
    if (pendingBytes === 0) return false;
    const now = performance.now();
    const stall = this.#stalls.get(destination);
    if (stall !== undefined && sentBytes <= stall.sentBytes) return now >= stall.endsAt;
    const timeoutMs = this.#timeoutMs * Math.max(1, pendingBytes / bytesPerTimeout);
    this.#stalls.set(destination, { sentBytes, endsAt: now + timeoutMs });
    return false;
  }
}
