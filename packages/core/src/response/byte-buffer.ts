import type { ReusableMemory } from '../http/response.ts';
import { type PooledBuffer, responseBuffers } from './buffer-pool.ts';

const nothing = Buffer.alloc(0);

/** The bytes that were written to a buffer. */
export interface WrittenBytes {
  readonly bytes: Buffer;
  /** The buffer behind the bytes, to which nothing else refers; null without one. */
  readonly memory: ReusableMemory | null;
}

/**
 * A byte buffer that grows as it is written. Its fields are public: encoders write to them without a call per byte.
 *
 * The buffer comes from the pool with the first byte: a call that waits for the database holds none.
 */
export class ByteBuffer {
  buffer: Buffer = nothing;
  length = 0;
  #memory: PooledBuffer | null = null;
  #expectedSize: number;

  /** @param size the expected length, in bytes */
  constructor(size: number) {
    this.#expectedSize = size;
  }

  /** Makes room for `more` bytes. May replace `buffer`. */
  reserve(more: number): void {
    const needed = this.length + more;
    if (needed > this.buffer.length) this.#grow(needed);
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  byte(value: number): void {
    this.reserve(1);
    this.buffer[this.length++] = value;
  }

  /** Returns the bytes written so far, and continues with a new buffer. */
  take(nextSize: number): WrittenBytes {
    const taken = { bytes: this.buffer.subarray(0, this.length), memory: this.#memory };
    this.#memory = null;
    this.#expectedSize = nextSize;
    this.buffer = nothing;
    this.length = 0;
    return taken;
  }

  #grow(needed: number): void {
    const larger = responseBuffers.acquire(Math.max(needed, this.#expectedSize, this.buffer.length * 2));
    if (this.length > 0) this.buffer.copy(larger.bytes, 0, 0, this.length);
    this.#memory?.release();
    this.#memory = larger;
    this.buffer = larger.bytes;
  }
}
