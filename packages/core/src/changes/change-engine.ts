import { randomBytes } from 'node:crypto';
import type { TableName } from '../catalog/table-name.ts';
import { Problem } from '../http/problem.ts';
import type {
  ChangeFeed,
  ChangeGapReason,
  ChangeListener,
  ChangeRequest,
  ChangeStatistics,
  ChangeSubscription,
  TableReport,
} from '../ports/changes.ts';
import { clientShare, type Database } from '../postgres/port.ts';
import type { CommittedTransaction } from '../postgres/replication/committed-transaction.ts';
import { StatementCache } from '../postgres/statement-cache.ts';
import { ChangeGroup, findResetReason, groupKey, GroupMember, untilResumable } from './change-group.ts';
import { removeEmptyGroups } from './empty-groups.ts';
import { isIdOf, positionOf } from './change-id.ts';
import type { Cut } from './cut.ts';
import { deliverCut } from './deliver-cut.ts';
import { GroupDefinitions } from './group-definitions.ts';
import type { LookupContext } from './group-lookup.ts';
import { collectChanges, type CutChanges } from './key-changes.ts';
import { PendingTransactions } from './pending-transactions.ts';
import { GroupJoins } from './group-joins.ts';
import { Limiter } from './limiter.ts';
import { type ChangeEngineState, LogSource, type OpenReader } from './log-source.ts';
import { ReplayLog, type ReplayLimits } from './replay-log.ts';
import { TableWatchers } from './table-watchers.ts';
import { takeCut } from './take-cut.ts';
import { retryAfter, unavailable } from './unavailable.ts';
import { WatchedTables } from './watched-table.ts';
import { toError } from '../to-error.ts';

export interface ChangeEngineOptions {
  readonly openReader: OpenReader;
  readonly publication: string;
  /** Connections for snapshots, which stay in transactions. */
  readonly holders: Database;
  /** Connections for lookups: those of calls. */
  readonly lookups: Database;
  /** Returns the major version of the server, after the reader was opened. */
  readonly serverVersion: () => number;
  /** Milliseconds between the begins of two cuts, at least. */
  readonly windowMs: number;
  /** Milliseconds that a cut may take. */
  readonly maxAgeMs: number;
  readonly lookupTimeoutMs: number;
  /** Changed keys of a transaction, and of those that wait for a cut. */
  readonly maxKeys: number;
  readonly replay: ReplayLimits;
  readonly report: (state: ChangeEngineState) => void;
  /** Returns why changes of a table cannot be read, and what to do; null: nothing is known against it. */
  readonly findObstacle: (relation: { readonly schema: string; readonly name: string }) => string | null;
  /** A query does not fit the database any more. */
  readonly onStale: () => void;
}

/** Milliseconds between cuts without changes: the oldest snapshot holds back VACUUM. */
const renewalMs = 1_000;
/** Milliseconds that a subscriber waits for the log to be opened. */
const openWaitMs = 2_000;
/** Transactions that wait for a cut while there are no subscribers. */
const maxIdleTransactions = 1_000;

/** Reads row changes: takes snapshots, looks changed keys up in them for each group, and sends the differences. */
export class ChangeEngine implements ChangeFeed {
  readonly #options: ChangeEngineOptions;
  readonly #server = randomBytes(4).toString('hex');
  readonly #groups = new Map<string, ChangeGroup>();
  readonly #tables: WatchedTables;
  readonly #pending: PendingTransactions;
  readonly #log: ReplayLog;
  readonly #limiter: Limiter;
  readonly #slowLimiter: Limiter;
  readonly #joins: GroupJoins;
  readonly #context: LookupContext;
  readonly #definitions: GroupDefinitions;
  readonly #watchers: TableWatchers;
  readonly #source: LogSource;
  /** The snapshot that the groups have the state of; null before the first cut. */
  #current: Cut | null = null;
  #cutting: Promise<void> | null = null;
  #mustCut = false;
  #startedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #failedCuts = 0;
  readonly #counts = { cuts: 0, lookups: 0, deliveries: 0, gaps: {} as Partial<Record<ChangeGapReason, number>> };

