import { Problem } from '../ports/ports.ts';
import { ExpiringMap } from './expiring-map.ts';
import { type CommandRunner, isTrueRow } from './command-runner.ts';

/** A session that begins. */
export interface NewSession {
  /** 128 random bits, never used before. */
  readonly id: string;
  /** Null where the sign-in says nothing of it. */
  readonly userId: string | null;
  readonly userName: string | null;
  readonly scheme: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** Seconds since 1970: it is over then, whatever happens. */
  readonly expires: number;
}

/** Which sessions are alive, on all instances. */
export interface SessionStore {
  begin(session: NewSession): Promise<void>;
  /**
   * At once where the answer is known.
   * @throws Problem `database-unavailable` (503) when it cannot be found out: nobody is made anonymous by a lost connection
   */
  isAlive(session: string): boolean | Promise<boolean>;
  /**
   * Ends it for good; one that has ended, or never was, is no error.
   * @param expires seconds since 1970: when it would have been over anyway
   * @throws Problem `database-unavailable` (503)
   */
  end(session: string, expires: number): Promise<void>;
  /**
   * Uses up the refresh token with this number; the first is 0.
   * @returns false when it was used before, or the session is over
   * @throws Problem `database-unavailable` (503)
   */
  useRefreshToken(session: string, generation: number, expires: number): Promise<boolean>;
  /** Another instance, or the database, has ended it (a NOTIFY says so): what is known of it counts no more. */
  invalidate(session: string): void;
  /** Some may have ended without our hearing of it: nothing that is known counts any more. */
  invalidateAll(): void;
  /** What a host should know at the start. */
  readonly warnings: readonly string[];
}

export interface SqlSessionsOptions {
  readonly query: CommandRunner;
  /**
   * `$1` session id, `$2` user id, `$3` user name, `$4` scheme, `$5` IP address, `$6` user agent, `$7` when it expires (text of a
   * timestamptz). A value that is not known is NULL.
   */
  readonly begin: string;
  /** `$1` session id. A row whose first value is true: it is alive. */
  readonly check: string;
  /** `$1` session id. */
  readonly end: string;
  /**
   * `$1` session id, `$2` the number of the refresh token that was sent, as text; the first is 0. Gives a row with true when it is
   * this one's turn, and counts on, in one statement: `update gateway_sessions set refreshes = refreshes + 1 where id = $1 and
   * refreshes = $2::int and ended is null returning true`. Null: the reuse of a refresh token is noticed by this instance alone.
   */
  readonly refresh?: string | null;
  /** Seconds for which a session that was found alive is believed to be. 0: every call asks. Default 5. */
  readonly cacheSeconds?: number;
  /** The most sessions of which something is remembered. Default 10,000. */
  readonly limit?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const defaultLimit = 10_000;

/** Sessions in a table of the host's, by commands. */
export function sqlSessions(options: SqlSessionsOptions): SessionStore {
  return new SqlSessions(options);
}

class SqlSessions implements SessionStore {
  readonly warnings: readonly string[];
  readonly #options: SqlSessionsOptions;
  readonly #trust: number;
  readonly #now: () => number;
  readonly #alive: ExpiringMap<true>;
  /** One question a session at a time; who comes meanwhile takes its answer. */
  readonly #asking = new Map<string, Promise<boolean>>();
  readonly #record: RefreshTokenUses;

  constructor(options: SqlSessionsOptions) {
    const { cacheSeconds: trust = 5, limit = defaultLimit, now = Date.now, refresh = null } = options;
    this.#options = options;
    this.#trust = trust * 1000;
    this.#now = now;
    this.#alive = new ExpiringMap(limit, now);
    this.#record = new RefreshTokenUses(limit, now);
    this.warnings = refresh === null ? [reuseHere] : [];
  }

  async begin(session: NewSession): Promise<void> {
    const { id, userId, userName, scheme, ip, userAgent, expires } = session;
    const until = new Date(expires * 1000).toISOString();
    await this.#options.query(this.#options.begin, [id, userId, userName, scheme, ip, userAgent, until]);
  }

