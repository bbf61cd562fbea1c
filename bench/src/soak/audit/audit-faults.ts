import { setTimeout as pause } from 'node:timers/promises';

import type { SoakDatabase } from '../database.ts';
import type { Random } from '../random.ts';
import type { AuditedServer } from './audited-server.ts';
import type { AuditLog } from './audit-log.ts';
import type { CutProxy } from './cut-proxy.ts';

const maxPauseMs = 300;
const minRestartPauseMs = 4000;
const maxStarts = 3;

export interface AuditTarget {
  readonly database: SoakDatabase;
  /** In front of the server. */
  readonly proxy: CutProxy;
  readonly log: AuditLog;
  readonly start: () => Promise<AuditedServer>;
}

/** Kills backends, workers and the server at random times. */
export class AuditFaults {
  readonly counts = { backends: 0, workers: 0, servers: 0, stops: 0 };
  server: AuditedServer;
  readonly #target: AuditTarget;
  readonly #random: Random;
  #lastRestart = performance.now();

  constructor(server: AuditedServer, target: AuditTarget, random: Random) {
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
    const value = this.#random.next();
    if (this.server.ended !== null) {
      this.#target.log.violations.add('running', this.server.ended);
      await this.#restart();
    } else if (value < 0.2 && performance.now() > this.#lastRestart + minRestartPauseMs) await this.#restart();
    else if (value < 0.35) this.counts.workers += Number(this.server.killWorker(this.#random));
    else await this.#terminateBackend();
  }

  async #restart(): Promise<void> {
    const { proxy, log, start } = this.#target;
    const isKilled = this.#random.chance(0.75);
    this.counts[isKilled ? 'servers' : 'stops']++;
    const stopped = this.server;
    await stopped.end(isKilled ? 'SIGKILL' : 'SIGTERM');
    proxy.target = null;
    for (let count = 1; proxy.target === null && count <= maxStarts; count++) {
      try {
        // Connections to the database are cut in the meantime too.
        this.server = await start();
        proxy.target = this.server.port;
      } catch (error) {
        if (count === maxStarts) log.violations.add('running', String(error));
      }
    }
    stopped.killAll();
    this.#lastRestart = performance.now();
  }

  /** Prefers backends that are in a transaction or run a statement. */
  async #terminateBackend(): Promise<void> {
    const { database } = this.#target;
    const rows = await database.query<{ pid: number; busy: boolean }>(
      `select pid, state <> 'idle' as busy from pg_stat_activity
       where usename = $1 and datname = current_database() order by pid`,
      [database.roles.gateway],
    );
    if (rows.length === 0) return;
    const busy = rows.filter((row) => row.busy);
    await database.query('select pg_terminate_backend($1)', [this.#random.pick(busy.length > 0 ? busy : rows).pid]);
    this.counts.backends++;
  }
}