  constructor(options: ChangeEngineOptions) {
    this.#options = options;
    this.#source = new LogSource(options.openReader, {
      onTransaction: (transaction) => this.#receive(transaction),
      onOpened: () => this.#wake(),
      onLost: () => this.#lose(),
      onOutage: () => this.#announceGaps(),
      report: options.report,
    });
    this.#tables = new WatchedTables(options.holders, options.publication);
    this.#watchers = new TableWatchers(this.#tables);
    this.#log = new ReplayLog(options.replay);
    const limit = Math.max(2, clientShare(options.lookups.size));
    this.#limiter = new Limiter(limit);
    this.#slowLimiter = new Limiter(limit >> 1, this.#limiter);
    this.#pending = new PendingTransactions(options.maxKeys * 4);
    this.#context = {
      database: options.lookups,
      statements: new StatementCache(),
      timeout: options.lookupTimeoutMs,
      maxBytes: options.replay.bytes,
    };
    this.#definitions = new GroupDefinitions(this.#tables, options);
    this.#joins = new GroupJoins(this.#context, {
      limiter: this.#limiter,
      slowLimiter: this.#slowLimiter,
      definitions: this.#definitions,
      redefined: (group) => this.#restartGroup(group, 'schema-changed'),
      findObstacle: () => (this.#source.reader === null ? this.#source.unavailable : null),
      ended: (group, reason) => this.#endGroup(group, reason),
      deliveries: (count) => void (this.#counts.deliveries += count),
      gaps: (reason, receivers) => this.#countGaps(reason, receivers),
      wake: () => this.#wake(),
    });
  }

  /** Begins to read the log, and reads it again after each failure, until it is closed. */
  start(): void {
    this.#source.start();
  }

  async subscribe(request: ChangeRequest, listener: ChangeListener): Promise<ChangeSubscription> {
    await this.#source.waitForReader(openWaitMs);
    this.#assertOpen(request);
    await this.#tables.watch(request.query.relation);
    const key = groupKey(request);
    await untilResumable(request, () => (this.#groups.get(key)?.isBusy === true ? this.#cutting : null));
    this.#assertOpen(request);
    let group = this.#groups.get(key);
    const member = new GroupMember(listener, request);
    const { lastEventId } = request;
    const missed = group === undefined || lastEventId === null ? null : this.#messagesAfter(group, lastEventId);
    if (group === undefined) {
      group = new ChangeGroup(key, request, { log: this.#log, server: this.#server });
      this.#groups.set(key, group);
    }
    group.request = { ...request, lastEventId: null };
    group.emptySince = null;
    const subscription = this.#createSubscription(group, member);
    const gap = findResetReason(request, missed, group.source);
    if (missed !== null && gap === null) {
      group.members.add(member);
      for (const message of missed) member.send(message);
      return subscription;
    }
    try {
      await this.#join(group, member, gap);
    } catch (error) {
      subscription.cancel();
      throw error;
    }
    return subscription;
  }

  #join(group: ChangeGroup, member: GroupMember, gap: ChangeGapReason | null): Promise<void> {
    if (gap !== null) {
      this.#countGaps(gap, 1);
      member.send({ kind: 'gap', id: member.lastId, reason: gap });
    }
    const joined = this.#joins.add(group, member, gap !== null);
    this.#wake();
    return joined;
  }

  watchTables(tables: readonly TableName[], listener: (report: TableReport) => void): () => void {
    const stop = this.#watchers.add(tables, listener);
    this.#wake();
    return stop;
  }

  statistics(): ChangeStatistics {
    const [{ reader }, current] = [this.#source, this.#current];
    const lag = reader === null || current === null ? null : Number(reader.position - current.insertLsn);
    return {
      isOpen: reader !== null,
      lagBytes: lag === null ? null : Math.max(0, lag),
      cutAgeMs: current === null ? null : performance.now() - current.takenAt,
      subscribers: [...this.#groups.values()].reduce((sum, { members }) => sum + members.size, 0),
      groups: this.#groups.size,
      ...this.#counts,
      gaps: { ...this.#counts.gaps },
    };
  }

  async close(): Promise<void> {
    const closed = this.#source.close();
    clearTimeout(this.#timer);
    for (const group of this.#groups.values()) this.#endGroup(group, 'closing');
    this.#joins.fail(unavailable(this.#source.unavailable));
    await closed;
    await this.#cutting;
    this.#dropCurrent();
  }

  /** @throws Problem while the log cannot be read, or does not have the table */
  #assertOpen({ query: { relation } }: ChangeRequest): void {
    const obstacle = this.#options.findObstacle(relation);
    const isOpen = this.#source.reader !== null && !this.#source.isClosed;
    if (isOpen && obstacle === null) return;
    const cause = isOpen ? {} : { cause: this.#source.unavailable };
    const detail = obstacle === null ? {} : { detail: `${obstacle}.` };
    throw new Problem('changes-unavailable', { headers: retryAfter, ...detail, ...cause });
  }

  /** Groups of tables that are not published any more end, after a gap. */
  async #refreshTables(): Promise<void> {
    const lost = await this.#tables.refresh();
    for (const group of [...this.#groups.values()].filter(({ table }) => lost.has(table))) {
      if (this.#current !== null)
        this.#countGaps('schema-changed', group.gapAt(this.#current.position, 'schema-changed'));
      this.#endGroup(group, 'schema-changed');
    }
  }

  #messagesAfter(group: ChangeGroup, lastEventId: string): ReturnType<ChangeGroup['after']> {
    if (!group.isActive || group.isBusy || !isIdOf(group.source, lastEventId)) return null;
    this.#advance(group);
    return group.after(lastEventId);
  }

  /** A group without changes has the state of the latest cut. */
  #advance(group: ChangeGroup): void {
    if (this.#current === null || !group.isActive || group.isBusy) return;
    group.lastId = this.#joins.idOf(group, this.#current);
  }

  #createSubscription(group: ChangeGroup, member: GroupMember): ChangeSubscription {
    const advance = (): void => this.#advance(group);
    return {
      get lastId() {
        if (member.isHeld) return member.lastId;
        advance();
        return group.lastId;
      },
      cancel: () => {
        this.#joins.cancel(member);
        group.members.delete(member);
        if (group.members.size === 0 && !group.isEnded) group.emptySince ??= performance.now();
      },
    };
  }

  #endGroup(group: ChangeGroup, reason: 'forbidden' | 'schema-changed' | 'closing'): void {
    if (this.#groups.get(group.key) === group) this.#groups.delete(group.key);
    group.end(reason);
    if (reason === 'schema-changed') this.#options.onStale();
  }

  /** Transactions are missing: groups begin again when the log is read again. */
  async #lose(): Promise<void> {
    await this.#cutting;
    this.#pending.clear();
    this.#tables.markAll();
    this.#joins.fail(unavailable(this.#source.unavailable));
    this.#restart('connection-lost');
    this.#watchers.lose();
  }

  /** Clients learn that their rows may be old before the log is read again, which is another gap: changes are missing until then. */
  #announceGaps(): void {
    for (const group of this.#groups.values())
      if (group.isSuspended)
        this.#countGaps('connection-lost', group.gapAt(positionOf(group.lastId), 'connection-lost'));
  }

  /** All groups begin again at the next cut, and learn that changes may be missing. */
  #restart(reason: ChangeGapReason): void {
    for (const group of this.#groups.values()) this.#restartGroup(group, reason);
    this.#dropCurrent();
  }

  #restartGroup(group: ChangeGroup, reason: ChangeGapReason): void {
    // The changes that a busy group still reads precede the gap.
    if (group.isBusy) group.missed ??= reason;
    else if (group.isActive) this.#joins.addGap(group, reason);
  }

  #dropCurrent(): void {
    this.#current?.release();
    this.#current = null;
  }

  #receive(transaction: CommittedTransaction): void {
    this.#pending.add(transaction);
    const isWatched = !this.#watchers.isEmpty || this.#groups.size > 0;
    // A cut drops them. Without it, the first cut of a subscriber could miss the commits that were received before its snapshot.
    if (isWatched || this.#pending.size > maxIdleTransactions) this.#wake();
  }

  /** Starts a cut as soon as the last one has ended and the window has passed. */
  #wake(delay = Math.max(0, this.#startedAt + this.#options.windowMs - performance.now())): void {
    this.#mustCut = true;
    if (this.#cutting !== null || this.#source.reader === null || this.#source.isClosed) return;
    clearTimeout(this.#timer);
    const start = (): void => {
      if (this.#cutting !== null || this.#source.reader === null || this.#source.isClosed) return;
      this.#cutting = this.#cut().finally(() => {
        this.#cutting = null;
        if (this.#mustCut) this.#wake();
        else this.#scheduleRenewal();
      });
    };
    if (delay === 0) start();
    else this.#timer = setTimeout(start, delay).unref();
  }

  #scheduleRenewal(): void {
    clearTimeout(this.#timer);
    if (this.#groups.size === 0) this.#dropCurrent();
    if (this.#groups.size === 0 && this.#watchers.isEmpty && this.#pending.isEmpty) return;
    this.#timer = setTimeout(() => this.#wake(0), renewalMs).unref();
  }

  async #cut(): Promise<void> {
    this.#mustCut = false;
    this.#startedAt = performance.now();
    removeEmptyGroups(this.#groups, performance.now() - this.#log.ageMs, (group) => this.#joins.has(group));
    this.#log.evict();
    const joining = this.#joins.begin();
    let cut: Cut | null = null;
    let hasTaken = false;
    try {
      cut = await this.#takeCut();
      hasTaken = true;
      const included = this.#pending.take(cut.visibility);
      const changes = collectChanges(included);
      this.#watchers.report(changes, cut);
      const previous = this.#current;
      if (previous !== null) await this.#deliver(changes, previous, cut);
      this.#current = cut;
      previous?.release();
      this.#counts.cuts++;
      if (this.#failedCuts > 0) this.#options.report({ unavailable: null });
      this.#failedCuts = 0;
      await this.#joins.complete(joining, cut);
    } catch (error) {
      if (this.#current !== cut) cut?.release();
      this.#joins.restore(joining);
      if (hasTaken) this.#restart('lookup-failed');
      this.#handleFailedCut(toError(error));
    }
  }

  async #takeCut(): Promise<Cut> {
    const slot = this.#source.reader?.slot ?? '';
    await this.#refreshTables();
    await this.#watchers.refresh();
    const subjects = await this.#definitions.listSubjects([...this.#groups.values()]);
    return takeCut(this.#source, { slot, subjects }, this.#options);
  }

  async #deliver(changes: CutChanges, previous: Cut, cut: Cut): Promise<void> {
    await deliverCut(
      { changes, previous, cut },
      {
        groups: [...this.#groups.values()],
        tables: this.#tables.byKey,
        context: this.#context,
        limiter: this.#limiter,
        slowLimiter: this.#slowLimiter,
        definitions: this.#definitions,
        onLookups: (count) => void (this.#counts.lookups += count),
        onDeliveries: (count) => void (this.#counts.deliveries += count),
        onRestart: (group, reason) => {
          if (reason === 'schema-changed') this.#tables.mark(group.table);
          this.#joins.addGap(group, reason);
          this.#wake();
        },
        onEnd: (group, reason) => this.#endGroup(group, reason),
      },
    );
  }

  /** The transactions of a failed cut are part of none: after a while, the groups learn that changes are missing. */
  #handleFailedCut(error: Error): void {
    this.#failedCuts++;
    const age = this.#current === null ? 0 : performance.now() - this.#current.takenAt;
    if (age > this.#options.maxAgeMs) this.#restart('connection-lost');
    if (this.#failedCuts === 1) this.#options.report({ unavailable: error });
    if (this.#failedCuts > 2) this.#joins.fail(unavailable(error));
    this.#mustCut = true;
    this.#startedAt = performance.now() + Math.min(1_000, 20 * 2 ** this.#failedCuts) - this.#options.windowMs;
  }

  #countGaps(reason: ChangeGapReason, receivers: number): void {
    this.#counts.gaps[reason] = (this.#counts.gaps[reason] ?? 0) + receivers;
  }
}
