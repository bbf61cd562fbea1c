import type { SoakDatabase } from './database.ts';
import type { FaultProxy } from './fault-proxy.ts';
import type { Random } from './random.ts';
import type { Statistics } from './statistics.ts';

const meanPauseMs = 400;
/** The minimum between two faults: on a slow machine too, most calls must succeed. */
const minRequests = 150;

/** Terminates backends of the gateway or cuts connections at random times. */
export class ConnectionFaults {
  /** Backends that were terminated. */
  killed = 0;
  /** Connections that the proxy has cut. */
  lost = 0;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  readonly #database: SoakDatabase;
  readonly #proxy: FaultProxy;
  readonly #random: Random;
  #next = 0;

  constructor(database: SoakDatabase, proxy: FaultProxy, random: Random) {
    this.#database = database;
    this.#proxy = proxy;
    this.#random = random;
  }

  get count(): number {
    return this.killed + this.lost;
  }

  start(statistics: Statistics): void {
    const pause = this.#random.next() * 2 * meanPauseMs;
    this.#timer = setTimeout(() => {
      this.#running = this.#fail(statistics).then(() => {
        if (this.#timer !== null) this.start(statistics);
      });
    }, pause);
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  async #fail(statistics: Statistics): Promise<void> {
    if (statistics.requests < this.#next) return;
    this.#next = statistics.requests + minRequests;
    if (this.#random.chance(0.5)) await this.#kill();
    else if (this.#proxy.lose(this.#random)) this.lost++;
  }

  /** Prefers backends that are running a statement. */
  async #kill(): Promise<void> {
    const rows = await this.#database.query<{ pid: number; active: boolean }>(
      `select pid, state = 'active' as active from pg_stat_activity
       where usename = $1 and datname = current_database() order by pid`,
      [this.#database.roles.gateway],
    );
    const active = rows.filter((row) => row.active);
    if (rows.length === 0) return;
    await this.#database.query('select pg_terminate_backend($1)', [
      this.#random.pick(active.length > 0 ? active : rows).pid,
    ]);
    this.killed++;
  }
}
