import { once } from './configure.ts';
import type { OpenSession } from './pg.ts';
import type { Heard } from './port.ts';
import type { Session } from './session.ts';

const longestBackOff = 5_000;
const defaultHeartbeat = 30_000;
const answerWithin = 10_000;
/** PostgreSQL cuts longer names, and would then listen to another channel. */
const longestName = 63;

export interface Listening {
  readonly open: OpenSession;
  readonly channel: string;
  /** Milliseconds between two questions whether a silent server is still there, and the most that an answer may take. */
  readonly heartbeat?: number;
  hear(heard: Heard): void;
  /** What kept it from listening; it tries again. */
  problem(error: Error): void;
}

/**
 * Listens on a connection of its own until it is stopped.
 * @throws RangeError for a name that no channel can have
 */
export function listen(listening: Listening): () => void {
  const { channel } = listening;
  if (channel === '' || channel.includes('\0') || Buffer.byteLength(channel) > longestName) {
    throw new RangeError(`a channel has a name of 1 to ${longestName} bytes`);
  }
  const listener = new Listener(listening);
  void listener.connect();
  return () => listener.stop();
}

class Listener {
  readonly #listening: Listening;
  #session: Session | null = null;
  #failures = 0;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(listening: Listening) {
    this.#listening = listening;
  }

  async connect(): Promise<void> {
    const { open, channel } = this.#listening;
    try {
      const session = await open({
        released: () => undefined,
        closed: (lost) => this.#lost(lost),
        notice: () => undefined,
        notification: (payload) => this.#listening.hear({ kind: 'notification', payload }),
      });
      if (this.#stopped) return session.end();
      this.#session = session;
      await this.#ask(session, `listen "${channel.replaceAll('"', '""')}"`);
      this.#failures = 0;
      this.#listening.hear({ kind: 'gap' });
      this.#later(this.#heartbeat, () => this.#beat(session));
    } catch (error) {
      this.#failed(error);
    }
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#session?.end();
  }

  get #heartbeat(): number {
    return this.#listening.heartbeat ?? defaultHeartbeat;
  }

  #ask(session: Session, sql: string): Promise<void> {
    return once(session, { statement: { name: '', sql }, values: [] }, Math.min(answerWithin, this.#heartbeat));
  }

  async #beat(session: Session): Promise<void> {
    // A failure is told by the loss of the connection.
    await this.#ask(session, 'select 1').catch(() => undefined);
    if (session === this.#session) this.#later(this.#heartbeat, () => this.#beat(session));
  }

  #lost(session: Session): void {
    if (session !== this.#session) return;
    this.#session = null;
    this.#again();
  }

  #failed(error: unknown): void {
    if (this.#stopped) return;
    this.#listening.problem(error instanceof Error ? error : new Error(String(error)));
    // With a session, its end is what brings the next attempt.
    if (this.#session === null) this.#again();
  }

  #again(): void {
    this.#later(Math.min(longestBackOff, 100 * 2 ** this.#failures++), () => this.connect());
  }

  #later(delay: number, act: () => Promise<void>): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void act(), delay);
    this.#timer.unref();
  }
}
