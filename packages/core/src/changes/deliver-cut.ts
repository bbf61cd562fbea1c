import type { ChangeEnd, ChangeGapReason, ChangeMessage } from '../ports/changes.ts';
import type { ChangeGroup } from './change-group.ts';
import { formatChangeId, numberAfter } from './change-id.ts';
import type { Cut } from './cut.ts';
import { CutKeys } from './cut-keys.ts';
import { areSame, haveSameDefinition, type LookupSubject } from './definitions.ts';
import type { UnnumberedChange } from './differences.ts';
import type { GroupDefinitions } from './group-definitions.ts';
import {
  createLookupPair,
  type LookupContext,
  type LookupPair,
  type LookupResult,
  runPair,
  type RunningPair,
  toFailure,
  toResult,
} from './group-lookup.ts';
import type { CutChanges, TableChanges } from './key-changes.ts';
import type { Limiter } from './limiter.ts';
import { shareLookups } from './shared-lookups.ts';
import type { WatchedTable } from './watched-table.ts';

/** The changes between two cuts. */
export interface CutInterval {
  readonly changes: CutChanges;
  readonly previous: Cut;
  readonly cut: Cut;
}

export interface DeliveryOptions {
  readonly groups: readonly ChangeGroup[];
  readonly tables: ReadonlyMap<string, WatchedTable>;
  readonly context: LookupContext;
  readonly limiter: Limiter;
  /** Limits the groups that are known as slow within the other limiter: quick ones do not wait for all of them. */
  readonly slowLimiter: Limiter;
  readonly definitions: GroupDefinitions;
  onLookups(count: number): void;
  onDeliveries(count: number): void;
  /** The group begins again at the next cut, and its subscribers get a gap. */
  onRestart(group: ChangeGroup, reason: ChangeGapReason): void;
  onEnd(group: ChangeGroup, reason: ChangeEnd & ('forbidden' | 'schema-changed')): void;
}

/** Milliseconds that a cut waits for a slow group. It goes on alone, and misses the cuts until its end. */
const graceMs = 500;

/** Looks up what has changed for each group, and sends it. Resolves when both cuts are not needed any more. */
export async function deliverCut(interval: CutInterval, options: DeliveryOptions): Promise<void> {
  const pairs = selectPairs(interval, options);
  if (pairs.length === 0) return;
  options.onLookups(pairs.length);
  const { context, limiter, slowLimiter } = options;
  const { previous, cut } = interval;
  const imports: Promise<void>[] = [];
  const begin = async (pair: LookupPair): Promise<RunningPair | null> => {
    const { cost } = pair.group;
    const waitsSince = performance.now();
    const leave = await (cost.isSlow ? slowLimiter : limiter).enter();
    if (cost.isSlow && performance.now() - waitsSince > context.timeout) {
      leave();
      return null;
    }
    const running = runPair(pair, previous, cut, context);
    void running.result.then((result) => {
      leave();
      recordCost(pair.group, result, running.ms());
    });
    return running;
  };
  const alone = async (pair: LookupPair): Promise<void> => {
    const started = begin(pair);
    imports.push(started.then((running) => running?.imported));
    const running = await started;
    // The cut waits for the lookups that have not begun: those of too many slow groups would stop all streams.
    const result = running === null ? late : await running.result;
    return complete(pair, result, interval, options);
  };
  const { single, shared } = shareLookups(pairs);
  const repeated: Promise<void>[] = [];
  // They are first in the line of the limiter: many groups wait for them.
  const bundles = shared.map(async (bundle) => {
    const leave = await limiter.enter();
    const hasSucceeded = await bundle.run(previous, cut, context).finally(leave);
    if (hasSucceeded) await Promise.all(bundle.pairs.map((pair) => complete(pair, toResult(pair), interval, options)));
    else repeated.push(...bundle.pairs.map((pair) => alone(again(pair, context))));
  });
  const results = single.map(alone);
  await Promise.all([within(graceMs, Promise.all(results)), ...bundles]);
  await within(graceMs, Promise.all(repeated));
  await Promise.all(imports);
}

const late: LookupResult = { kind: 'gap', reason: 'lookup-timeout' };

/** @param ms null: the lookups have failed */
function recordCost({ cost }: ChangeGroup, result: LookupResult, ms: number | null): void {
  if (ms !== null) cost.measured(ms);
  else if (result.kind === 'gap' && result.reason === 'lookup-timeout') cost.timedOut();
  if (result.kind !== 'changes') cost.failed();
}

/** The rows of an attempt that has failed are incomplete. */
function again({ group, selected, after }: LookupPair, context: LookupContext): LookupPair {
  return createLookupPair(group, selected, after !== null, context);
}