  isAlive(session: string): boolean | Promise<boolean> {
    if (this.#alive.get(session) === true) return true;
    const asking = this.#asking.get(session) ?? this.#ask(session);
    return asking;
  }

  #ask(session: string): Promise<boolean> {
    const asking: Promise<boolean> = this.#check(session).then(
      (alive) => {
        // Forgotten while the answer was on its way: it may be older than that.
        if (this.#asking.get(session) !== asking) return this.isAlive(session);
        this.#asking.delete(session);
        if (alive) this.#alive.set(session, true, this.#now() + this.#trust);
        return alive;
      },
      (error: unknown) => {
        if (this.#asking.get(session) === asking) this.#asking.delete(session);
        throw error;
      },
    );
    this.#asking.set(session, asking);
    return asking;
  }

  async #check(session: string): Promise<boolean> {
    return isTrueRow(
      await this.#run(this.#options.check, [session], 'It could not be found out whether the session is alive.'),
    );
  }

  async end(session: string): Promise<void> {
    this.invalidate(session);
    await this.#run(this.#options.end, [session], 'The session could not be ended.');
    // A question that was asked before may have been answered since.
    this.invalidate(session);
  }

  async useRefreshToken(session: string, generation: number, expires: number): Promise<boolean> {
    const { refresh = null } = this.#options;
    if (refresh === null) return this.#record.advance(session, generation, expires);
    return isTrueRow(await this.#run(refresh, [session, String(generation)], 'The session could not be refreshed.'));
  }

  invalidate(session: string): void {
    this.#alive.delete(session);
    this.#asking.delete(session);
  }

  invalidateAll(): void {
    this.#alive.clear();
    this.#asking.clear();
  }

  async #run(sql: string, values: readonly string[], detail: string): Promise<Awaited<ReturnType<CommandRunner>>> {
    try {
      return await this.#options.query(sql, values);
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw new Problem('database-unavailable', { detail, headers: ['retry-after', '1'], cause: error });
    }
  }
}

const reuseHere =
  'A refresh token that is used twice is noticed only when both uses reach the same instance: give the command that counts ' +
  'the refreshes of a session.';

export interface MemorySessionsOptions {
  /** The most sessions of which something is remembered. Default 100,000. */
  readonly limit?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Sessions without a table: this instance remembers which have ended. Others, and this one after a restart, take the credentials
 * of an ended session until they expire; so does this one when more sessions have ended than it remembers.
 */
export function memorySessions(options: MemorySessionsOptions = {}): SessionStore {
  const { limit = 100_000, now = Date.now } = options;
  const ended = new ExpiringMap<true>(limit, now);
  const record = new RefreshTokenUses(limit, now);
  return Object.freeze({
    begin: () => Promise.resolve(),
    isAlive: (session) => ended.get(session) === undefined,
    end: (session, expires) => {
      ended.set(session, true, expires * 1000);
      return Promise.resolve();
    },
    useRefreshToken: (session, generation, expires) => Promise.resolve(record.advance(session, generation, expires)),
    invalidate: () => undefined,
    invalidateAll: () => undefined,
    warnings: [
      'Sessions are remembered by this instance alone: sign-out is not known to others, nor after a restart. Give the ' +
        'commands of a session table.',
    ],
  } satisfies SessionStore);
}

/**
 * Which refresh token of a session is the next to be used, as far as this instance has seen. It knows nothing of what happened
 * on other instances or before a restart, and forgets the oldest session when it is full: a reuse there is not noticed.
 */
export class RefreshTokenUses {
  readonly #next: ExpiringMap<number>;

  /**
   * @param limit sessions
   * @param now milliseconds since 1970
   */
  constructor(limit: number, now: () => number) {
    this.#next = new ExpiringMap(limit, now);
  }

  /** False: this one, or a later one, was used before. */
  advance(session: string, generation: number, expires: number): boolean {
    const next = this.#next.get(session) ?? generation;
    if (generation < next) return false;
    this.#next.set(session, generation + 1, expires * 1000);
    return true;
  }
}
