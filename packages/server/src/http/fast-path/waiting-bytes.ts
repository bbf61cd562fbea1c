const nothing: Buffer = Buffer.alloc(0);

/** Bytes of a connection that have arrived and are not read yet. Each byte is copied a bounded number of times, or not at all. */
export class WaitingBytes {
  #memory = nothing;
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  /** Returns the bytes without a copy. They do not change later. */
  all(): Buffer {
    if (this.length === this.#memory.length) return this.#memory;
    return this.#memory.subarray(this.#start, this.#end);
  }

  add(bytes: Buffer): void {
    if (this.length === 0) {
      this.#set(bytes, 0, bytes.length);
      return;
    }
    const end = this.#end + bytes.length;
    // Twice the size: a client that sends a few bytes at a time would have all of them copied each time.
    if (end > this.#memory.length) this.#move(2 * (this.length + bytes.length));
    bytes.copy(this.#memory, this.#end);
    this.#end += bytes.length;
  }

  /** Removes bytes at the beginning. */
  skip(count: number): void {
    if (count === this.length) this.clear();
    else this.#start += count;
  }

  clear(): void {
    this.#set(nothing, 0, 0);
  }

  #move(size: number): void {
    const memory = Buffer.allocUnsafe(size);
    this.#set(memory, 0, this.all().copy(memory));
  }

  #set(memory: Buffer, start: number, end: number): void {
    this.#memory = memory;
    this.#start = start;
    this.#end = end;
  }
}
