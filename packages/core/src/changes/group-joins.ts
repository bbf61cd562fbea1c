import type { ChangeEnd, ChangeGapReason } from '../ports/changes.ts';
import type { ChangeGroup, GroupMember, Hold } from './change-group.ts';
import { formatChangeId } from './change-id.ts';
import type { Cut } from './cut.ts';
import type { GroupDefinitions } from './group-definitions.ts';
import { GroupLookup, type LookupContext, toFailure } from './group-lookup.ts';
import type { Limiter } from './limiter.ts';
import { Problem } from '../http/problem.ts';
import { DatabaseError } from '../postgres/port.ts';
import { runLookups } from './lookup.ts';
import { type Join, type JoinWaiter, OpenJoins } from './open-joins.ts';
import { RowCollector, RowsTooLarge } from './row-collector.ts';
import { retryAfter, unavailable } from './unavailable.ts';
import { type EqualJoins, type Snapshot, SnapshotReaders, WaitingJoins } from './waiting-joins.ts';
import { toError } from '../to-error.ts';

/** Subscriptions and gaps whose rows are read at the next cut. */
export interface JoinBatch {
  readonly joins: readonly Join[];
  /** Groups that begin again after a gap. */
  readonly gaps: ReadonlyMap<ChangeGroup, ChangeGapReason>;
}

export interface JoinOptions {
  readonly limiter: Limiter;
  /** Limits the reads of snapshots within the other limiter: they may take long, and changes do not wait for all of them. */
  readonly slowLimiter: Limiter;
  readonly definitions: GroupDefinitions;
  /** The definitions have changed since the cut at which the group begins: it begins again. */
  redefined(group: ChangeGroup): void;
  /** Returns why the log is not read; null: it is. */
  findObstacle(): Error | null;
  ended(group: ChangeGroup, reason: ChangeEnd): void;
  deliveries(count: number): void;
  gaps(reason: ChangeGapReason, receivers: number): void;
  /** Another cut is necessary. */
  wake(): void;
}

interface SnapshotReader {
  readonly member: GroupMember;
  readonly hold: Hold;
}

/** A read of PostgreSQL in the snapshot of a cut. */
interface RunningRead {
  /** Resolves when the cut is not needed any more. */
  readonly imported: Promise<void>;
  /** Resolves at the end of the read, however it ends. */
  readonly ended: Promise<void>;
}

/** Subscribers that begin at one cut. The rest waits for the next one. */
const maxJoins = 1_000;
/** Milliseconds in which subscribers begin at one cut: its changes have been sent, and the next ones wait. */
const maxBeginMs = 50;
/** Milliseconds that a subscriber waits for a place to read its first rows. */
const maxWaitMs = 20_000;

/** Lets subscribers begin at a cut, with the rows of its snapshot if they ask for them. */
export class GroupJoins {
  readonly #context: LookupContext;
  readonly #options: JoinOptions;
  #joins: Join[] = [];
  #gaps = new Map<ChangeGroup, ChangeGapReason>();
  readonly #readers = new SnapshotReaders();

