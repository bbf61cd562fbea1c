/** Calls before an endpoint can count as fast. */
const minCalls = 5;
const fastMs = 1;
const smallBytes = 64 * 1024;
/** A larger response is a stream: whole ones have 128 KiB, and what one read from the database adds. */
const maxFirstBytes = 192 * 1024;
/** Weight of the newest call in the moving averages, from 0 to 1. */
const newestWeight = 0.2;

/** Moving averages of an endpoint's latency and response size. They decide which calls may share a connection. */
export class LatencyStatistics {
  #calls = 0;
  #averageMs = 0;
  #averageBytes = 0;
  /** Of the buffers that responses began with. */
  #averageHint = 0;

  /** Whether responses were fast and small. One slow call resets it until a few fast ones have followed. */
  get isFast(): boolean {
    return this.#calls >= minCalls && this.#averageMs < fastMs && this.#averageBytes < smallBytes;
  }

  /** Whether responses were small. */
  get isSmall(): boolean {
    return this.#averageBytes < smallBytes;
  }

  /** The expected duration of the next call in the database, in milliseconds. */
  get expectedMs(): number {
    return this.#averageMs;
  }

  /** The expected size of the next response, or of its first part, in bytes. */
  get sizeHint(): number {
    return Math.max(256, Math.min(maxFirstBytes, Math.ceil(this.#averageHint * 1.25) + 64));
  }

  record(milliseconds: number, bytes: number): void {
    const share = this.#calls++ === 0 ? 1 : newestWeight;
    this.#averageMs += (milliseconds - this.#averageMs) * share;
    this.#averageBytes += (bytes - this.#averageBytes) * share;
    // A stream begins with a small buffer, so that some large responses do not make all others hold large ones.
    this.#averageHint += ((bytes > maxFirstBytes ? smallBytes : bytes) - this.#averageHint) * share;
  }
}