function selectPairs(interval: CutInterval, options: DeliveryOptions): readonly LookupPair[] {
  const { changes } = interval;
  const pairs: LookupPair[] = [];
  const keysOfTables = new Map<string, CutKeys>();
  for (const group of options.groups) {
    if (!group.isActive) continue;
    const table = changes.get(group.table);
    const watched = options.tables.get(group.table);
    const reason = isRedefined(options.definitions.subjectOf(group), table, interval)
      ? 'schema-changed'
      : findGap(group, changes);
    if (reason !== null) {
      restart(group, reason, options);
      continue;
    }
    if (table === undefined) continue;
    if (watched === undefined) {
      restart(group, 'schema-changed', options);
      continue;
    }
    let keys = keysOfTables.get(group.table);
    if (keys === undefined) keysOfTables.set(group.table, (keys = new CutKeys(table, watched)));
    const { query, route } = group.request;
    const selected = keys.select(query.keyColumns, route);
    if (selected === null) options.onEnd(group, 'schema-changed');
    else if (selected.keys.length > 0 || table.truncated !== null) {
      if (group.isBusy) group.missed = 'lookup-timeout';
      else pairs.push(createPair(group, selected, table.truncated !== null, options.context));
    }
  }
  return pairs;
}

function createPair(...input: Parameters<typeof createLookupPair>): LookupPair {
  const pair = createLookupPair(...input);
  pair.group.isBusy = true;
  return pair;
}

/**
 * Earlier snapshots see no rows of a table that was rewritten, as by a new type of a column, and the log lacks changes of a table that was not
 * published. Truncations have events of their own. Rows that another policy shows or hides have not changed. A table that has replaced the one
 * of the earlier cut is not part of that cut.
 */
function isRedefined(
  subject: LookupSubject | null,
  table: TableChanges | undefined,
  { previous, cut }: CutInterval,
): boolean {
  if (subject === null) return false;
  const isTruncated = table !== undefined && table.truncated !== null;
  return !(isTruncated ? haveSameDefinition : areSame)(previous.definitions, cut.definitions, subject);
}

function findGap(group: ChangeGroup, changes: CutChanges): ChangeGapReason | null {
  const table = changes.get(group.table);
  if (table?.isRedefined === true) return 'schema-changed';
  if (table?.tooMany === true) return 'too-many-changes';
  for (const related of group.gapOn) if (changes.has(related)) return 'related-change';
  return null;
}

function restart(group: ChangeGroup, reason: ChangeGapReason, options: DeliveryOptions): void {
  if (group.isBusy) group.missed = reason;
  else options.onRestart(group, reason);
}

/** Sends rows only if they were read under the definitions that both snapshots show: other ones may have been committed meanwhile. */
async function complete(
  pair: LookupPair,
  result: LookupResult,
  interval: CutInterval,
  options: DeliveryOptions,
): Promise<void> {
  if (result.kind !== 'changes' || result.changes.length === 0) return finish(pair, result, interval, options);
  const checked = await options.definitions
    .areCurrent(pair.group, interval.cut.definitions)
    .then((areCurrent): LookupResult => (areCurrent ? result : { kind: 'gap', reason: 'schema-changed' }), toFailure);
  finish(pair, checked, interval, options);
}

function finish(pair: LookupPair, result: LookupResult, interval: CutInterval, options: DeliveryOptions): void {
  const { group } = pair;
  const { missed } = group;
  group.isBusy = false;
  group.missed = null;
  if (group.isEnded) return;
  if (result.kind === 'end') return options.onEnd(group, result.reason);
  if (result.kind === 'gap') return options.onRestart(group, result.reason);
  const truncated = interval.changes.get(group.table)?.truncated ?? null;
  const changes = truncated === null ? result.changes : [truncation(truncated), ...result.changes];
  const message = numberChanges(group, changes, interval.cut);
  if (message !== null) options.onDeliveries(group.publish(message) * changes.length);
  if (missed !== null) options.onRestart(group, missed);
}

function truncation(commitTimestamp: string): UnnumberedChange {
  return { operation: 'truncate', commitTimestamp, record: null, old: null };
}

function numberChanges(
  group: ChangeGroup,
  changes: readonly UnnumberedChange[],
  { position }: Cut,
): ChangeMessage | null {
  if (changes.length === 0) return null;
  const first = numberAfter(group.lastId, position);
  const numbered = changes.map((change, index) => ({
    id: formatChangeId(position, first + index, group.source),
    ...change,
  }));
  return { kind: 'changes', id: numbered.at(-1)!.id, changes: numbered };
}

async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
