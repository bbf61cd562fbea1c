import type { Cut } from './cut.ts';
import type { GroupLookup, LookupContext, LookupPair } from './group-lookup.ts';
import { runLookups } from './lookup.ts';

/** Groups that read in transactions of their own. Beyond, a transaction for several of them costs less. */
const maxSingle = 50;
/** Groups that share a transaction. */
const bundleSize = 50;

/** Groups whose lookups share a transaction for each snapshot. */
export interface LookupBundle {
  readonly pairs: readonly LookupPair[];
  /** Returns whether all lookups have succeeded. */
  run(previous: Cut, cut: Cut, context: LookupContext): Promise<boolean>;
}

/** Shares transactions among groups with one role and the same settings, unless functions may alter what the next group would read with. */
export function shareLookups(pairs: readonly LookupPair[]): {
  readonly single: readonly LookupPair[];
  readonly shared: readonly LookupBundle[];
} {
  if (pairs.length <= maxSingle) return { single: pairs, shared: [] };
  const single: LookupPair[] = [];
  const byShape = new Map<string, LookupPair[]>();
  for (const pair of pairs) {
    const { query, identity } = pair.group.request;
    if (query.altersTransaction || query.altersSession) {
      single.push(pair);
      continue;
    }
    const shape = JSON.stringify([identity.role ?? null, identity.settings.map(([name]) => name)]);
    const known = byShape.get(shape);
    if (known === undefined) byShape.set(shape, [pair]);
    else known.push(pair);
  }
  const shared = [...byShape.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / bundleSize) }, (_, index) =>
      createBundle(all.slice(index * bundleSize, (index + 1) * bundleSize)),
    ),
  );
  return { single, shared };
}

function createBundle(pairs: readonly LookupPair[]): LookupBundle {
  const lookupsOf = (side: 'before' | 'after'): readonly GroupLookup['lookup'][] =>
    pairs.flatMap((pair) => (pair[side] === null ? [] : [pair[side].lookup]));
  return {
    pairs,
    run: async (previous, cut, { runner, timeout }) => {
      const [before, after] = [lookupsOf('before'), lookupsOf('after')];
      const calls = [
        ...(before.length === 0 ? [] : [runLookups(runner, previous, before, timeout)]),
        ...(after.length === 0 ? [] : [runLookups(runner, cut, after, timeout)]),
      ];
      const ends = await Promise.allSettled(calls.map(({ done }) => done));
      return ends.every(({ status }) => status === 'fulfilled');
    },
  };
}
