import type { Cut } from './cut.ts';
import type { GroupLookup, LookupContext, LookupPair } from './group-lookup.ts';
import { runLookups } from './lookup.ts';

/** Groups that read in transactions of their own until it is known whether they are quick. Beyond, all of them share transactions. */
const maxUnknown = 50;
/** Groups that share a transaction. */
const maxGroups = 50;
/** Keys of the groups that share a transaction, unless it has one group: connections read at the same time. */
const maxKeys = 2_000;
/** Milliseconds that groups wait for the others of their transaction. */
const bundleTimeoutMs = 1_000;

/** Groups whose lookups share a transaction for each snapshot. */
export interface LookupBundle {
  readonly pairs: readonly LookupPair[];
  /** Returns whether all lookups have succeeded in time. */
  run(previous: Cut, cut: Cut, context: LookupContext): Promise<boolean>;
}

/**
 * Shares transactions among groups with one role and the same settings: a transaction of its own costs a group more than the lookup of some
 * keys. Groups that are slow, and those whose functions may alter what the next group would read with, have transactions of their own.
 */
export function shareLookups(pairs: readonly LookupPair[]): {
  readonly single: readonly LookupPair[];
  readonly shared: readonly LookupBundle[];
} {
  const mayShareUnknown = pairs.length > maxUnknown;
  const single: LookupPair[] = [];
  const byShape = new Map<string, LookupPair[]>();
  for (const pair of pairs) {
    const { isQuick, request } = pair.group;
    const { query, identity } = request;
    if (query.altersTransaction || query.altersSession || !(isQuick || mayShareUnknown)) {
      single.push(pair);
      continue;
    }
    const shape = JSON.stringify([identity.role ?? null, identity.settings.map(([name]) => name)]);
    const known = byShape.get(shape);
    if (known === undefined) byShape.set(shape, [pair]);
    else known.push(pair);
  }
  const shared = [...byShape.values()].flatMap((all) => divide(all)).map(createBundle);
  return { single, shared };
}

function divide(pairs: readonly LookupPair[]): readonly (readonly LookupPair[])[] {
  const parts: LookupPair[][] = [];
  let keys = Number.POSITIVE_INFINITY;
  for (const pair of pairs) {
    keys += pair.selected.keys.length;
    const last = parts.at(-1);
    if (last !== undefined && keys <= maxKeys && last.length < maxGroups) last.push(pair);
    else {
      parts.push([pair]);
      keys = pair.selected.keys.length;
    }
  }
  return parts;
}

function createBundle(pairs: readonly LookupPair[]): LookupBundle {
  const lookupsOf = (side: 'before' | 'after'): readonly GroupLookup['lookup'][] =>
    pairs.flatMap((pair) => (pair[side] === null ? [] : [pair[side].lookup]));
  return {
    pairs,
    run: async (previous, cut, { runner, timeout }) => {
      const [before, after] = [lookupsOf('before'), lookupsOf('after')];
      const ms = Math.min(timeout, bundleTimeoutMs);
      const calls = [
        ...(before.length === 0 ? [] : [runLookups(runner, previous, before, ms)]),
        ...(after.length === 0 ? [] : [runLookups(runner, cut, after, ms)]),
      ];
      const ends = await Promise.allSettled(calls.map(({ done }) => done));
      return ends.every(({ status }) => status === 'fulfilled');
    },
  };
}
