import type { ChangeRequest } from '../ports/changes.ts';
import type { ChangeGroup } from './change-group.ts';
import type { Join } from './open-joins.ts';

export type Snapshot = NonNullable<ChangeRequest['snapshot']>;

/** Subscribers of a group that begin together. */
export interface EqualJoins {
  readonly group: ChangeGroup;
  /** The query of their first rows; null: they begin without rows. */
  readonly snapshot: Snapshot | null;
  readonly joins: readonly Join[];
}

/** Counts the running reads of snapshots by what identifies their caller. */
export class SnapshotReaders {
  readonly #counts = new Map<string, number>();

  count({ request }: ChangeGroup): number {
    return this.#counts.get(request.identity.key) ?? 0;
  }

  /** Counts a read until the returned function is called. */
  add({ request }: ChangeGroup): () => void {
    const { key } = request.identity;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    return () => {
      const count = this.#counts.get(key)! - 1;
      if (count === 0) this.#counts.delete(key);
      else this.#counts.set(key, count);
    };
  }
}

/** Subscribers that begin at a cut, in their order: those without rows first, then those of the callers with the fewest running reads. */
export class WaitingJoins {
  readonly #waiting: EqualJoins[];
  readonly #readers: SnapshotReaders;

  constructor(joins: readonly Join[], readers: SnapshotReaders) {
    this.#waiting = groupEqual(joins);
    this.#readers = readers;
  }

  /** Removes and returns the next ones; null: there are no more. */
  take(): EqualJoins | null {
    let next: EqualJoins | null = null;
    let least = Infinity;
    for (const equal of this.#waiting) {
      const count = equal.snapshot === null ? -1 : this.#readers.count(equal.group);
      if (count >= least) continue;
      next = equal;
      least = count;
      if (least < 0) break;
    }
    if (next !== null) this.#waiting.splice(this.#waiting.indexOf(next), 1);
    return next;
  }

  putBack(equal: EqualJoins): void {
    this.#waiting.unshift(equal);
  }

  all(): readonly Join[] {
    return this.#waiting.flatMap(({ joins }) => joins);
  }
}

function groupEqual(joins: readonly Join[]): EqualJoins[] {
  const byGroup = new Map<ChangeGroup, Map<string, EqualJoins & { readonly joins: Join[] }>>();
  for (const join of joins) {
    const { group, member } = join;
    const { snapshot } = member;
    let bySnapshot = byGroup.get(group);
    if (bySnapshot === undefined) byGroup.set(group, (bySnapshot = new Map()));
    const key = snapshotKey(snapshot);
    const known = bySnapshot.get(key);
    if (known === undefined) bySnapshot.set(key, { group, snapshot, joins: [join] });
    else known.joins.push(join);
  }
  return [...byGroup.values()].flatMap((bySnapshot) => [...bySnapshot.values()]);
}

/** Returns a text that is the same for equal snapshots. */
function snapshotKey(snapshot: Snapshot | null): string {
  return snapshot === null ? '' : JSON.stringify([snapshot.sql, snapshot.values]);
}
