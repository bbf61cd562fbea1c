import { createHash } from 'node:crypto';
import type {
  ChangeEnd,
  ChangeGapReason,
  ChangeListener,
  ChangeMessage,
  ChangeRequest,
  RowChange,
} from '../ports/changes.ts';
import { tableKey } from '../catalog/table-name.ts';
import { formatChangeId, formatSource, isIdOf, isIdOfServer, numberAfter } from './change-id.ts';
import { LookupCost } from './lookup-cost.ts';
import type { ReplayLog } from './replay-log.ts';
import { unavailable } from './unavailable.ts';

/** A message of a subscriber, or the place of one that is not read yet. */
interface Place {
  message: ChangeMessage | null;
  isOpen: boolean;
}

/** Holds back the messages after the one that is read. */
export interface Hold {
  /** Delivers the message, and those that wait for it. */
  release(message: ChangeMessage): void;
  /** Whether a gap has made the message unnecessary. */
  readonly isDiscarded: boolean;
}

/** A subscriber of a group. Messages wait while the rows of its snapshot are read. */
export class GroupMember {
  readonly listener: ChangeListener;
  readonly snapshot: ChangeRequest['snapshot'];
  /** The id of the last message that the listener has received. */
  lastId: string;
  /** Begins with an open place; empty: messages are delivered at once. */
  #queue: Place[] = [];
  /** Whether rows of a later cut replace the messages until then. */
  #awaitsRows = false;
  #isEnded = false;

  constructor(listener: ChangeListener, { snapshot, lastEventId }: Pick<ChangeRequest, 'snapshot' | 'lastEventId'>) {
    this.listener = listener;
    this.snapshot = snapshot;
    this.lastId = lastEventId ?? '';
  }

  get isHeld(): boolean {
    return this.#queue.length > 0 || this.#awaitsRows;
  }

  /** Drops the messages until `hold`, but for gaps: rows that are read then replace them. */
  awaitRows(): void {
    this.#awaitsRows = true;
  }

