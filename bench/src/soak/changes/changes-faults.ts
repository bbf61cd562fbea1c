import { setTimeout as pause } from 'node:timers/promises';

import type { AuditedServer } from '../audit/audited-server.ts';
import type { SoakDatabase } from '../database.ts';
import type { Random } from '../random.ts';
import { definitions, policies } from './schema.sql.ts';

const maxPauseMs = 5_000;
const minServerPauseMs = 8_000;
const minCrashPauseMs = 12_000;
const maxStarts = 5;

export interface ChangesFaultTarget {
  readonly database: SoakDatabase;
  readonly start: () => Promise<AuditedServer>;
  readonly ended: (reason: string) => void;
}

/** Kills processes of PostgreSQL and of the server, and changes policies and definitions, at random times. */
export class ChangesFaults {
  readonly counts = { backends: 0, readers: 0, crashes: 0, workers: 0, servers: 0, policies: 0, definitions: 0 };
  server: AuditedServer;
  readonly #target: ChangesFaultTarget;
  readonly #random: Random;
  #undo: string | null = null;
  #lastRestart = performance.now();
  #lastCrash = performance.now();

  constructor(server: AuditedServer, target: ChangesFaultTarget, random: Random) {
    this.server = server;
    this.#target = target;
    this.#random = random;
  }

  /** Runs until the signal; the server runs at its end. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.#random.next() * maxPauseMs, null, { signal }).catch(() => null);
      if (!signal.aborted) await this.#fail();
    }
  }

  async #fail(): Promise<void> {
    const [value, now] = [this.#random.next(), performance.now()];
    if (this.server.ended !== null) {
      this.#target.ended(this.server.ended);
      await this.#restart();
    } else if (value < 0.15 && now > this.#lastRestart + minServerPauseMs) {
      this.counts.servers++;
      await this.server.end('SIGKILL');
      await this.#restart();
    } else if (value < 0.3 && now > this.#lastCrash + minCrashPauseMs) await this.#crash();
    else if (value < 0.4) this.counts.workers += Number(this.server.killWorker(this.#random));
    else if (value < 0.5) await this.#terminate('readers', `backend_type = 'walsender'`);
    else if (value < 0.7) await this.#terminate('backends', `backend_type = 'client backend'`);
    else if (value < 0.85) await this.#changePolicy();
    else await this.#changeDefinition();
  }

  async #restart(): Promise<void> {
    const stopped = this.server;
    for (let count = 1; this.server === stopped; count++) {
      try {
        this.server = await this.#target.start();
      } catch (error) {
        if (count === maxStarts) throw error;
      }
    }
    stopped.killAll();
    this.#lastRestart = performance.now();
  }

  /** PostgreSQL ends all of its processes after one was killed, recovers from its log, and starts again. */
  async #crash(): Promise<void> {
    const rows = await this.#backends(`backend_type = 'client backend'`);
    if (rows.length === 0) return;
    process.kill(this.#random.pick(rows), 'SIGKILL');
    this.counts.crashes++;
    this.#lastCrash = performance.now();
  }

  async #terminate(name: 'backends' | 'readers', condition: string): Promise<void> {
    const rows = await this.#backends(condition);
    if (rows.length === 0) return;
    await this.#run(`select pg_terminate_backend(${this.#random.pick(rows)})`);
    this.counts[name]++;
  }

  async #backends(condition: string): Promise<readonly number[]> {
    const { database } = this.#target;
    const rows = await database
      .query<{ pid: number }>(
        `select pid from pg_stat_activity where usename = $1 and datname = current_database() and ${condition} order by pid`,
        [database.roles.gateway],
      )
      .catch(() => []);
    return rows.map(({ pid }) => pid);
  }

  async #changePolicy(): Promise<void> {
    const using = this.#random.pick(policies);
    if (await this.#run(`alter policy visible on live.item using (${using})`)) this.counts.policies++;
  }

  async #changeDefinition(): Promise<void> {
    const [change, undo] = this.#undo === null ? this.#random.pick(definitions) : [this.#undo, null];
    if (!(await this.#run(change))) return;
    this.#undo = undo;
    this.counts.definitions++;
  }

  /** Returns false while PostgreSQL cannot be reached. */
  #run(sql: string): Promise<boolean> {
    return this.#target.database.query(sql).then(
      () => true,
      () => false,
    );
  }
}
