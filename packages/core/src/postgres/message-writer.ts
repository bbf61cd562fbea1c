import type { KnownRoutines } from './known-routines.ts';
import type { Step, Value } from './port.ts';

/** Execute of the unnamed portal, without a row limit. */
const execute = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0]);
const sync = Buffer.from([0x53, 0, 0, 0, 4]);
const flush = Buffer.from([0x48, 0, 0, 0, 4]);

/** Values of this size are not copied. */
const largeValueBytes = 32 * 1024;
const initialBytes = 8192;
/** A buffer beyond this size is handed over instead of copied, so that it does not remain allocated. */
const maxRetainedBytes = 256 * 1024;

/** Writes the messages of the extended query protocol into one buffer. Large binary values stay outside. */
export class MessageWriter {
  #buffer = Buffer.allocUnsafeSlow(initialBytes);
  #length = 0;
  /** The large values, with their positions in the buffer. */
  #large: { readonly at: number; readonly value: Uint8Array }[] = [];
  /** Bytes of the large values in the current message. */
  #largeBytes = 0;
  /** The routines that guarded statements may call; null: statements are not guarded. */
  routines: KnownRoutines | null = null;

  /** The number of bytes without large values. */
  get length(): number {
    return this.#length;
  }

  /** Returns the messages that were written since the last call. Large values are not copied. */
  take(): Buffer | readonly Uint8Array[] {
    const bytes = this.#takeBuffer();
    return this.#large.length === 0 ? bytes : this.#insertLarge(bytes);
  }

  #takeBuffer(): Buffer {
    if (this.#buffer.length > maxRetainedBytes) {
      const large = this.#buffer.subarray(0, this.#length);
      this.#buffer = Buffer.allocUnsafeSlow(initialBytes);
      this.#length = 0;
      return large;
    }
    const bytes = Buffer.allocUnsafe(this.#length);
    this.#buffer.copy(bytes, 0, 0, this.#length);
    this.#length = 0;
    return bytes;
  }

  #insertLarge(bytes: Buffer): readonly Uint8Array[] {
    const chunks: Uint8Array[] = [];
    let start = 0;
    for (const { at, value } of this.#large) {
      chunks.push(bytes.subarray(start, at), value);
      start = at;
    }
    chunks.push(bytes.subarray(start));
    this.#large = [];
    return chunks;
  }

  /** @param types the OIDs of `$1`, `$2`, …; PostgreSQL infers the missing ones */
  parse(name: string, sql: string, types: readonly number[] = []): void {
    const start = this.#begin(0x50);
    this.#text(name);
    this.#text(sql);
    this.#reserve(2 + types.length * 4);
    this.#int16(types.length);
    for (const type of types) this.#int32(type);
    this.#finish(start);
  }

  describe(name: string): void {
    this.#named(0x44, name);
  }

  close(name: string): void {
    this.#named(0x43, name);
  }

  /** @param binary the parameters in the binary format; the others are in the text format */
  bind(name: string, values: readonly Value[], binary: readonly boolean[] = []): void {
    const start = this.#begin(0x42);
    this.#reserve(1);
    this.#buffer[this.#length++] = 0;
    this.#text(name);
    this.#reserve(4 + binary.length * 2);
    this.#int16(binary.length);
    for (const isBinary of binary) this.#int16(isBinary ? 1 : 0);
    this.#int16(values.length);
    for (const value of values) this.#value(value);
    this.#reserve(2);
    this.#int16(0);
    this.#finish(start);
  }

  execute(): void {
    this.#append(execute);
  }

  /**
   * Writes the messages of the steps; unnamed statements are parsed first.
   * @throws RangeError for too many or too large values; then nothing was written
   */
  writeSteps(steps: readonly Step[]): void {
    const before = this.#length;
    try {
      for (const { statement, values, describes, flushes } of steps) {
        if (statement.name === '') this.parse('', this.routines?.textOf(statement) ?? statement.sql, statement.types);
        if (describes !== undefined) {
          this.describe('');
          continue;
        }
        this.bind(statement.name, values, statement.binary);
        if (statement.name === '') this.describe('');
        this.execute();
        if (flushes === true) this.#append(flush);
      }
    } catch (error) {
      // An incomplete message must not remain in the buffer.
      this.truncate(before);
      throw error;
    }
  }

  sync(): void {
    this.#append(sync);
  }

  /** Drops the messages after the first `length` bytes. */
  truncate(length: number): void {
    this.#length = length;
    if (this.#large.length > 0) this.#large = this.#large.filter(({ at }) => at <= length);
  }

  terminate(): void {
    this.#finish(this.#begin(0x58));
  }

  #named(type: number, name: string): void {
    const start = this.#begin(type);
    this.#reserve(1);
    this.#buffer[this.#length++] = 0x53;
    this.#text(name);
    this.#finish(start);
  }

  #value(value: Value): void {
    if (value === null) {
      this.#reserve(4);
      this.#length = this.#buffer.writeInt32BE(-1, this.#length);
      return;
    }
    if (typeof value !== 'string' && value.length >= largeValueBytes) return this.#largeValue(value);
    const most = typeof value === 'string' ? value.length * 3 : value.length;
    this.#reserve(4 + most);
    const at = this.#length + 4;
    const size = typeof value === 'string' ? this.#buffer.write(value, at, 'utf8') : value.length;
    if (typeof value !== 'string') this.#buffer.set(value, at);
    this.#buffer.writeInt32BE(size, this.#length);
    this.#length = at + size;
  }

  #largeValue(value: Uint8Array): void {
    this.#reserve(4);
    this.#int32(value.length);
    this.#large.push({ at: this.#length, value });
    this.#largeBytes += value.length;
  }

  #begin(type: number): number {
    this.#reserve(5);
    this.#largeBytes = 0;
    const start = this.#length;
    this.#buffer[start] = type;
    this.#length += 5;
    return start;
  }

  #finish(start: number): void {
    this.#buffer.writeInt32BE(this.#length - start - 1 + this.#largeBytes, start + 1);
  }

  #text(text: string): void {
    this.#reserve(text.length * 3 + 1);
    this.#length += this.#buffer.write(text, this.#length, 'utf8');
    this.#buffer[this.#length++] = 0;
  }

  #int16(value: number): void {
    this.#length = this.#buffer.writeUInt16BE(value, this.#length);
  }

  #int32(value: number): void {
    this.#length = this.#buffer.writeUInt32BE(value, this.#length);
  }

  #append(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(size: number): void {
    const needed = this.#length + size;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
