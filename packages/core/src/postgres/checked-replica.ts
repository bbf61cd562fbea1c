import {
  ConnectionLost,
  type Database,
  DatabaseError,
  type Replica,
  type ReplicaStatistics,
  type WalPosition,
} from './port.ts';
import type { PrimaryLog } from './primary-log.ts';
import { type PrimaryState, readStandby, type StandbyState } from './replica-checks.ts';
import { includes } from './wal-position.ts';
import { toError } from '../to-error.ts';

/** Milliseconds for which a replica gets no calls after a connection to it was lost. */
const pauseAfterLoss = 3_000;

export interface ReplicaConnections {
  readonly name: string;
  /** The pool of the calls. */
  readonly database: Database;
  /** A connection that calls do not use. */
  readonly checks: Database;
}

export interface CheckedReplicaOptions {
  /** Milliseconds. */
  readonly maxLagMs: number;
  readonly onChange: (replica: string, unusableReason: string | null) => void;
}

/** A replica with the result of its last check. */
export class CheckedReplica implements Replica {
  readonly name: string;
  readonly database: Database;
  readonly #checks: Database;
  readonly #options: CheckedReplicaOptions;
  #isChecking = false;
  /** Up to this time, by `performance.now()`, the replica has every committed change. Minus infinity: unknown, or unusable. */
  #completeUntil = Number.NEGATIVE_INFINITY;
  #replayed: WalPosition | null = null;
  /** Why the last check found it unusable, whatever its lag. */
  #fault: string | null = 'it has not been checked yet';
  #pausedUntil = 0;
  #lastFailure = '';
  /** The state that was last reported. */
  #reported: string | null = this.#fault;
  #calls = 0;
  #repeatedCalls = 0;
  #isClosed = false;

  constructor({ name, database, checks }: ReplicaConnections, options: CheckedReplicaOptions) {
    this.name = name;
    this.database = database;
    this.#checks = checks;
    this.#options = options;
  }

  get waiting(): number {
    return this.database.statistics().waiting;
  }

  /** @param oldest by `performance.now()` */
  meets(oldest: number, position: WalPosition | null): boolean {
    if (this.#completeUntil < oldest || performance.now() < this.#pausedUntil) return false;
    return position === null || (this.#replayed !== null && includes(this.#replayed, position));
  }

  countCall(): void {
    this.#calls++;
  }

  get unusableReason(): string | null {
    if (this.#fault !== null) return this.#fault;
    const now = performance.now();
    if (now < this.#pausedUntil) return this.#lastFailure;
    const { maxLagMs } = this.#options;
    return now - this.#completeUntil > maxLagMs
      ? `it lags by more than ${maxLagMs / 1_000} s, or the primary does not answer`
      : null;
  }

  handleFailure(error: unknown): void {
    this.#repeatedCalls++;
    const isFatal = error instanceof DatabaseError && error.diagnostics.severity === 'FATAL';
    if (error instanceof ConnectionLost || isFatal) this.pause(error);
  }

  /** Sends no calls for some seconds, because a connection has failed. */
  pause({ message }: Error): void {
    this.#lastFailure = message;
    this.#pausedUntil = performance.now() + pauseAfterLoss;
    this.#report();
  }

  /** The primary has changed: nothing is known about the replica until its next check. */
  forget(): void {
    this.#completeUntil = Number.NEGATIVE_INFINITY;
    this.#replayed = null;
  }

  /** Ends the reports. */
  close(): void {
    this.#isClosed = true;
  }

  /** Reads the state of the replica. Never rejects. */
  async check(log: PrimaryLog): Promise<void> {
    if (this.#isChecking) return this.#report();
    this.#isChecking = true;
    try {
      const state = await readStandby(this.#checks);
      // The primary may have changed in the meantime.
      if (log.latest !== null) this.#handleState(state, log.latest, log);
    } catch (error) {
      this.#handleFault(toError(error).message);
    } finally {
      this.#isChecking = false;
    }
    this.#report();
  }

  statistics(): ReplicaStatistics {
    const lagMs = performance.now() - this.#completeUntil;
    return {
      replica: this.name,
      unusableReason: this.unusableReason,
      lagMs: Number.isFinite(lagMs) ? lagMs : null,
      calls: this.#calls,
      repeatedCalls: this.#repeatedCalls,
    };
  }

  #handleState(state: StandbyState, primary: PrimaryState, log: PrimaryLog): void {
    const fault = findFault(state, primary);
    if (fault !== null) return this.#handleFault(fault);
    this.#fault = null;
    this.#replayed = state.replayed;
    // The log may have dropped the entry of an earlier check.
    this.#completeUntil = Math.max(this.#completeUntil, log.completeUntil(state.replayed!));
  }

  #handleFault(fault: string): void {
    this.#fault = fault;
    this.forget();
  }

  #report(): void {
    const reason = this.unusableReason;
    if (reason === this.#reported || this.#isClosed) return;
    this.#reported = reason;
    this.#options.onChange(this.name, reason);
  }
}

/** Returns why a server is not a replica of the primary; null: it is one. */
function findFault(state: StandbyState, primary: PrimaryState): string | null {
  if (state.system !== primary.system) return 'it belongs to another database cluster than the primary';
  if (!state.isInRecovery) return 'it is not a standby: it was promoted, or is the primary itself';
  if (state.database !== primary.database) {
    return `it is the database ${JSON.stringify(state.database)}, and not ${JSON.stringify(primary.database)} as the primary`;
  }
  if (state.replayed === null) return 'it has replayed no changes yet';
  return state.replayed.timeline === primary.position.timeline
    ? null
    : `it is on timeline ${Number.parseInt(state.replayed.timeline, 16)}, the primary on ${Number.parseInt(primary.position.timeline, 16)}`;
}
