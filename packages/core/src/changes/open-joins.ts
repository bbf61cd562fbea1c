import type { ChangeGroup, GroupMember } from './change-group.ts';

/** A subscriber that begins at the next cut. */
export interface Join {
  readonly group: ChangeGroup;
  readonly member: GroupMember;
  /** Whether a gap precedes its rows. */
  readonly isReset: boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The joins of a group at one cut that wait for PostgreSQL. */
export class OpenJoins {
  readonly #group: ChangeGroup;
  readonly #joins: Map<GroupMember, { readonly join: Join; results: number }>;

  constructor(group: ChangeGroup, joins: readonly Join[]) {
    this.#group = group;
    // A join waits for the group to begin, and for the rows of its snapshot.
    this.#joins = new Map(joins.map((join) => [join.member, { join, results: join.member.snapshot === null ? 1 : 2 }]));
  }

  /** Resolves a join that has each of its results. */
  arrive(member: GroupMember): void {
    const open = this.#joins.get(member);
    if (open === undefined || --open.results > 0) return;
    this.#joins.delete(member);
    // The group may have ended meanwhile.
    if (this.#group.members.has(member)) open.join.resolve();
    else open.join.reject(this.#group.refusal());
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
    open.join.reject(error);
    return true;
  }
}
