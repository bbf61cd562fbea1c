import type { ChangeGroup, GroupMember } from './change-group.ts';

/** A subscriber that begins at the next cut, or gets the rows of its snapshot again. */
export interface Join {
  readonly group: ChangeGroup;
  readonly member: GroupMember;
  /** Whether a gap precedes its rows. */
  readonly isReset: boolean;
  /** The promise of the subscriber; null: the subscriber has begun at an earlier cut, and gets its rows again. */
  readonly waiter: JoinWaiter | null;
}

export interface JoinWaiter {
  /** By `performance.now()`. */
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The joins of a group at one cut that wait for PostgreSQL. */
export class OpenJoins {
  readonly #group: ChangeGroup;
  readonly #joins = new Map<GroupMember, { readonly join: Join; readonly waiter: JoinWaiter; results: number }>();

  constructor(group: ChangeGroup, joins: readonly Join[]) {
    this.#group = group;
    // A join waits for the group to begin, and for the rows of its snapshot.
    for (const join of joins) {
      const { member, waiter } = join;
      if (waiter !== null) this.#joins.set(member, { join, waiter, results: member.snapshot === null ? 1 : 2 });
    }
  }

  /** Resolves a join that has each of its results. */
  arrive(member: GroupMember): void {
    const open = this.#joins.get(member);
    if (open === undefined || --open.results > 0) return;
    this.#joins.delete(member);
    // The group may have ended meanwhile.
    if (this.#group.members.has(member)) open.waiter.resolve();
    else open.waiter.reject(this.#group.refusal());
  }

  /** Takes a join out, which begins at a later cut. Returns null for a member that has begun. */
  take(member: GroupMember): Join | null {
    const open = this.#joins.get(member);
    if (open === undefined) return null;
    this.#joins.delete(member);
    this.#group.members.delete(member);
    member.discard();
    return open.join;
  }

  /** Rejects a join. Returns false for a member that has begun. */
  fail(member: GroupMember, error: Error): boolean {
    const open = this.#joins.get(member);
    if (open === undefined) return false;
    this.#joins.delete(member);
    this.#group.members.delete(member);
    member.abandon();
    open.waiter.reject(error);
    return true;
  }
}
