import { runOnSession } from './query.ts';
import type { OpenSession } from './session-opener.ts';
import type { ChannelEvent } from './port.ts';
import type { Session } from './session.ts';
import { toError } from '../to-error.ts';

const maxBackOffMs = 5_000;
const defaultHeartbeatMs = 30_000;
const maxResponseMs = 10_000;
/** Bytes; PostgreSQL truncates longer identifiers, which could name another channel. */
const maxNameLength = 63;

type ChannelListener = (event: ChannelEvent) => void;

export interface ListenerOptions {
  readonly open: OpenSession;
  /** Milliseconds between two heartbeat queries, and the maximum time of their responses. Default 30,000. */
  readonly heartbeatMs?: number;
  /** Receives the error of a failed attempt to listen; the listener tries again. */
  onConnectionError(error: Error): void;
}

/** A channel and its subscribers. */
interface Channel {
  readonly subscribers: Set<ChannelListener>;
  /** Whether the current connection listens to the channel. */
  isListening: boolean;
}

/** Listens to any number of channels on one separate connection, which is open while a channel has subscribers. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #channels = new Map<string, Channel>();
  #session: Session | null = null;
  #connecting = false;
  #failures = 0;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /**
   * Subscribes to a channel.
   * @returns a function that ends the subscription
   * @throws RangeError for an invalid channel name
   */
  listen(name: string, listener: ChannelListener): () => void {
    if (name === '' || name.includes('\0') || Buffer.byteLength(name) > maxNameLength) {
      throw new RangeError(`the channel name ${JSON.stringify(name)} must have 1 to ${maxNameLength} bytes and no NUL`);
    }
    if (this.#stopped) return () => undefined;
    const channel = this.#channels.get(name) ?? this.#add(name);
    // A wrapper per subscription: the same function may subscribe twice and unsubscribe once.
    const subscriber: ChannelListener = (event) => listener(event);
    channel.subscribers.add(subscriber);
    if (channel.isListening) queueMicrotask(() => subscriber({ kind: 'gap' }));
    return () => this.#remove(name, channel, subscriber);
  }

  stop(): void {
    this.#stopped = true;
    this.#channels.clear();
    this.#disconnect();
  }

  #add(name: string): Channel {
    const channel: Channel = { subscribers: new Set(), isListening: false };
    this.#channels.set(name, channel);
    if (this.#session !== null) {
      this.#startListening(this.#session, name, channel).catch((error: unknown) => this.#handleError(error));
    } else if (!this.#connecting && this.#failures === 0) {
      this.#connecting = true;
      void this.#connect();
    }
    return channel;
  }

  #remove(name: string, channel: Channel, listener: ChannelListener): void {
    if (!channel.subscribers.delete(listener) || channel.subscribers.size > 0 || this.#channels.get(name) !== channel)
      return;
    this.#channels.delete(name);
    if (this.#channels.size === 0) return this.#disconnect();
    // After a failure the connection is lost, and the next one does not listen to the channel.
    if (this.#session !== null) this.#runSql(this.#session, `unlisten ${quoteChannel(name)}`).catch(() => undefined);
  }

  #disconnect(): void {
    clearTimeout(this.#timer);
    const session = this.#session;
    this.#session = null;
    this.#failures = 0;
    session?.end();
  }

  async #connect(): Promise<void> {
    try {
      const session = await this.#options.open({
        released: () => undefined,
        closed: (lost) => this.#handleClosed(lost),
        notice: () => undefined,
        notification: (name, payload) => this.#emit(this.#channels.get(name), { kind: 'notification', payload }),
      });
      this.#connecting = false;
      if (this.#channels.size === 0) return session.end();
      this.#session = session;
      await Promise.all([...this.#channels].map(([name, channel]) => this.#startListening(session, name, channel)));
      this.#failures = 0;
      this.#schedule(this.#heartbeatMs, () => this.#sendHeartbeat(session));
    } catch (error) {
      this.#connecting = false;
      this.#handleError(error);
    }
  }

  async #startListening(session: Session, name: string, channel: Channel): Promise<void> {
    await this.#runSql(session, `listen ${quoteChannel(name)}`);
    if (session !== this.#session || this.#channels.get(name) !== channel) return;
    channel.isListening = true;
    this.#emit(channel, { kind: 'gap' });
  }

  #emit(channel: Channel | undefined, event: ChannelEvent): void {
    if (channel?.isListening === true) for (const listener of channel.subscribers) listener(event);
  }

  get #heartbeatMs(): number {
    return this.#options.heartbeatMs ?? defaultHeartbeatMs;
  }

  #runSql(session: Session, sql: string): Promise<void> {
    return runOnSession(
      session,
      { statement: { name: '', sql }, values: [] },
      Math.min(maxResponseMs, this.#heartbeatMs),
    );
  }

  async #sendHeartbeat(session: Session): Promise<void> {
    // A failure closes the connection, which `#handleClosed` handles.
    await this.#runSql(session, 'select 1').catch(() => undefined);
    if (session === this.#session) this.#schedule(this.#heartbeatMs, () => this.#sendHeartbeat(session));
  }

  #handleClosed(session: Session): void {
    if (session !== this.#session) return;
    this.#session = null;
    for (const channel of this.#channels.values()) channel.isListening = false;
    this.#scheduleReconnect();
  }

  #handleError(error: unknown): void {
    if (this.#stopped || this.#channels.size === 0) return;
    this.#options.onConnectionError(toError(error));
    // With a session, its end triggers the next attempt.
    if (this.#session === null) this.#scheduleReconnect();
  }

  #scheduleReconnect(): void {
    this.#schedule(Math.min(maxBackOffMs, 100 * 2 ** this.#failures++), async () => {
      if (this.#session !== null || this.#connecting) return;
      this.#connecting = true;
      await this.#connect();
    });
  }

  #schedule(delay: number, callback: () => Promise<void>): void {
    clearTimeout(this.#timer);
    if (this.#stopped || this.#channels.size === 0) return;
    this.#timer = setTimeout(() => void callback(), delay);
    this.#timer.unref();
  }
}

function quoteChannel(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
