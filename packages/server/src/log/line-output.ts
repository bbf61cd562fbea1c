/** Log lines on their way to the console or a file: bytes at once, and one write for many lines. */
import { BatchQueue, type BatchQueueOptions, type BatchSink } from './batch-queue.ts';

/** Whole lines in UTF-8. */
interface LineBlock {
  readonly bytes: Buffer;
  readonly lines: number;
}

const bytesOf = ({ bytes }: LineBlock): Buffer => bytes;

/** Bytes of a block. A longer line has a block of its own. */
export const blockBytes = 64 * 1024;

/** Milliseconds that a line waits for others: a write and its wake-up cost more than a line. */
const delayMs = 100;

/** The most bytes of UTF-8 for a unit of UTF-16. */
const maxBytesPerUnit = 3;

export interface LineOutputOptions extends Pick<BatchQueueOptions<LineBlock>, 'name' | 'retryMs' | 'report'> {
  readonly sink: BatchSink<Uint8Array>;
  /** Writes at the exit of the process, when nothing else can wait; absent: the last lines are lost then. */
  readonly writeSync?: ((bytes: Uint8Array) => void) | undefined;
  /**
   * Does the same where a write always returns, such as to a file, and may run at the exit.
   * @param writing the lines of that write, which may be stored already
   */
  readonly appendSync?: (bytes: Uint8Array, writing: Uint8Array) => void;
}

/**
 * Copies each line into a block, which is written when it is full or some time after its first line. Lines as strings would live until
 * then, and the garbage collector would copy them. While the output is slow, full blocks wait in a queue with a limit.
 */
export class LineOutput {
  readonly #queue: BatchQueue<LineBlock>;
  readonly #writeSync: LineOutputOptions['writeSync'];
  readonly #appendSync: LineOutputOptions['appendSync'];
  #block = Buffer.allocUnsafeSlow(blockBytes);
  #length = 0;
  #lines = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor({ sink, writeSync, appendSync, ...options }: LineOutputOptions) {
    this.#writeSync = writeSync;
    this.#appendSync = appendSync;
    this.#queue = new BatchQueue<LineBlock>({
      ...options,
      sink: {
        write: (blocks) => sink.write(blocks.map(({ bytes }) => bytes)),
        close: () => sink.close(),
      },
      sizeOf: ({ bytes }) => bytes.length,
      linesOf: ({ lines }) => lines,
      maxItems: Number.POSITIVE_INFINITY,
      batchSize: 1,
      delayMs: 0,
    });
  }

  /** The number of lines that were lost. */
  get lost(): number {
    return this.#queue.lost;
  }

  /** @param line with its line feed */
  write(line: string): void {
    const maxBytes = line.length * maxBytesPerUnit;
    if (maxBytes > blockBytes - this.#length) this.#push();
    if (maxBytes > blockBytes) {
      this.#queue.push({ bytes: Buffer.from(line), lines: 1 });
      return;
    }
    this.#length += this.#block.write(line, this.#length);
    this.#lines += 1;
    this.#timer ??= setTimeout(this.#onTimer, delayMs).unref();
  }

  /** Writes the last lines, for at most the given time, and closes the output. */
  close(timeoutMs: number): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#push();
    return this.#queue.close(timeoutMs);
  }

  /** Writes the last lines at the exit of the process, unless the output is slow: a write to a full pipe would not return. */
  flushAtExit(): void {
    const bytes = this.#block.subarray(0, this.#length);
    this.#length = 0;
    this.#lines = 0;
    if (this.#appendSync !== undefined) {
      const { writing, waiting } = this.#queue.unwritten;
      this.#appendSync(Buffer.concat([...waiting.map(bytesOf), bytes]), Buffer.concat(writing.map(bytesOf)));
    } else if (this.#queue.isIdle && bytes.length > 0) this.#writeSync?.(bytes);
  }

  readonly #onTimer = (): void => {
    this.#timer = null;
    // While the output is slow, only full blocks are queued: their number is limited by their bytes.
    if (this.#queue.isIdle) this.#push();
    else this.#timer = setTimeout(this.#onTimer, delayMs).unref();
  };

  #push(): void {
    if (this.#length === 0) return;
    this.#queue.push({ bytes: this.#block.subarray(0, this.#length), lines: this.#lines });
    this.#block = Buffer.allocUnsafeSlow(blockBytes);
    this.#length = 0;
    this.#lines = 0;
  }
}
