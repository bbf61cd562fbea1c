/** Normalizes names: `OnlyWithHttpTag`, `only_with_http_tag` and `onlyWithHttpTag` are equal. */
function normalize(text: string): string {
  return text.toLowerCase().replace(/[-_ ]/g, '');
}

/** Returns the most similar candidate, or null when all of them differ in more than a third of their letters. */
export function nearestName(name: string, candidates: readonly string[]): string | null {
  const normalized = normalize(name);
  const maxDistance = Math.max(1, Math.min(3, Math.floor(normalized.length / 3)));
  let nearest: string | null = null;
  let least = maxDistance + 0.75;
  for (const candidate of candidates) {
    const letters = normalize(candidate);
    // The distance is at least that of the lengths.
    if (Math.abs(letters.length - normalized.length) > maxDistance + 1) continue;
    // Of two candidates at one distance, the one with a letter more is likelier than the one with another letter.
    const distance = editDistance(normalized, letters) - (hasAllLetters(letters, normalized) ? 0.5 : 0);
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}

/** Whether the letters of a candidate contain those of the name, in their order. */
function hasAllLetters(letters: string, name: string): boolean {
  let found = 0;
  for (const letter of letters) if (letter === name[found]) found++;
  return found === name.length;
}

/**
 * Returns the Damerau–Levenshtein distance (optimal string alignment). Own code: the maintained libraries count a swap of
 * neighbours twice, and `authroize` must not pass for prose.
 */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last: number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      next[column] = Math.min(
        at(last, column) + 1,
        at(next, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = next;
  }
  return at(last, to.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;