  constructor(context: LookupContext, options: JoinOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Resolves when the member is part of a cut. */
  add(group: ChangeGroup, member: GroupMember, isReset: boolean): Promise<void> {
    const since = performance.now();
    return new Promise((resolve, reject) =>
      this.#joins.push({ group, member, isReset, waiter: { since, resolve, reject } }),
    );
  }

  /** Whether a subscriber waits to join the group. */
  has(group: ChangeGroup): boolean {
    return this.#joins.some((join) => join.group === group);
  }

  addGap(group: ChangeGroup, reason: ChangeGapReason): void {
    group.isActive = false;
    if (!this.#gaps.has(group)) this.#gaps.set(group, reason);
  }

  cancel(member: GroupMember): void {
    const index = this.#joins.findIndex((join) => join.member === member);
    if (index === -1) return;
    const [join] = this.#joins.splice(index, 1);
    join!.waiter?.reject(new Error('the subscription was cancelled'));
  }

  fail(error: Error): void {
    this.#reject(() => true, error);
  }

  #reject(isSelected: (waiter: JoinWaiter, member: GroupMember) => boolean, error: Error): void {
    const joins = this.#joins;
    this.#joins = [];
    for (const join of joins) {
      if (join.waiter !== null && isSelected(join.waiter, join.member)) join.waiter.reject(error);
      else this.#joins.push(join);
    }
  }

  /** Takes what begins at a cut that is taken afterwards. */
  begin(): JoinBatch {
    const gaps = this.#gaps;
    this.#gaps = new Map();
    // After another gap, members read their rows again once.
    this.#joins = this.#joins.filter(({ group, waiter }) => waiter !== null || !gaps.has(group));
    return { joins: this.#joins.splice(0, maxJoins), gaps };
  }

  /** Keeps what could not begin for the next cut. */
  restore({ joins, gaps }: JoinBatch): void {
    this.#joins.unshift(...joins);
    for (const [group, reason] of gaps) if (!group.isEnded) this.#gaps.set(group, reason);
  }

  /** Returns the id of the state of a group in a cut, after the events that it has got already. */
  idOf({ lastId, source }: Pick<ChangeGroup, 'lastId' | 'source'>, { position }: Cut): string {
    const id = formatChangeId(position, 0, source);
    return lastId > id ? lastId : id;
  }

  /** Begins with a cut. Resolves when it is not needed any more. */
  async complete({ joins, gaps }: JoinBatch, cut: Cut): Promise<void> {
    const imports: Promise<unknown>[] = [];
    const again = [...gaps].flatMap(([group, reason]) => (group.isEnded ? [] : this.#restart(group, reason, cut)));
    const waiting = new WaitingJoins([...again, ...joins], this.#readers);
    const deadline = performance.now() + maxBeginMs;
    for (let next = waiting.take(); next !== null; next = waiting.take()) {
      const leave = await this.#findPlace(next, deadline - performance.now());
      if (leave === null) {
        waiting.putBack(next);
        break;
      }
      const reads = this.#begin(next, cut);
      imports.push(...reads.map(({ imported }) => imported));
      void Promise.all(reads.map(({ ended }) => ended)).then(leave);
    }
    this.#joins.unshift(...waiting.all());
    const tooLong = performance.now() - maxWaitMs;
    this.#reject(({ since }, { snapshot }) => snapshot !== null && since < tooLong, tooMany());
    if (this.#joins.length > 0 || this.#gaps.size > 0) this.#options.wake();
    await Promise.all(imports);
  }

  /** Waits until a read may start, for some milliseconds; null: it may not. */
  #findPlace({ group, snapshot }: EqualJoins, ms: number): Promise<(() => void) | null> | (() => void) | null {
    const { limiter, slowLimiter } = this.#options;
    if (snapshot === null && group.isActive) return () => undefined;
    return ms <= 0 ? null : (snapshot === null ? limiter : slowLimiter).enterWithin(ms);
  }

  /** Lets subscribers begin; they have a place for their reads. */
  #begin({ group, snapshot, joins }: EqualJoins, cut: Cut): readonly RunningRead[] {
    if (group.isEnded) {
      for (const { waiter } of joins) waiter?.reject(group.refusal());
      return [];
    }
    const hasGap = this.#gaps.has(group);
    // The group has the state of an earlier cut.
    if (group.isBusy || hasGap) {
      // After the gap, its members read their rows again anyway.
      this.#joins.push(...joins.filter(({ waiter }) => waiter !== null || !hasGap));
      return [];
    }
    const reads = this.#joinGroup({ group, snapshot, joins }, cut);
    if (snapshot !== null) void Promise.all(reads.map(({ ended }) => ended)).then(this.#readers.add(group));
    return reads;
  }

  /** A group begins again after a gap. Returns the members that get the rows of their snapshots again. */
  #restart(group: ChangeGroup, reason: ChangeGapReason, cut: Cut): readonly Join[] {
    group.isActive = true;
    const readers = [...group.members].filter(({ snapshot }) => snapshot !== null);
    for (const member of readers) member.discard();
    this.#options.gaps(reason, group.gapAt(cut.position, reason));
    for (const member of readers) member.awaitRows();
    return readers.map((member) => ({ group, member, isReset: true, waiter: null }));
  }

  /** Starts the reads that the joins wait for. */
  #joinGroup({ group, snapshot, joins: all }: EqualJoins, cut: Cut): readonly RunningRead[] {
    // Members that read their rows again may have left.
    const joins = all.filter(({ member, waiter }) => waiter !== null || group.members.has(member));
    if (joins.length === 0) return [];
    const isNew = !group.isActive;
    if (isNew) group.begin(this.idOf(group, cut));
    group.lastId = this.idOf(group, cut);
    group.emptySince = null;
    const { lastId: id } = group;
    const open = new OpenJoins(group, joins);
    const members = joins.map(({ member }) => member);
    for (const member of members) group.members.add(member);
    const withoutSnapshot = snapshot === null ? members.map((member) => member.hold()) : [];
    const begin = (): void => {
      for (const hold of withoutSnapshot) hold.release({ kind: 'begin', id });
      for (const member of members) open.arrive(member);
    };
    const fail = (error: Error): void => {
      group.failure = error;
      for (const member of members) open.fail(member, error);
      // Others have joined meanwhile.
      const result = toFailure(error);
      this.#options.ended(group, result.kind === 'end' ? result.reason : 'closing');
    };
    // PostgreSQL decides whether the caller may select, and whether the values fit their columns.
    const probe = isNew ? [this.#read(new GroupLookup(group, this.#context).lookup, cut, fail, begin)] : [];
    if (!isNew) begin();
    return snapshot === null ? probe : [...probe, this.#readSnapshot(snapshot, { group, joins, open }, cut)];
  }

  /** Starts the read of the rows of a snapshot. Messages of the members wait for them. */
  #readSnapshot(
    { sql, values }: Snapshot,
    { group, joins, open }: { readonly group: ChangeGroup; readonly joins: readonly Join[]; readonly open: OpenJoins },
    cut: Cut,
  ): RunningRead {
    const readers = joins.map(({ member, isReset }) => ({ member, isReset, hold: member.hold() }));
    const { lastId: id } = group;
    const { query, identity } = group.request;
    const { statements, maxBytes } = this.#context;
    const collector = new RowCollector(query, false, maxBytes);
    const statement = statements.getOrCreate(sql, () => ({ name: '', sql }));
    const lookup = { identity, statement, values, rows: collector, altersSession: query.altersSession };
    const fail = (error: Error): void => {
      const result = toFailure(error);
      const reason = result.kind === 'end' ? result.reason : 'closing';
      // Other members of the group have other snapshots.
      for (const { member } of readers)
        if (!open.fail(member, error) && group.members.delete(member)) member.end(reason);
      if (reason !== 'schema-changed') return;
      group.failure = error;
      this.#options.ended(group, reason);
    };
    const done = async (): Promise<void> => {
      if (!(await this.#options.definitions.areCurrent(group, cut.definitions)))
        return this.#readAgain(group, readers, open);
      const rows = [...collector.take().values()].map(({ record }) => record);
      const [first, again] = [false, true].map((reset) => ({ kind: 'rows', id, rows, isReset: reset }) as const);
      for (const { member, isReset, hold } of readers) {
        hold.release(isReset ? again! : first!);
        open.arrive(member);
      }
      this.#options.deliveries(readers.length * rows.length);
    };
    return this.#read(lookup, cut, fail, done);
  }

  /**
   * Drops rows that were read under other definitions than those of their cut: files that have been written again look empty. New subscribers
   * begin at a later cut, and the others keep waiting for the rows of one.
   */
  #readAgain(group: ChangeGroup, readers: readonly SnapshotReader[], open: OpenJoins): void {
    const waiting = readers.filter(({ hold }) => !hold.isDiscarded);
    // A gap has preceded the first rows of the others.
    for (const { member, hold } of readers) if (hold.isDiscarded) open.arrive(member);
    if (waiting.length === 0) return;
    for (const { member } of waiting) {
      const join = open.take(member);
      if (join !== null) this.#joins.push(join);
    }
    this.#options.redefined(group);
    const obstacle = this.#options.findObstacle();
    if (obstacle === null) this.#options.wake();
    else this.fail(unavailable(obstacle));
  }

  #read(
    lookup: GroupLookup['lookup'],
    cut: Cut,
    failed: (error: Error) => void,
    done: () => void | Promise<void>,
  ): RunningRead {
    const { database, timeout } = this.#context;
    const running = runLookups(database, cut, [lookup], timeout);
    void running.done.then(done).catch((error: unknown) => failed(toJoinError(error)));
    return {
      imported: running.imported,
      ended: running.done.then(
        () => undefined,
        () => undefined,
      ),
    };
  }
}

/** A snapshot that cannot be imported is gone: its connection was lost. */
function toJoinError(thrown: unknown): Error {
  if (thrown instanceof RowsTooLarge) return tooLarge();
  const error = toError(thrown);
  return error instanceof DatabaseError && error.step < 0 ? unavailable(error) : error;
}

function tooMany(): Problem {
  return new Problem('changes-unavailable', {
    headers: retryAfter,
    detail:
      'Too many subscribers wait for the rows of their snapshots; try again later, or subscribe without a snapshot.',
  });
}

function tooLarge(): Problem {
  return new Problem('changes-unavailable', {
    detail: 'The rows are too large for a snapshot; request fewer with a filter or a limit.',
  });
}
