/** The result of a comparison: the faster mode, or that no difference was found. */
export type Verdict = 'auto' | 'generic' | 'undecided';

/**
 * Numbers of times for each mode, and the ratio of the generic plan's times to the others up to which, or from which on, so many are enough.
 * Calls have different arguments: a small difference needs more of them.
 */
const stages: readonly { readonly count: number; readonly generic: number; readonly auto: number }[] = [
  { count: 10, generic: 0.5, auto: 1.2 },
  { count: 20, generic: 0.7, auto: 1 },
  { count: 40, generic: 0.85, auto: 0.85 },
];

/** One of so many times is left out, the slowest ones: other work of the server may have delayed them. */
const leftOut = 10;

/**
 * Compares times with custom or automatic plans to times with a generic plan, in milliseconds.
 * @returns null when there are not enough of them
 */
export function comparePlans(auto: readonly number[], generic: readonly number[]): Verdict | null {
  const count = Math.min(auto.length, generic.length);
  const stage = stages.findLast((candidate) => candidate.count <= count);
  if (stage === undefined) return null;
  const [before, after] = [summarize(auto), summarize(generic)];
  // The mean alone may be that of a few long calls, which only one of the modes has got.
  const ratio = Math.max(after.mean / before.mean, after.median / before.median);
  if (ratio <= stage.generic) return 'generic';
  return ratio >= stage.auto ? 'auto' : null;
}

/** Returns mean and median of times, the mean without the slowest ones. */
export function summarize(times: readonly number[]): { readonly mean: number; readonly median: number } {
  const sorted = times.toSorted((left, right) => left - right);
  const kept = sorted.slice(0, sorted.length - Math.floor(sorted.length / leftOut));
  return { mean: kept.reduce((sum, time) => sum + time, 0) / kept.length, median: sorted[sorted.length >> 1]! };
}
