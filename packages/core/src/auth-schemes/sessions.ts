import { Problem } from '../ports/ports.ts';
import { ExpiringMap } from '../cache/expiring-map.ts';
import { type CommandRunner, isTrueRow } from './command-runner.ts';

/** A new session. */
export interface NewSession {
  /** 128 random bits. */
  readonly id: string;
  /** Null when the login has no such claim. */
  readonly userId: string | null;
  readonly userName: string | null;
  readonly scheme: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** Seconds since 1970. */
  readonly expires: number;
}

/** The sessions of all instances. */
export interface SessionStore {
  begin(session: NewSession): Promise<void>;
  /**
   * Whether the session has not ended; a cached answer comes without a promise.
   * @throws Problem `database-unavailable` (503) when it is unknown: a lost connection must not make callers anonymous
   */
  isAlive(session: string): boolean | Promise<boolean>;
  /**
   * Ends the session. An unknown session is not an error.
   * @param expires the end of the session otherwise, in seconds since 1970
   * @throws Problem `database-unavailable` (503)
   */
  end(session: string, expires: number): Promise<void>;
  /**
   * Marks the refresh token with this number as used; the first one is 0.
   * @returns false when it was used before, or the session has ended
   * @throws Problem `database-unavailable` (503)
   */
  useRefreshToken(session: string, generation: number, expires: number): Promise<boolean>;
  /** Evicts a session from the cache: another instance, or the database, has ended it. */
  invalidate(session: string): void;
  /** Empties the cache: notifications of ended sessions may have been missed. */
  invalidateAll(): void;
  /** Warnings for the log at start. */
  readonly warnings: readonly string[];
}

export interface SqlSessionsOptions {
  readonly query: CommandRunner;
  /**
   * `$1` session id, `$2` user id, `$3` user name, `$4` scheme, `$5` IP address, `$6` user agent, `$7` end (text of a
   * timestamptz). Unknown values are NULL.
   */
  readonly begin: string;
  /** `$1` session id. Returns a row with true while the session is alive. */
  readonly check: string;
  /** `$1` session id. */
  readonly end: string;
  /**
   * `$1` session id, `$2` number of the refresh token as text; the first one is 0. Returns a row with true once for each number, in
   * order, and counts in the same statement: `update gateway_sessions set refreshes = refreshes + 1 where id = $1 and
   * refreshes = $2::int and ended is null returning true`. Null: this instance alone detects the reuse of a refresh token.
   */
  readonly refresh?: string | null;
  /** Whether a scheme issues refresh tokens. Default true. */
  readonly hasRefreshTokens?: boolean;
  /** Seconds for which an alive session is cached. Default 5; 0: each request runs the command. */
  readonly cacheSeconds?: number;
  /** The maximum number of cached sessions. Default 10,000. */
  readonly limit?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const defaultLimit = 10_000;

/** Sessions in a table of the host, by SQL commands. */
export function sqlSessions(options: SqlSessionsOptions): SessionStore {
  return new SqlSessions(options);
}

class SqlSessions implements SessionStore {
  readonly warnings: readonly string[];
  readonly #options: SqlSessionsOptions;
  readonly #cacheMs: number;
  readonly #now: () => number;
  readonly #alive: ExpiringMap<true>;
  /** The running checks: concurrent requests of a session share one. */
  readonly #checks = new Map<string, Promise<boolean>>();
  readonly #refreshTokenUses: RefreshTokenUses;

  constructor(options: SqlSessionsOptions) {
    const { cacheSeconds = 5, limit = defaultLimit, now = Date.now, refresh = null, hasRefreshTokens = true } = options;
    this.#options = options;
    this.#cacheMs = cacheSeconds * 1000;
    this.#now = now;
    this.#alive = new ExpiringMap(limit, now);
    this.#refreshTokenUses = new RefreshTokenUses(limit, now);
    this.warnings = refresh === null && hasRefreshTokens ? [localReuseWarning] : [];
  }

