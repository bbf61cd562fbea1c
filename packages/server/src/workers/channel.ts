/** Messages between two processes: notifications, and questions with an answer. */
import type { Socket } from 'node:net';
import { toError } from '@pgway/core/internal';

/** The connection of the channel, as a `ChildProcess` or the process of a worker provides it. */
export interface ChannelPort {
  /**
   * Sends a message; `done` is called when it was written, with an error if it was not.
   * @param socket is sent with the message, and stays open in this process
   */
  send(message: object, done: (error: Error | null) => void, socket?: Socket): void;
  receive(listener: (message: unknown, socket?: Socket) => void): void;
}

/** The question was not answered: the other process is busy, has failed, or has exited. */
export class ChannelError extends Error {
  override readonly name: string = 'ChannelError';
}

/** The question was not sent: too much is unsent, or too many questions are open. */
export class ChannelFullError extends ChannelError {
  override readonly name = 'ChannelFullError';
}

type Message =
  | { readonly kind: 'tell'; readonly topic: string; readonly data: unknown }
  | { readonly kind: 'ask'; readonly id: number; readonly topic: string; readonly data: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly data: unknown; readonly error: string | null };

type Handler = (data: never, socket: Socket | undefined) => unknown;

interface Asked {
  readonly topic: string;
  readonly data: unknown;
  readonly socket?: Socket;
}

interface Question {
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Bytes, estimated, of messages that the operating system has not taken. */
const maxUnsentBytes = 16 * 1024 * 1024;
const maxOpenQuestions = 10_000;
/** The estimated bytes of a message without its content. */
const messageBytes = 200;

/** Both ends trust each other; a message of another form is ignored. The memory for unsent messages is bounded. */
export class Channel {
  readonly #port: ChannelPort;
  readonly #handlers = new Map<string, Handler>();
  readonly #questions = new Map<number, Question>();
  #lastId = 0;
  #unsentBytes = 0;
  #isClosed = false;
  readonly #drainedListeners: (() => void)[] = [];
  #flushed: () => void = () => undefined;
  #overflowed: () => void = () => undefined;

  constructor(port: ChannelPort) {
    this.#port = port;
    port.receive((message, socket) => this.#receive(message, socket));
  }

  /** Sets the handler of a topic. Its result is the answer to a question. */
  handle<Data>(topic: string, handler: (data: Data, socket: Socket | undefined) => unknown): void {
    this.#handlers.set(topic, handler as Handler);
  }

  /** Adds a listener that is called whenever a message was refused before, and messages are accepted again. */
  onDrained(listener: () => void): void {
    this.#drainedListeners.push(listener);
  }

  /** Calls the listener when a question was refused, as the other process does not read: it must not miss any. */
  onOverflow(listener: () => void): void {
    this.#overflowed = listener;
  }

  /**
   * Sends a notification.
   * @param bytes the estimated size of the data
   * @returns false when it was dropped, as too much is unsent
   */
  tell(topic: string, data: unknown = null, bytes = 0): boolean {
    return this.#send({ kind: 'tell', topic, data }, bytes);
  }

  /** @throws ChannelError without an answer in time; ChannelFullError when the question was not sent */
  ask<Answer>(topic: string, data: unknown, timeoutMs: number, bytes = 0): Promise<Answer> {
    return this.#ask({ topic, data }, timeoutMs, bytes);
  }

  /**
   * Asks a question with a socket, which stays open in this process.
   * @throws as `ask`
   */
  askWith<Answer>(socket: Socket, topic: string, data: unknown, timeoutMs: number): Promise<Answer> {
    return this.#ask({ topic, data, socket }, timeoutMs, 0);
  }

  #ask<Answer>({ topic, data, socket }: Asked, timeoutMs: number, bytes: number): Promise<Answer> {
    const id = ++this.#lastId;
    return new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(
        () => this.#reject(id, new ChannelError(`no answer to ${topic} in ${timeoutMs} ms`)),
        timeoutMs,
      );
      this.#questions.set(id, { resolve: resolve as Question['resolve'], reject, timer });
      const isFull = this.#questions.size > maxOpenQuestions;
      if (!isFull && this.#send({ kind: 'ask', id, topic, data }, bytes, socket)) return;
      this.#reject(id, new ChannelFullError('the channel is full'));
      if (!this.#isClosed) this.#overflowed();
    });
  }

  /** Resolves when the operating system has taken all messages, which a process must wait for before its exit. */
  flush(): Promise<void> {
    if (this.#unsentBytes === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#flushed = resolve));
  }

  /** Rejects the open questions: the other process has exited. */
  close(): void {
    this.#isClosed = true;
    for (const id of this.#questions.keys()) this.#reject(id, new ChannelError('the process has exited'));
  }

  #send(message: Message, bytes: number, socket?: Socket): boolean {
    if (this.#isClosed || this.#unsentBytes > maxUnsentBytes) return false;
    this.#write(message, bytes, socket);
    return true;
  }

  #write(message: Message, bytes: number, socket?: Socket): void {
    if (this.#isClosed) return;
    const size = bytes + messageBytes;
    this.#unsentBytes += size;
    const sent = (): void => {
      const wasFull = this.#unsentBytes > maxUnsentBytes;
      this.#unsentBytes -= size;
      if (this.#unsentBytes === 0) this.#flushed();
      if (wasFull && this.#unsentBytes <= maxUnsentBytes) for (const listener of this.#drainedListeners) listener();
    };
    this.#port.send(message, sent, socket);
  }

  #receive(message: unknown, socket: Socket | undefined): void {
    if (!isMessage(message)) return;
    if (message.kind === 'answer') this.#settle(message);
    else if (message.kind === 'tell') this.#handlers.get(message.topic)?.(message.data as never, undefined);
    else void this.#answer(message, socket);
  }

  async #answer(
    { id, topic, data }: Extract<Message, { readonly kind: 'ask' }>,
    socket: Socket | undefined,
  ): Promise<void> {
    const handler = this.#handlers.get(topic);
    try {
      if (handler === undefined) throw new ChannelError(`unknown topic ${topic}`);
      const answer = await handler(data as never, socket);
      if (this.#send({ kind: 'answer', id, data: answer, error: null }, sizeOf(answer))) return;
      // The questions of the other process bound these small answers.
      this.#write({ kind: 'answer', id, data: null, error: 'the channel is full' }, 0);
    } catch (error) {
      const text = toError(error).message;
      this.#write({ kind: 'answer', id, data: null, error: text }, text.length);
    }
  }

  #settle({ id, data, error }: Extract<Message, { readonly kind: 'answer' }>): void {
    if (error === null) this.#remove(id)?.resolve(data);
    else this.#reject(id, new ChannelError(error));
  }

  #reject(id: number, error: ChannelError): void {
    this.#remove(id)?.reject(error);
  }

  #remove(id: number): Question | undefined {
    const question = this.#questions.get(id);
    this.#questions.delete(id);
    clearTimeout(question?.timer);
    return question;
  }
}

/** Estimates the bytes of texts, also in a list. */
function sizeOf(data: unknown): number {
  if (typeof data === 'string') return data.length;
  return Array.isArray(data) ? data.reduce<number>((sum, item) => sum + 16 + sizeOf(item), 0) : 0;
}

function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  const { kind, id, topic, error } = value as Readonly<Record<string, unknown>>;
  if (kind === 'tell') return typeof topic === 'string';
  if (kind === 'ask') return typeof topic === 'string' && typeof id === 'number';
  return kind === 'answer' && typeof id === 'number' && (error === null || typeof error === 'string');
}
