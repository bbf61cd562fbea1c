import { nearestName } from '@pgway/core';

const lastPart = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

/**
 * Returns the candidate that `written` probably means, or null. The last part of a path is enough: `commentsMode` finds
 * `gateway.commentsMode`.
 */
export function closestName(written: string, candidates: readonly string[]): string | null {
  const whole = nearestName(written, candidates);
  if (whole !== null) return whole;
  const part = nearestName(lastPart(written), candidates.map(lastPart));
  return candidates.find((candidate) => lastPart(candidate) === part) ?? null;
}

/** Returns `; did you mean x?`, or nothing. */
export function didYouMean(written: string, candidates: readonly string[]): string {
  const name = closestName(written, candidates);
  return name === null ? '' : `; did you mean ${name}?`;
}
