import { editDistance } from '@pgway/core/internal';

/** Of more names, none is suggested: each is compared. */
const maxNames = 500;
/** Longer names are compared by their beginning. */
const maxLength = 100;

function normalize(name: string): string {
  return name.slice(0, maxLength).toLowerCase();
}

/**
 * Returns the most similar of the names; null without a similar one.
 * @param minScore the least part of the letters that are equal, from 0 to 1
 */
export function findSimilarName(name: string, names: readonly string[], minScore: number): string | null {
  if (names.length > maxNames) return null;
  const wanted = normalize(name);
  let similar: string | null = null;
  let best = minScore;
  for (const candidate of names) {
    const other = normalize(candidate);
    const length = Math.max(wanted.length, other.length);
    // The difference in length is the least distance.
    if (length === 0 || 1 - Math.abs(wanted.length - other.length) / length < best) continue;
    const score = 1 - editDistance(wanted, other) / length;
    if (score > best || (similar === null && score >= best)) [similar, best] = [candidate, score];
  }
  return similar;
}

/**
 * Returns the longest of the names that a name begins with, before an underscore, such as `sales` for the partition `sales_2024`; null without
 * one. It tells a caller no more than a request for that name would.
 */
export function findStem(name: string, names: readonly string[]): string | null {
  if (names.length > maxNames) return null;
  const stems = names.filter((candidate) => name.startsWith(`${candidate}_`));
  return stems.toSorted((a, b) => b.length - a.length)[0] ?? null;
}
