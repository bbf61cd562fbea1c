import { connect, type Socket } from 'node:net';

/** One client of a stream, on a bare socket: thousands of them must not cost more than what is measured. */
export class Reader {
  readonly socket: Socket;
  bytes = 0;
  #marker: Buffer | null = null;
  #count = 0;
  #wanted = 0;
  #seen: (() => void) | null = null;
  #tail: Buffer = Buffer.alloc(0);

  constructor(port: number, path: string) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\n\r\n`);
    // The head of the answer ends with one too, so that the beginning is told by the comment.
    this.socket.on('data', (chunk) => this.#read(chunk));
    this.socket.on('error', () => undefined);
  }

  get count(): number {
    return this.#count;
  }

  /** Resolves once the marker was seen so often since now. */
  seen(marker: string, times = 1): Promise<void> {
    this.#marker = Buffer.from(marker);
    this.#count = 0;
    this.#wanted = times;
    return new Promise((resolve) => (this.#seen = resolve));
  }

  /** Resolves once the stream has begun. */
  begun(): Promise<void> {
    return this.seen(':\nid: ');
  }

  #read(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.#marker === null) return;
    const text = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk]);
    let at = 0;
    for (let found = text.indexOf(this.#marker); found !== -1; found = text.indexOf(this.#marker, at)) {
      this.#count++;
      at = found + this.#marker.length;
    }
    this.#tail = text.subarray(Math.max(at, text.length - this.#marker.length + 1));
    if (this.#count >= this.#wanted) this.#seen?.();
  }
}

/** Opens so many, some at a time. */
export async function openReaders(port: number, path: string, count: number): Promise<readonly Reader[]> {
  const readers: Reader[] = [];
  while (readers.length < count) {
    const next = Array.from({ length: Math.min(250, count - readers.length) }, () => new Reader(port, path));
    // A bound on how many connect at once: the server's backlog has one too.
    // oxlint-disable-next-line no-await-in-loop
    await Promise.all(next.map((reader) => reader.begun()));
    readers.push(...next);
  }
  return readers;
}
