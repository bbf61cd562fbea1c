import type { Cut } from './cut.ts';
import type { LookupContext, LookupPair } from './group-lookup.ts';
import { CallTimeout, DatabaseError, queryCanceled } from '../postgres/port.ts';
import { findFailed, type Lookup, runLookups } from './lookup.ts';

/** Groups that read in transactions of their own until their cost is known. Beyond, those of unknown cost share transactions, too. */
const maxUnknown = 50;
/** Groups that share a transaction. */
const maxGroups = 50;
/** Keys of the groups that share a transaction, unless it has one group: connections read at the same time. */
const maxKeys = 2_000;
/** Milliseconds that the lookups of a transaction are expected to take. */
const maxMs = 150;
/** Those of a lookup of unknown cost. */
const unknownMs = 10;
/** Milliseconds that groups wait for the others of their transaction. */
const bundleTimeoutMs = 1_000;

/** Groups whose lookups share a transaction for each snapshot. */
export interface LookupBundle {
  readonly pairs: readonly LookupPair[];
  /** Returns whether all lookups have succeeded in time. What they took, or which ones have failed, becomes part of the cost of their groups. */
  run(previous: Cut, cut: Cut, context: LookupContext): Promise<boolean>;
}

/**
 * Shares transactions among groups with one role and the same settings: a transaction of its own costs a group more than the lookup of some
 * keys. Groups that are slow or have failed, and those whose functions may alter what the next group would read with, have transactions of
 * their own.
 */
export function shareLookups(pairs: readonly LookupPair[]): {
  readonly single: readonly LookupPair[];
  readonly shared: readonly LookupBundle[];
} {
  const mayShareUnknown = pairs.length > maxUnknown;
  const single: LookupPair[] = [];
  const byShape = new Map<string, LookupPair[]>();
  for (const pair of pairs) {
    const { cost, request } = pair.group;
    const { query, identity } = request;
    if (query.altersTransaction || query.altersSession || !cost.mayShare(mayShareUnknown)) {
      single.push(pair);
      continue;
    }
    const shape = JSON.stringify([identity.role ?? null, identity.settings.map(([name]) => name)]);
    const known = byShape.get(shape);
    if (known === undefined) byShape.set(shape, [pair]);
    else known.push(pair);
  }
  const shared: LookupBundle[] = [];
  for (const part of [...byShape.values()].flatMap((all) => divide(all)))
    if (part.length === 1) single.push(...part);
    else shared.push(createBundle(part));
  return { single, shared };
}

function divide(pairs: readonly LookupPair[]): readonly (readonly LookupPair[])[] {
  const parts: LookupPair[][] = [];
  let [keys, ms] = [0, 0];
  for (const pair of pairs) {
    const [ownKeys, ownMs] = [pair.selected.keys.length, pair.group.cost.ms ?? unknownMs];
    keys += ownKeys;
    ms += ownMs;
    const last = parts.at(-1);
    if (last !== undefined && keys <= maxKeys && ms <= maxMs && last.length < maxGroups) last.push(pair);
    else {
      parts.push([pair]);
      [keys, ms] = [ownKeys, ownMs];
    }
  }
  return parts;
}

/** The lookups of a transaction, and the pairs that they are of. */
interface Side {
  readonly lookups: readonly Lookup[];
  readonly pairs: readonly LookupPair[];
}

function createBundle(pairs: readonly LookupPair[]): LookupBundle {
  const sideOf = (side: 'before' | 'after'): Side => {
    const own = pairs.filter((pair) => pair[side] !== null);
    return { pairs: own, lookups: own.map((pair) => pair[side]!.lookup) };
  };
  return {
    pairs,
    run: async (previous, cut, { database, timeout }) => {
      const ms = Math.min(timeout, bundleTimeoutMs);
      const run = async (side: Side, snapshot: Cut): Promise<number | null> => {
        if (side.pairs.length === 0) return 0;
        return runLookups(database, snapshot, side.lookups, ms).done.catch((error: unknown) => {
          markFailed(error, side);
          return null;
        });
      };
      const [before, after] = await Promise.all([run(sideOf('before'), previous), run(sideOf('after'), cut)]);
      if (before === null || after === null) return false;
      for (const { group } of pairs) group.cost.measured(Math.max(before, after) / pairs.length);
      return true;
    },
  };
}

/** A transaction that does not end in time does not show which of its lookups is slow. */
function markFailed(error: unknown, { lookups, pairs }: Side): void {
  const isLate =
    error instanceof CallTimeout || (error instanceof DatabaseError && error.diagnostics.code === queryCanceled);
  const index = findFailed(error, lookups);
  const marked = isLate ? pairs : index === null ? [] : pairs.slice(index, index + 1);
  for (const { group } of marked) group.cost.failed();
}