  async begin(session: NewSession): Promise<void> {
    const { id, userId, userName, scheme, ip, userAgent, expires } = session;
    const until = new Date(expires * 1000).toISOString();
    await this.#options.query(this.#options.begin, [id, userId, userName, scheme, ip, userAgent, until]);
  }

  isAlive(session: string): boolean | Promise<boolean> {
    if (this.#alive.get(session) === true) return true;
    return this.#checks.get(session) ?? this.#check(session);
  }

  #check(session: string): Promise<boolean> {
    const check: Promise<boolean> = this.#runCheck(session).then(
      (alive) => {
        // Invalidated during the check: the answer may be outdated.
        if (this.#checks.get(session) !== check) return this.isAlive(session);
        this.#checks.delete(session);
        if (alive) this.#alive.set(session, true, this.#now() + this.#cacheMs);
        return alive;
      },
      (error: unknown) => {
        if (this.#checks.get(session) === check) this.#checks.delete(session);
        throw error;
      },
    );
    this.#checks.set(session, check);
    return check;
  }

  async #runCheck(session: string): Promise<boolean> {
    return isTrueRow(await this.#run(this.#options.check, [session], 'The session could not be checked.'));
  }

  async end(session: string): Promise<void> {
    this.invalidate(session);
    await this.#run(this.#options.end, [session], 'The session could not be ended.');
    // A check that began before may have been cached since.
    this.invalidate(session);
  }

  async useRefreshToken(session: string, generation: number, expires: number): Promise<boolean> {
    const { refresh = null } = this.#options;
    if (refresh === null) return this.#refreshTokenUses.use(session, generation, expires);
    return isTrueRow(await this.#run(refresh, [session, String(generation)], 'The session could not be refreshed.'));
  }

  invalidate(session: string): void {
    this.#alive.delete(session);
    this.#checks.delete(session);
  }

  invalidateAll(): void {
    this.#alive.clear();
    this.#checks.clear();
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

const localReuseWarning =
  'The reuse of a refresh token is detected only when both uses reach the same instance; set the command that counts the ' +
  'refreshes of a session (refreshCommand).';

export interface MemorySessionsOptions {
  /** The maximum number of ended sessions that are remembered. Default 100,000. */
  readonly limit?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Creates a store of sessions without a table: this instance remembers which ones have ended. Other instances, and this one after a restart, accept the
 * credentials of an ended session until they expire. So does this one when more sessions have ended than it remembers.
 */
export function memorySessions(options: MemorySessionsOptions = {}): SessionStore {
  const { limit = 100_000, now = Date.now } = options;
  const ended = new ExpiringMap<true>(limit, now);
  const refreshTokenUses = new RefreshTokenUses(limit, now);
  return Object.freeze({
    begin: () => Promise.resolve(),
    isAlive: (session) => ended.get(session) === undefined,
    end: (session, expires) => {
      ended.set(session, true, expires * 1000);
      return Promise.resolve();
    },
    useRefreshToken: (session, generation, expires) =>
      Promise.resolve(refreshTokenUses.use(session, generation, expires)),
    invalidate: () => undefined,
    invalidateAll: () => undefined,
    warnings: [
      'Ended sessions are remembered by this instance alone: a logout has no effect on other instances, nor after a restart. ' +
        'Set the commands of a session table.',
    ],
  } satisfies SessionStore);
}

/**
 * The number of the next refresh token of each session. Knows nothing of other instances or of the time before a restart, and forgets
 * the least recently used session when it is full: reuse is not detected there.
 */
class RefreshTokenUses {
  readonly #next: ExpiringMap<number>;

  /**
   * @param limit the maximum number of sessions
   * @param now milliseconds since 1970
   */
  constructor(limit: number, now: () => number) {
    this.#next = new ExpiringMap(limit, now);
  }

  /** @returns false when this token, or a later one, was used before */
  use(session: string, generation: number, expires: number): boolean {
    const next = this.#next.get(session) ?? generation;
    if (generation < next) return false;
    this.#next.set(session, generation + 1, expires * 1000);
    return true;
  }
}
