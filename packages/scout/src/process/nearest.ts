import { nearestName } from '@pgway/core/suggestion';

/** Returns `; did you mean …?` for the most similar candidate, or an empty text. */
export function nearest(
  name: string,
  candidates: readonly string[],
  format: (candidate: string) => string = (candidate) => candidate,
): string {
  const near = nearestName(name, candidates);
  return near === null ? '' : `; did you mean ${format(near)}?`;
}
