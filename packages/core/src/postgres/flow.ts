import type { Duplex } from 'node:stream';

/** Back-pressure on the server: while the reader of rows takes no more, the socket is not read. */
export class Flow {
  readonly #socket: Duplex;
  stopped = false;

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    this.#socket.pause();
  }

  go(): void {
    if (!this.stopped) return;
    this.stopped = false;
    this.#socket.resume();
  }
}
