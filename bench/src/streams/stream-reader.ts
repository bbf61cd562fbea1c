import { connect, type Socket } from 'node:net';

/** A client of an event stream on a plain socket: an HTTP client would cost more than the server that is measured. */
export class StreamReader {
  readonly socket: Socket;
  bytes = 0;
  #marker: Buffer | null = null;
  #count = 0;
  #expectedCount = 0;
  #onComplete: (() => void) | null = null;
  #tail: Buffer = Buffer.alloc(0);

  constructor(port: number, path: string) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);

    this.socket.on('data', (chunk) => this.#read(chunk));
    this.socket.on('error', () => undefined);
  }

  get count(): number {
    return this.#count;
  }

  /** Resolves when the marker has been received `times` times from now on. */
  waitForMarker(marker: string, times = 1): Promise<void> {
    this.#marker = Buffer.from(marker);
    this.#count = 0;
    this.#expectedCount = times;
    return new Promise((resolve) => (this.#onComplete = resolve));
  }

  /** Resolves when the stream has begun, with its first comment. */
  begun(): Promise<void> {
    return this.waitForMarker(':\nid: ');
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
    if (this.#count >= this.#expectedCount) this.#onComplete?.();
  }
}

/** Opens streams, at most 250 at the same time. */
export async function openStreamReaders(port: number, path: string, count: number): Promise<readonly StreamReader[]> {
  const readers: StreamReader[] = [];
  while (readers.length < count) {
    const next = Array.from({ length: Math.min(250, count - readers.length) }, () => new StreamReader(port, path));
    // The backlog of the server is limited.
    await Promise.all(next.map((reader) => reader.begun()));
    readers.push(...next);
  }
  return readers;
}
