import type { GatewayRequest } from '../http/request.ts';
import type { ByteSink, ByteSource } from '../http/response.ts';
import type { Feed } from './feed.ts';
import type { AuthorizedCaller } from './subscriber-authorization.ts';

/** Milliseconds that a blocked connection gets to take its last bytes after the stream has ended. */
const gracePeriod = 5_000;

export type DisconnectReason = 'left' | 'slow' | 'signed-out' | 'unpublished' | 'closing';

export interface SubscriberOptions extends AuthorizedCaller {
  readonly request: GatewayRequest;
  /** The path of the stream. */
  readonly path: string;
  /** Selects events of scope `self`; null: the client gave no execution id. */
  readonly executionKey: string | null;
  /** The identity key of the caller. A different caller ends the subscription. */
  readonly identityKey: string;
  /** SHA-256 of the session id; null: the credentials have no session. */
  readonly sessionHash: string | null;
  readonly address: string | undefined;
  /** Most bytes in the queue. */
  readonly maxQueuedBytes: number;
  /** Additional bytes before the response is piped: the replayed events. */
  readonly maxReplayBytes: number;
  /** Where the events come from; absent: calls and notifications. */
  readonly feed?: Feed;
  /** Called once. */
  readonly onDisconnect: (subscriber: Subscriber, reason: DisconnectReason) => void;
}

/** The response body of one client of an event stream: a bounded queue with back-pressure. */
export class Subscriber implements ByteSource, AuthorizedCaller {
  readonly options: SubscriberOptions;
  caller: AuthorizedCaller['caller'];
  endpointScheme: AuthorizedCaller['endpointScheme'];
  executable: AuthorizedCaller['executable'];
  /** The last event that was sent, or skipped for lack of authorization. */
  lastEventId: number;
  /** An authorization check is running. */
  checking = false;
  /** Authorization checks in a row that failed without a decision. */
  failedChecks = 0;
  #sink: ByteSink | null = null;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  /** The sink has asked for a pause. */
  #blocked = false;
  /** The result of the last `checkStalled`. */
  #idle = false;
  #disconnected = false;

  constructor(options: SubscriberOptions, lastEventId: number) {
    this.options = options;
    this.caller = options.caller;
    this.endpointScheme = options.endpointScheme;
    this.executable = options.executable;
    this.lastEventId = lastEventId;
  }

  get isDisconnected(): boolean {
    return this.#disconnected;
  }

  get executionKey(): string | null {
    return this.options.executionKey;
  }

  pipe(sink: ByteSink): void {
    this.#sink = sink;
    this.#idle = false;
    if (this.#disconnected) sink.end(new Uint8Array(0));
    else this.flush(concat);
  }

  resume(): void {
    this.#blocked = false;
    this.#idle = false;
    this.flush(concat);
  }

  cancel(): void {
    this.#disconnect('left');
  }

  /** Queues bytes for the next `flush`. A full queue disconnects the client. */
  push(bytes: Uint8Array): void {
    if (this.#disconnected) return;
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    const { maxQueuedBytes, maxReplayBytes } = this.options;
    if (this.#queuedBytes <= maxQueuedBytes) return;
    this.flush(concat);
    if (this.#queuedBytes > (this.#sink === null ? maxQueuedBytes + maxReplayBytes : maxQueuedBytes)) this.drop();
  }

  flush(concatenate: (chunks: readonly Uint8Array[]) => Uint8Array): void {
    if (this.#disconnected || this.#blocked || this.#sink === null || this.#queue.length === 0) return;
    const chunks = this.#queue;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#blocked = !this.#sink.write(chunks.length === 1 ? chunks[0]! : concatenate(chunks));
  }

  /** Returns whether the client has taken no bytes since the previous check. */
  checkStalled(): boolean {
    // The response of a feed begins when its source has answered.
    const waiting = this.#blocked || (this.#sink === null && this.options.feed === undefined);
    const wasIdle = this.#idle;
    this.#idle = waiting;
    return waiting && wasIdle;
  }

  /** Aborts the response and discards the queue. */
  drop(): void {
    if (this.#disconnect('slow')) this.#sink?.fail(new Error('the client of an event stream reads too slowly'));
  }

  /** Ends the response after the queued bytes, so that the client may reconnect. */
  end(reason: Exclude<DisconnectReason, 'left' | 'slow'>): void {
    const rest = concat(this.#queue);
    const blocked = this.#blocked;
    if (!this.#disconnect(reason)) return;
    const sink = this.#sink;
    sink?.end(rest);
    // A blocked client would keep its connection open.
    if (blocked) setTimeout(() => sink?.fail(new Error('the event stream has ended')), gracePeriod).unref();
  }

  #disconnect(reason: DisconnectReason): boolean {
    if (this.#disconnected) return false;
    this.#disconnected = true;
    this.#queue = [];
    this.options.onDisconnect(this, reason);
    return true;
  }
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(chunks);
}

/** Returns a concatenation that reuses its last result: most subscribers get the same chunks. */
export function createCachedConcat(): (chunks: readonly Uint8Array[]) => Uint8Array {
  let lastChunks: readonly Uint8Array[] = [];
  let bytes: Uint8Array = Buffer.alloc(0);
  return (chunks) => {
    if (chunks.length !== lastChunks.length || chunks.some((chunk, index) => chunk !== lastChunks[index])) {
      lastChunks = chunks;
      bytes = Buffer.concat(chunks);
    }
    return bytes;
  };
}
