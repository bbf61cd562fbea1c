/** The listeners of a server with workers, in the primary process: each accepted connection is given to a worker. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { errorMessage } from '../expected-error.ts';
import { type ListenAddress, startListening } from '../http/listener.ts';
import type { Channel } from './channel.ts';
import { answerTimeouts, type ListenAnswer, type ListenQuestion, toPrimary, toWorker } from './topics.ts';

/** Milliseconds that a connection waits while no worker runs. */
const maxWaitMs = 800;

export class SharedListeners {
  /** By setting, host and port, as configured: several may have the port 0. */
  readonly #listeners = new Map<string, Promise<SharedListener>>();
  #lastNumber = 0;

  /** Lets a worker listen. */
  add(channel: Channel): void {
    const known = new Map<number, SharedListener>();
    channel.handle<ListenQuestion>(toPrimary.listen, async (question): Promise<ListenAnswer> => {
      try {
        const listener = await this.#open(question);
        known.set(listener.number, listener);
        return { ok: true, listener: listener.number, ...listener.bound };
      } catch (error) {
        return { ok: false, message: errorMessage(error) };
      }
    });
    channel.handle<number>(toPrimary.beginListening, (number) => known.get(number)?.add(channel));
    channel.handle<number>(toPrimary.endListening, (number) => this.#end(known.get(number), channel));
  }

  /** Removes a worker that has exited. The listener stays open for the next one. */
  remove(channel: Channel): void {
    for (const opening of this.#listeners.values()) {
      void opening.then((listener) => listener.remove(channel)).catch(() => undefined);
    }
  }

  #open(question: ListenQuestion): Promise<SharedListener> {
    const key = keyOf(question);
    const opened = this.#listeners.get(key) ?? SharedListener.open(++this.#lastNumber, question);
    this.#listeners.set(key, opened);
    opened.catch(() => this.#listeners.delete(key));
    return opened;
  }

  /** A listener that its last worker leaves has no use: the server stops, or its configuration has changed. */
  #end(listener: SharedListener | undefined, channel: Channel): void {
    listener?.remove(channel);
    if (listener === undefined || listener.isUsed) return;
    this.#listeners.delete(listener.key);
    listener.close();
  }
}

function keyOf({ setting, host, port }: ListenAddress): string {
  return `${setting} ${host} ${port}`;
}

/** Gives connections to workers in turn, one at a time to each: a worker that is busy leaves them to the others. */
class SharedListener {
  readonly number: number;
  readonly key: string;
  readonly #server: Server;
  readonly #maxWaiting: number;
  /** The longest free worker first. */
  readonly #free = new Set<Channel>();
  readonly #busy = new Set<Channel>();
  /** The oldest one first. */
  readonly #waiting = new Set<Socket>();

  /** @throws ListenError */
  static async open(number: number, question: ListenQuestion): Promise<SharedListener> {
    // The worker reads what the client sends.
    const server = createServer({ pauseOnConnect: true });
    await startListening(server, question);
    // The process has too many open files: Node.js has closed the connection.
    server.on('error', () => undefined);
    return new SharedListener(server, number, question);
  }

  private constructor(server: Server, number: number, question: ListenQuestion) {
    this.number = number;
    this.key = keyOf(question);
    this.#server = server;
    this.#maxWaiting = question.maxWaiting;
    server.on('connection', (socket) => this.#accept(socket));
  }

  get bound(): Pick<AddressInfo, 'address' | 'port'> {
    const { address, port } = this.#server.address() as AddressInfo;
    return { address, port };
  }

  /** Whether a worker takes connections. */
  get isUsed(): boolean {
    return this.#free.size + this.#busy.size > 0;
  }

  add(channel: Channel): void {
    this.#free.add(channel);
    for (const socket of this.#waiting) socket.setTimeout(0);
    this.#distribute();
  }

  remove(channel: Channel): void {
    this.#free.delete(channel);
    this.#busy.delete(channel);
    if (!this.isUsed) for (const socket of this.#waiting) socket.setTimeout(maxWaitMs);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#waiting) socket.destroy();
  }

  #accept(socket: Socket): void {
    if (this.#waiting.size >= this.#maxWaiting) return void socket.destroy();
    socket.on('error', () => undefined);
    socket.on('timeout', () => socket.destroy());
    socket.once('close', () => this.#waiting.delete(socket));
    this.#wait(socket);
  }

  #wait(socket: Socket): void {
    this.#waiting.add(socket);
    if (!this.isUsed) socket.setTimeout(maxWaitMs);
    this.#distribute();
  }

  #distribute(): void {
    for (const channel of this.#free) {
      const socket = this.#waiting.values().next().value;
      if (socket === undefined) return;
      this.#waiting.delete(socket);
      this.#free.delete(channel);
      this.#busy.add(channel);
      void this.#give(channel, socket);
    }
  }

  /** Closes the socket of this process when the worker has its own, or has exited: the connection then lives as long as the worker. */
  async #give(channel: Channel, socket: Socket): Promise<void> {
    let isTaken = true;
    try {
      isTaken = await channel.askWith<boolean>(socket, toWorker.connection, this.number, answerTimeouts.primary);
    } catch {
      // The worker may have read from the connection: another one cannot serve it.
    }
    if (isTaken) socket.destroy();
    if (this.#busy.delete(channel) && isTaken) this.#free.add(channel);
    if (!isTaken) this.#wait(socket);
    else this.#distribute();
  }
}
