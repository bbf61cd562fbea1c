import type { ReusableMemory } from '../http/response.ts';

/** Bytes; sizes of buffers are powers of two. */
const smallestBuffer = 512;
/** A whole body, or the first chunk of a stream: `maxWholeBytes` and the rows of one more chunk of the database. */
const largestBuffer = 256 * 1024;
/** Limits of the free buffers of one size. All sizes together keep less than 16 MiB. */
const maxFreeBytes = 4 * 1024 * 1024;
const maxFreeBuffers = 64;

/**
 * Buffers for the bytes of responses, which are used again. A new buffer for each response is external memory that V8 frees by full garbage
 * collections only.
 *
 * A buffer leaves the pool with its `PooledBuffer` and comes back by `release` at most once. A holder that may share the bytes with anything
 * else does not release it: the garbage collector then frees it like any other buffer.
 */
export class BufferPool {
  /** Free buffers by the binary logarithm of their size. */
  readonly #free: Buffer[][] = Array.from({ length: sizeIndex(largestBuffer) + 1 }, () => []);
  /** Tests set a byte that overwrites each free buffer, so that a buffer which is still in use shows it. */
  freeByte: number | null = null;

  /** Returns a buffer of at least `size` bytes with any content. Larger ones than the pool keeps have no memory to release. */
  acquire(size: number): PooledBuffer {
    if (size > largestBuffer) return new PooledBuffer(Buffer.allocUnsafeSlow(size), null);
    const index = sizeIndex(size);
    return new PooledBuffer(this.#free[index]!.pop() ?? Buffer.allocUnsafeSlow(1 << index), this);
  }

  /** The bytes of all free buffers. */
  get freeBytes(): number {
    return this.#free.reduce((sum, buffers, index) => sum + buffers.length * (1 << index), 0);
  }

  /** Takes a buffer back. Only `PooledBuffer.release` calls it. */
  add(buffer: Buffer): void {
    const free = this.#free[sizeIndex(buffer.length)]!;
    if (free.length >= maxFreeBuffers || (free.length + 1) * buffer.length > maxFreeBytes) return;
    if (this.freeByte !== null) buffer.fill(this.freeByte);
    free.push(buffer);
  }
}

/** A buffer that is in use. */
export class PooledBuffer implements ReusableMemory {
  readonly bytes: Buffer;
  /** Null after the release, and for a buffer that no pool takes back. */
  #pool: BufferPool | null;

  constructor(bytes: Buffer, pool: BufferPool | null) {
    this.bytes = bytes;
    this.#pool = pool;
  }

  release(): void {
    const pool = this.#pool;
    this.#pool = null;
    pool?.add(this.bytes);
  }
}

/** Returns the binary logarithm of the size of the smallest buffer for `size` bytes. */
function sizeIndex(size: number): number {
  return 32 - Math.clz32(Math.max(size, smallestBuffer) - 1);
}

/** The buffers of all responses of this process. */
export const responseBuffers: BufferPool = new BufferPool();
