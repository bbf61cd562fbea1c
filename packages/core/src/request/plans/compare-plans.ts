/** The result of a comparison: the faster mode, or that no difference was found. */
export type Verdict = 'auto' | 'generic' | 'undecided';

/** Times of each mode before a decision. */
const minTimes = 10;
/** The fewer times there are, the larger the difference must be: this number divided by theirs. Calls have different arguments. */
const marginOfTimes = 5;
/** A generic plan that saves less than this share of the time is not worth a change, and ends the comparison. */
const minSaving = 0.15;
/**
 * Compares times with custom or automatic plans to times with a generic plan, in milliseconds.
 * @returns null when there are not enough of them
 */
export function comparePlans(auto: readonly number[], generic: readonly number[]): Verdict | null {
  const count = Math.min(auto.length, generic.length);
  if (count < minTimes) return null;
  const [before, after] = [summarize(auto), summarize(generic)];
  // The mean alone may be that of a few long calls, which only one of the modes has got.
  const ratio = Math.max(after.mean / before.mean, after.median / before.median);
  const margin = marginOfTimes / count;
  if (ratio <= 1 - Math.max(margin, minSaving)) return 'generic';
  return ratio >= 1 + margin || margin <= minSaving ? 'auto' : null;
}

function summarize(times: readonly number[]): { readonly mean: number; readonly median: number } {
  const sorted = times.toSorted((left, right) => left - right);
  return { mean: times.reduce((sum, time) => sum + time, 0) / times.length, median: sorted[sorted.length >> 1]! };
}
