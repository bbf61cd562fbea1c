const nothing = Buffer.alloc(0);

/** A byte buffer that grows as it is written. Its fields are public: encoders write to them without a call per byte. */
export class ByteBuffer {
  buffer: Buffer;
  length = 0;

  /** @param size the expected length, in bytes */
  constructor(size: number) {
    this.buffer = Buffer.allocUnsafe(size);
  }

  /** Makes room for `more` bytes. May replace `buffer`. */
  reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.buffer.length * 2));
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
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
  take(nextSize: number): Buffer {
    const taken = this.buffer.subarray(0, this.length);
    this.buffer = nextSize === 0 ? nothing : Buffer.allocUnsafe(nextSize);
    this.length = 0;
    return taken;
  }
}