  /** Holds later messages back. */
  hold(): Hold {
    this.#awaitsRows = false;
    const place: Place = { message: null, isOpen: true };
    this.#queue.push(place);
    const isDiscarded = (): boolean => !this.#queue.includes(place);
    return {
      get isDiscarded() {
        return isDiscarded();
      },
      release: (message) => {
        place.message = message;
        place.isOpen = false;
        while (this.#queue[0]?.isOpen === false) this.#deliver(this.#queue.shift()!.message);
      },
    };
  }

  /** Drops the messages that wait for rows, and these rows: a gap and those of a later cut replace them. */
  discard(): void {
    this.#queue = [];
    this.#awaitsRows = false;
  }

  send(message: ChangeMessage): void {
    if (this.#awaitsRows && message.kind !== 'gap') return;
    if (this.#queue.length > 0) this.#queue.push({ message, isOpen: false });
    else this.#deliver(message);
  }

  /** Delivers the gaps that wait, and ends. Changes that wait are those of rows that the listener does not have. */
  end(reason: ChangeEnd): void {
    for (const { message } of this.#queue) if (message?.kind === 'gap') this.#deliver(message);
    const hasEnded = this.#isEnded;
    this.abandon();
    if (!hasEnded) this.listener.ended(reason);
  }

  /** Ends without another call of the listener. */
  abandon(): void {
    this.#queue = [];
    this.#isEnded = true;
  }

  #deliver(message: ChangeMessage | null): void {
    if (this.#isEnded || message === null) return;
    this.lastId = message.id;
    this.listener.message(message);
  }
}

const noTables: ReadonlySet<string> = new Set();

/** Subscriptions that share lookups and events: those of one query and one identity. */
export class ChangeGroup {
  readonly key: string;
  /** The end of its ids. */
  readonly source: string;
  /** The table, as `tableKey` returns it. */
  readonly table: string;
  readonly gapOn: ReadonlySet<string>;
  /** With the settings of the newest subscriber. */
  request: ChangeRequest;
  readonly members: Set<GroupMember> = new Set();
  /** The last id that the group has passed. */
  lastId = '';
  /** Ids before it may have events that are not kept. */
  floor = '';
  /** Whether the group is part of the latest cut. */
  isActive = false;
  /** Whether a lookup of an earlier cut still runs. */
  isBusy = false;
  readonly cost: LookupCost = new LookupCost();
  /** Why the group missed changes of later cuts while it was busy; null: it did not. */
  missed: ChangeGapReason | null = null;
  /** The time at which the last subscriber left, by `performance.now()`; null: there are some. */
  emptySince: number | null = null;
  isEnded = false;
  /** Why PostgreSQL refuses its query, which ends it; null: it does not. */
  failure: Error | null = null;
  readonly #log: ReplayLog;

  /** @param server 8 hexadecimal digits */
  constructor(
    key: string,
    request: ChangeRequest,
    { log, server }: { readonly log: ReplayLog; readonly server: string },
  ) {
    this.key = key;
    this.source = formatSource(server, key);
    this.request = request;
    this.table = tableKey(request.query.relation);
    this.gapOn = request.gapOn.length === 0 ? noTables : new Set(request.gapOn.map(tableKey));
    this.#log = log;
  }

  /** Whether it has begun, and begins again at the next cut. */
  get isSuspended(): boolean {
    return this.lastId !== '' && !this.isActive && !this.isBusy;
  }

  /** Begins at a cut: events before it are not kept. */
  begin(id: string): void {
    this.isActive = true;
    this.lastId = id;
    this.floor = id;
  }

  /** Sends a message to all members, and keeps it for those that come back. Returns the number of deliveries. */
  publish(message: ChangeMessage): number {
    return this.#publish(message, message);
  }

  /** Returns what follows an id; null: something of it is not kept. */
  after(id: string): readonly ChangeMessage[] | null {
    if (id < this.floor || id > this.lastId) return null;
    const messages = this.#log.messagesOf(this).filter((message) => message.id > id);
    return messages.map((message) => (message.kind === 'changes' ? changesAfter(message, id) : message));
  }

  gap(id: string, reason: ChangeGapReason): number {
    // With the id before the gap, a client that is cut off before the rows of its snapshot gets the gap again.
    return this.#publish({ kind: 'gap', id, reason }, { kind: 'gap', id: this.lastId, reason });
  }

  /** Sends a gap with the first id after that of the group. */
  gapAt(position: string, reason: ChangeGapReason): number {
    return this.gap(formatChangeId(position, numberAfter(this.lastId, position), this.source), reason);
  }

  #publish(message: ChangeMessage, beforeRows: ChangeMessage): number {
    this.lastId = message.id;
    this.#log.add(this, message);
    for (const member of this.members) member.send(member.snapshot === null ? message : beforeRows);
    return this.members.size;
  }

  /** Returns the error of a subscriber that cannot begin, as the group has ended. */
  refusal(): Error {
    return this.failure ?? unavailable();
  }

  end(reason: ChangeEnd): void {
    this.isEnded = true;
    this.#log.remove(this);
    const members = [...this.members];
    this.members.clear();
    for (const member of members) member.end(reason);
  }
}

/** A client may have got a part of the events of a cut. */
function changesAfter(message: ChangeMessage & { readonly kind: 'changes' }, id: string): ChangeMessage {
  const changes: readonly RowChange[] = message.changes.filter((change) => change.id > id);
  return changes.length === message.changes.length ? message : { ...message, changes };
}

/**
 * Returns what equal subscriptions share, as a digest: there may be many groups. Settings are not part of it, as those of two tokens of one caller differ: the key of the identity
 * is.
 */
export function groupKey({ query, identity, operations, withOld, withUnchanged, route, gapOn }: ChangeRequest): string {
  const { relation, keyColumns, sql, values, columns, readsAsOwner = false } = query;
  const names = columns.map(({ key }) => key);
  const shape = [relation.schema, relation.name, keyColumns, sql, values, names, readsAsOwner];
  const all = [shape, identity.role ?? null, identity.key, operations, withOld, withUnchanged, route, gapOn];
  return createHash('sha256').update(JSON.stringify(all)).digest('base64');
}

/**
 * Returns why a subscriber that comes back begins again; null: it continues, or has not been here before.
 * @param missed the messages after its last one; null: they are not kept
 */
export function findResetReason(
  { lastEventId, snapshot }: ChangeRequest,
  missed: readonly ChangeMessage[] | null,
  source: string,
): ChangeGapReason | null {
  if (lastEventId === null) return null;
  if (missed === null) {
    if (isIdOf(source, lastEventId)) return 'too-long-away';
    return isIdOfServer(source, lastEventId) ? 'other-stream' : 'other-instance';
  }
  // The rows of a snapshot follow a gap.
  return snapshot === null ? null : (missed.findLast((message) => message.kind === 'gap')?.reason ?? null);
}

/**
 * Waits for the end of the cut that a subscriber comes back during: the events after its last one are not complete.
 * @param cut returns the cut that looks rows up for the group of the subscriber; null: none
 */
export async function untilResumable({ lastEventId }: ChangeRequest, cut: () => Promise<void> | null): Promise<void> {
  if (lastEventId === null) return;
  for (let running = cut(); running !== null; running = cut()) await running;
}
