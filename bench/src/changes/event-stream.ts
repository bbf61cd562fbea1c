import { connect, type Socket } from 'node:net';

/** The key of a row, as its JSON has it. */
export const keyPattern: RegExp = /"id":(\d+)/;

/** The events of a stream that begins with its rows, read from a plain socket: an HTTP client would cost more than the server that is measured. */
export class ChangeStreamReader {
  readonly socket: Socket;
  /** The JSON of each row, by its key. */
  readonly rows: Map<string, string> = new Map();
  events = 0;
  gaps = 0;
  /** Why it is not the stream that was requested: its status line, or its end; null: it is. */
  failure: string | null = null;
  readonly #onCommitTime: (text: string, receivedAt: number) => void;
  #rest = '';
  #hasHead = false;
  #begin: () => void = () => undefined;
  readonly begun: Promise<void>;

  /** @param onCommitTime receives the time of the commit and of the receipt of each change */
  constructor(
    { port, path, user }: { readonly port: number; readonly path: string; readonly user: string },
    onCommitTime: (text: string, receivedAt: number) => void,
  ) {
    this.#onCommitTime = onCommitTime;
    this.begun = new Promise((resolve) => (this.#begin = resolve));
    this.socket = connect(port, '127.0.0.1');
    // Version 1.0: the response has no chunks to remove.
    this.socket.write(`GET ${path} HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nx-user: ${user}\r\n\r\n`);
    this.socket.setEncoding('utf8');
    this.socket.on('data', (chunk: string) => this.#read(chunk));
    this.socket.on('error', (error) => this.#fail(error.message));
    this.socket.on('close', () => this.#fail('the stream has ended'));
  }

  #fail(reason: string): void {
    this.failure ??= reason;
    this.#begin();
  }

  #read(chunk: string): void {
    const now = Date.now();
    const text = this.#rest === '' ? chunk : this.#rest + chunk;
    let at = 0;
    if (!this.#hasHead) {
      const head = text.indexOf('\r\n\r\n');
      if (head === -1) return void (this.#rest = text);
      if (!text.startsWith('HTTP/1.1 200')) return this.#fail(text.slice(0, 300));
      this.#hasHead = true;
      at = head + 4;
    }
    for (let end = text.indexOf('\n\n', at); end !== -1; end = text.indexOf('\n\n', at)) {
      this.#handle(text.slice(at, end), now);
      at = end + 2;
    }
    this.#rest = text.slice(at);
  }

  #handle(block: string, now: number): void {
    // The comment with the first id follows the rows.
    if (block.startsWith(':\nid:')) return this.#begin();
    if (block.startsWith('event: gap')) this.gaps++;
    if (block.startsWith('event: reset')) this.rows.clear();
    const record = block.indexOf('"record":');
    const old = block.indexOf('"old":');
    if (record === -1 && old === -1) return;
    const json = block.slice(record === -1 ? old + 6 : record + 9, -1);
    const key = keyPattern.exec(json)![1]!;
    if (record === -1) this.rows.delete(key);
    else this.rows.set(key, json);
    if (block.startsWith('event: row')) return;
    this.events++;
    const time = block.indexOf('"commitTimestamp":"') + 19;
    this.#onCommitTime(block.slice(time, time + 27), now);
  }
}
