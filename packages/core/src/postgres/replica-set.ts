import type { Database, ReadRequirement, Replica, Replicas, WalPosition } from './port.ts';
import { PrimaryLog } from './primary-log.ts';
import { readPrimary } from './replica-checks.ts';
import { CheckedReplica, type ReplicaConnections } from './checked-replica.ts';

/** Bounds of the time between two checks, in milliseconds. */
const minCheckInterval = 100;
const maxCheckInterval = 500;
/** Checks within the lag bound, so that one late check takes no replica out. */
const checksPerLag = 4;

export interface ReplicaSetOptions {
  /** A connection to the primary that requests do not use. */
  readonly primary: Database;
  readonly replicas: readonly ReplicaConnections[];
  /** Milliseconds. */
  readonly maxLagMs: number;
  /** A replica has become unusable for a reason, or usable again (null). */
  readonly onChange: (replica: string, unusableReason: string | null) => void;
}

/**
 * The replicas of a primary. On an interval, it reads the write position of the primary, and how far each replica has replayed. A replica
 * that has replayed a position has every change committed before that position was read, so that its lag needs no clock but ours.
 */
export class ReplicaSet implements Replicas {
  readonly #options: ReplicaSetOptions;
  readonly #log: PrimaryLog;
  readonly all: readonly CheckedReplica[];
  readonly #timer: NodeJS.Timeout;
  #isReading = false;
  /** The replica that the next read tries first. */
  #next = 0;
  #readsOnPrimary = 0;
  #runningRead: Promise<unknown> | null = null;
  #nextRead: Promise<WalPosition | null> | null = null;

  constructor(options: ReplicaSetOptions) {
    this.#options = options;
    const { maxLagMs } = options;
    this.#log = new PrimaryLog(maxLagMs);
    this.all = options.replicas.map((connections) => new CheckedReplica(connections, options));
    const interval = Math.min(maxCheckInterval, Math.max(minCheckInterval, maxLagMs / checksPerLag));
    this.#timer = setInterval(() => void this.#check(), interval);
    this.#timer.unref();
    void this.#check();
  }

  get readsOnPrimary(): number {
    return this.#readsOnPrimary;
  }

  select({ committedBefore, position }: ReadRequirement): Replica | null {
    const oldest = Math.max(committedBefore, performance.now() - this.#options.maxLagMs);
    const count = this.all.length;
    let selected: CheckedReplica | null = null;
    for (let offset = 0; offset < count; offset++) {
      const replica = this.all[(this.#next + offset) % count]!;
      if (!replica.meets(oldest, position)) continue;
      // The first one in turn, unless calls wait for its connections and another one has fewer.
      if (selected === null || replica.waiting < selected.waiting) selected = replica;
      if (selected.waiting === 0) break;
    }
    this.#next = (this.#next + 1) % count;
    if (selected === null) this.#readsOnPrimary++;
    else selected.countCall();
    return selected;
  }

  /** Shares one query among the calls that arrive while another one runs: its position includes what each of them has committed. */
  readPosition(): Promise<WalPosition | null> {
    this.#nextRead ??= Promise.resolve(this.#runningRead).then(() => {
      this.#nextRead = null;
      const read = readPrimary(this.#options.primary).then(
        ({ position }) => position,
        () => null,
      );
      this.#runningRead = read;
      return read;
    });
    return this.#nextRead;
  }

  /** Ends the checks. */
  close(): void {
    clearInterval(this.#timer);
    for (const replica of this.all) replica.close();
  }

  async #check(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const readAt = performance.now();
    try {
      const hasChanged = this.#log.add(await readPrimary(this.#options.primary), readAt);
      // After a failover, every replica has to follow the new primary before it gets calls again.
      if (hasChanged) for (const replica of this.all) replica.forget();
    } catch {
      // Without a newer position, the lag of every replica grows until it gets no more calls.
    } finally {
      this.#isReading = false;
    }
    for (const replica of this.all) void replica.check(this.#log);
  }
}
