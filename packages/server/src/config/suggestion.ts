import { nearestName } from '@pgway/core/internal';
import { settingOfForeignName } from './foreign-names.ts';

const lastPart = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('.') + 1).toLowerCase();

/**
 * Returns the candidate that `written` probably means, or null. A path in a known section gets a key of this section, or
 * the only candidate with the same last part: many sections have a key `enabled`. Elsewhere the last part of a path is
 * enough: `commentsMode` finds `gateway.commentsMode`. A name that another program has for a setting precedes all of them.
 */
export function closestName(written: string, candidates: readonly string[]): string | null {
  const foreign = settingOfForeignName(written);
  if (foreign !== null && candidates.includes(foreign)) return foreign;
  const parent = parentOf(written);
  const siblings = parent === '' ? [] : candidates.filter((candidate) => parentOf(candidate) === parent);
  if (siblings.length > 0) {
    const sameName = candidates.filter((candidate) => lastPart(candidate) === lastPart(written));
    return nearestName(written, siblings) ?? (sameName.length === 1 ? sameName[0]! : null);
  }
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
