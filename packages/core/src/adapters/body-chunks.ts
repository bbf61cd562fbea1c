import { Problem } from '../http/problem.ts';

/** The source of the chunks of a body. */
export interface ChunkSource {
  next(): Promise<IteratorResult<Uint8Array, unknown>>;
  /** Leaves the rest of the body. Its errors are dropped. */
  return(): Promise<unknown>;
}

/**
 * The chunks of a body. Unlike an async generator, `return` does not wait for the chunk that `next` waits for: the reader may end the
 * iteration because the sender is too slow.
 */
export class BodyChunks implements AsyncIterableIterator<Uint8Array> {
  readonly #open: () => ChunkSource;
  #source: ChunkSource | null = null;
  #isEnded = false;
  /** Ends the pending `next`. */
  #end: () => void = () => undefined;

  /** @param open called when the reader begins */
  constructor(open: () => ChunkSource) {
    this.#open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined });
    const source = (this.#source ??= this.#open());
    return new Promise((resolve, reject) => {
      const end = (): void => resolve({ done: true, value: undefined });
      this.#end = end;
      source.next().then(
        ({ done, value }) => (done === true ? end() : resolve({ value: value as Uint8Array })),
        () => reject(new Problem('malformed-body', { detail: 'The body ended before it was complete.' })),
      );
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#end();
      this.#source?.return().catch(() => undefined);
    }
    return Promise.resolve({ done: true, value: undefined });
  }
}
