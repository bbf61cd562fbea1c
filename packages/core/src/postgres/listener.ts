import { runOnSession } from './query.ts';
import type { OpenSession } from './session-opener.ts';
import type { ChannelEvent } from './port.ts';
import type { Session } from './session.ts';

const longestBackOff = 5_000;
const defaultHeartbeat = 30_000;
const answerWithin = 10_000;
/** PostgreSQL cuts longer names, and would then listen to another channel. */
const longestName = 63;

type Hear = (heard: ChannelEvent) => void;

export interface ListenerOptions {
  readonly open: OpenSession;
  /** Milliseconds between two questions whether a silent server is still there, and the most that an answer may take. */
  readonly heartbeat?: number;
  /** What kept it from listening; it tries again. */
  problem(error: Error): void;
}

/** A channel with all who listen to it. */
interface Channel {
  readonly hearers: Set<Hear>;
  /** Whether the connection that is open now listens to it. */
  live: boolean;
}

/** Listens to any number of channels on one connection of its own, which is there while somebody listens. */
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
   * @returns stops listening
   * @throws RangeError for a name that no channel can have
   */
  listen(name: string, hear: Hear): () => void {
    if (name === '' || name.includes('\0') || Buffer.byteLength(name) > longestName) {
      throw new RangeError(`a channel has a name of 1 to ${longestName} bytes`);
    }
    if (this.#stopped) return () => undefined;
    const channel = this.#channels.get(name) ?? this.#add(name);
    // The same function may listen twice, and stop once.
    const own: Hear = (heard) => hear(heard);
    channel.hearers.add(own);
    if (channel.live) queueMicrotask(() => own({ kind: 'gap' }));
    return () => this.#remove(name, channel, own);
  }

  stop(): void {
    this.#stopped = true;
    this.#channels.clear();
    this.#disconnect();
  }

  #add(name: string): Channel {
    const channel: Channel = { hearers: new Set(), live: false };
    this.#channels.set(name, channel);
    if (this.#session !== null) {
      this.#begin(this.#session, name, channel).catch((error: unknown) => this.#failed(error));
    } else if (!this.#connecting && this.#failures === 0) {
      this.#connecting = true;
      void this.#connect();
    }
    return channel;
  }

  #remove(name: string, channel: Channel, hear: Hear): void {
    if (!channel.hearers.delete(hear) || channel.hearers.size > 0 || this.#channels.get(name) !== channel) return;
    this.#channels.delete(name);
    if (this.#channels.size === 0) return this.#disconnect();
    // When it fails the connection is lost, and the next one does not listen to it.
    if (this.#session !== null) this.#ask(this.#session, `unlisten ${quoted(name)}`).catch(() => undefined);
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
        closed: (lost) => this.#lost(lost),
        notice: () => undefined,
        notification: (name, payload) => this.#tell(this.#channels.get(name), { kind: 'notification', payload }),
      });
      this.#connecting = false;
      if (this.#channels.size === 0) return session.end();
      this.#session = session;
      await Promise.all([...this.#channels].map(([name, channel]) => this.#begin(session, name, channel)));
      this.#failures = 0;
      this.#later(this.#heartbeat, () => this.#beat(session));
    } catch (error) {
      this.#connecting = false;
      this.#failed(error);
    }
  }

  async #begin(session: Session, name: string, channel: Channel): Promise<void> {
    await this.#ask(session, `listen ${quoted(name)}`);
    if (session !== this.#session || this.#channels.get(name) !== channel) return;
    channel.live = true;
    this.#tell(channel, { kind: 'gap' });
  }

  #tell(channel: Channel | undefined, heard: ChannelEvent): void {
    if (channel?.live === true) for (const hear of channel.hearers) hear(heard);
  }

  get #heartbeat(): number {
    return this.#options.heartbeat ?? defaultHeartbeat;
  }

  #ask(session: Session, sql: string): Promise<void> {
    return runOnSession(session, { statement: { name: '', sql }, values: [] }, Math.min(answerWithin, this.#heartbeat));
  }

  async #beat(session: Session): Promise<void> {
    // A failure is told by the loss of the connection.
    await this.#ask(session, 'select 1').catch(() => undefined);
    if (session === this.#session) this.#later(this.#heartbeat, () => this.#beat(session));
  }

  #lost(session: Session): void {
    if (session !== this.#session) return;
    this.#session = null;
    for (const channel of this.#channels.values()) channel.live = false;
    this.#again();
  }

  #failed(error: unknown): void {
    if (this.#stopped || this.#channels.size === 0) return;
    this.#options.problem(error instanceof Error ? error : new Error(String(error)));
    // With a session, its end is what brings the next attempt.
    if (this.#session === null) this.#again();
  }

  #again(): void {
    this.#later(Math.min(longestBackOff, 100 * 2 ** this.#failures++), async () => {
      if (this.#session !== null || this.#connecting) return;
      this.#connecting = true;
      await this.#connect();
    });
  }

  #later(delay: number, act: () => Promise<void>): void {
    clearTimeout(this.#timer);
    if (this.#stopped || this.#channels.size === 0) return;
    this.#timer = setTimeout(() => void act(), delay);
    this.#timer.unref();
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
