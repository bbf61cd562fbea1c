import type { ResultColumn } from '../endpoints/endpoint.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { keyShape } from './rename-keys.ts';
import { rowEncoderModule } from './row-encoder-module.ts';

/** The regions of the memory of the module, in bytes; `assembly/encode-rows.ts` has the same numbers. */
const planAt = 64;
const inputAt = 64 * 1024;
const outputAt = 192 * 1024;
/** Bytes. The module may read some bytes more, up to the end of a block. */
const maxInputSize = outputAt - inputAt - 64;
const maxPlanSize = inputAt - planAt - 64;

/** The numbers of the module for the forms of columns. */
const kinds: Readonly<Record<ResultColumn['type']['json'], number>> = {
  number: 0,
  boolean: 1,
  string: 2,
  numberText: 2,
  timestamp: 3,
  timestamptz: 4,
  json: 5,
  converted: 5,
};
/** Bytes of a comma and of a value that has no bytes in its message (`null`, `false`), or that gets some (quotes, a time zone). */
const maxAddedSize = 8;

/** The columns of a result as the module reads them. Made at the first use: most endpoints of a large database are never called. */
export class RowPlan {
  readonly #columns: readonly ResultColumn[];
  readonly #prefixes: readonly Uint8Array[];
  readonly #suffix: Uint8Array;
  #bytes: Uint8Array | null | undefined;

  /**
   * @param prefixes the bytes before the value of each column
   * @param suffix the bytes after the last value
   */
  constructor(columns: readonly ResultColumn[], prefixes: readonly Uint8Array[], suffix: Uint8Array) {
    this.#columns = columns;
    this.#prefixes = prefixes;
    this.#suffix = suffix;
  }

  /** Null for columns that the module cannot write. */
  get bytes(): Uint8Array | null {
    if (this.#bytes === undefined) this.#bytes = this.#encode();
    return this.#bytes;
  }

  #encode(): Uint8Array | null {
    if (this.#columns.some(({ type }) => type.json === 'converted' && keyShape(type) !== null)) return null;
    const [prefixes, suffix] = [this.#prefixes, this.#suffix];
    const texts = Buffer.concat([suffix, ...prefixes]);
    const textsAt = 12 + 12 * prefixes.length;
    if (textsAt + texts.length > maxPlanSize) return null;
    const head = Buffer.alloc(textsAt);
    const numbers = [prefixes.length, suffix.length, texts.length + maxAddedSize * (prefixes.length + 1)];
    let prefixAt = planAt + textsAt + suffix.length;
    for (const [index, { type }] of this.#columns.entries()) {
      const { length } = prefixes[index]!;
      numbers.push(kinds[type.json], prefixAt, length);
      prefixAt += length;
    }
    for (const [index, number] of numbers.entries()) head.writeUInt32LE(number, index * 4);
    return Buffer.concat([head, texts]);
  }
}

/** The types of TypeScript's DOM library, which this project does not use. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface EncoderExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  encodeRows(inputLength: number, separates: boolean): number;
}

/** Writes many rows of a result in WebAssembly, with the same bytes as the writers of `rows.ts`. */
export class RowEncoder {
  readonly #exports: EncoderExports;
  readonly #memory: Uint8Array;
  /** The bytes read and the rows written by the last call of the module, in its memory. */
  readonly #result: DataView;
  /** The plan in the memory. */
  #plan: Uint8Array | null = null;
  /** The rows that the last `encode` has written. */
  rows = 0;

  constructor(exports: EncoderExports) {
    this.#exports = exports;
    this.#memory = new Uint8Array(exports.memory.buffer);
    this.#result = new DataView(exports.memory.buffer);
  }

  /**
   * Writes the rows of the complete DataRow messages in `chunk`, with commas between them. Stops before a message that is too large or not
   * valid for the plan, so that the caller handles it.
   * @param separates whether a comma comes before the first row
   * @returns the bytes read
   */
  encode(out: ByteBuffer, plan: Uint8Array, chunk: Uint8Array, separates: boolean): number {
    if (this.#plan !== plan) {
      this.#memory.set(plan, planAt);
      this.#plan = plan;
    }
    this.rows = 0;
    let position = 0;
    while (position < chunk.length) {
      const input = chunk.subarray(position, position + maxInputSize);
      this.#memory.set(input, inputAt);
      const written = this.#exports.encodeRows(input.length, separates || this.rows > 0);
      const read = this.#result.getUint32(0, true);
      if (read === 0) break;
      out.append(this.#memory.subarray(outputAt, outputAt + written));
      this.rows += this.#result.getUint32(4, true);
      position += read;
    }
    return position;
  }
}

let encoder: RowEncoder | null | undefined;

/** Returns the encoder of this process; null if it cannot have one. */
export function getRowEncoder(): RowEncoder | null {
  if (encoder === undefined) encoder = createRowEncoder(rowEncoderModule);
  return encoder;
}

/**
 * Creates an encoder, which takes a millisecond. Returns null without WebAssembly or its SIMD instructions, as on some old processors.
 * @param module the module in base64
 */
export function createRowEncoder(module: string): RowEncoder | null {
  try {
    const compiled = new WebAssembly.Module(Buffer.from(module, 'base64'));
    return new RowEncoder(new WebAssembly.Instance(compiled).exports as EncoderExports);
  } catch {
    return null;
  }
}
