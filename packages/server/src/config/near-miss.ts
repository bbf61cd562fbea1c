/** The distance of Damerau and Levenshtein, with neighbours swapped counting once. */
function distance(left: string, right: string): number {
  let before: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let best = Math.min(above[column]! + 1, current[column - 1]! + 1, above[column - 1]! + (same ? 0 : 1));
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) best = Math.min(best, before[column - 2]! + 1);
      current.push(best);
    }
    before = above;
    above = current;
  }
  return above[right.length]!;
}

const plain = (text: string): string => text.toLowerCase().replace(/[-_]/g, '');
const lastPart = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

/**
 * The candidate that was probably meant, or null. A candidate with dots is also found by its last part, so that
 * `commentsMode` finds `gateway.commentsMode`.
 */
export function nearMiss(written: string, candidates: readonly string[]): string | null {
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const whole = distance(plain(written), plain(candidate));
    const part = distance(plain(lastPart(written)), plain(lastPart(candidate))) + 0.5;
    const far = Math.min(whole, part);
    if (far < least) [best, least] = [candidate, far];
  }
  const allowed = Math.max(1, Math.min(3, Math.floor(plain(lastPart(written)).length / 3)));
  return least < allowed + 1 ? best : null;
}

/** `; did you mean x?` or nothing. */
export function suggestion(written: string, candidates: readonly string[]): string {
  const meant = nearMiss(written, candidates);
  return meant === null ? '' : `; did you mean ${meant}?`;
}
