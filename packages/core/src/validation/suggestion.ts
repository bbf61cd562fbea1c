import { editDistance } from './edit-distance.ts';

/** The form in which `OnlyWithHttpTag`, `only_with_http_tag` and `onlyWithHttpTag` are the same. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[-_ ]/g, '');
}

/** Returns the candidate that is most like `written`, or null when all of them differ in more than a third of their letters. */
export function nearestName(written: string, candidates: readonly string[]): string | null {
  const wanted = plain(written);
  const most = Math.max(1, Math.min(3, Math.floor(wanted.length / 3)));
  let nearest: string | null = null;
  let least = most + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, plain(candidate));
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}
