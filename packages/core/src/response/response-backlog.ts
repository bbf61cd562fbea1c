/** Bytes of responses that this process buffers for slow clients. */
const maxBytes = 256 * 1024 * 1024;

interface BufferedResponse {
  readonly bytes: number;
  readonly abort: () => void;
}

/**
 * The bytes that wait for slow clients, of all gateways in the process. Past the limit, the responses without progress for the
 * longest time are aborted. A single response may exceed the limit.
 */
export class ResponseBacklog {
  readonly #maxBytes: number;
  /** The response without progress for the longest time comes first. */
  readonly #responses = new Map<object, BufferedResponse>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts the unsent bytes of a response. A second call before `release` updates them and keeps the order. */
  track(response: object, bytes: number, abort: () => void): void {
    this.#bytes += bytes - (this.#responses.get(response)?.bytes ?? 0);
    this.#responses.set(response, { bytes, abort });
    for (const [oldest, { abort: abortOldest }] of this.#responses) {
      if (this.#bytes <= this.#maxBytes || oldest === response) return;
      this.release(oldest);
      abortOldest();
    }
  }

  release(response: object): void {
    const buffered = this.#responses.get(response);
    if (buffered === undefined) return;
    this.#responses.delete(response);
    this.#bytes -= buffered.bytes;
  }
}

export const responseBacklog: ResponseBacklog = new ResponseBacklog(maxBytes);
