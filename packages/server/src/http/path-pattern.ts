/** Patterns of URL paths. */

/** Returns whether one of the patterns matches a decoded path such as `/docs/a.html`. */
export type PathTest = (path: string) => boolean;

/**
 * Creates the test of one pattern: `/docs/` is that path and all below it, `*` stands for any text. Letters are compared without regard to
 * case and composition, because file systems may find a file by another spelling.
 */
export function pathTest(pattern: string): PathTest {
  const parts = normalize(pattern).split('*');
  if (parts.length > 1) return (path) => matchesParts(normalize(path), parts);
  const base = parts[0]!.replace(/\/$/, '');
  return (path) => {
    const normalized = normalize(path);
    return normalized === base || normalized.startsWith(`${base}/`);
  };
}

export function anyPathTest(patterns: readonly string[]): PathTest {
  const tests = patterns.map(pathTest);
  return (path) => tests.some((matches) => matches(path));
}

/** Decomposition and upper case depend on no neighbours: the beginning of a path stays the beginning. */
function normalize(text: string): string {
  return text.normalize('NFKD').toUpperCase().normalize('NFKD');
}

/** Finds each part behind the one before; the first position is always good enough, so nothing is tried twice. */
function matchesParts(path: string, parts: readonly string[]): boolean {
  const first = parts[0]!;
  const last = parts.at(-1)!;
  const end = path.length - last.length;
  if (first.length > end || !path.startsWith(first) || !path.endsWith(last)) return false;
  let position = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = path.indexOf(part, position);
    if (found === -1 || found + part.length > end) return false;
    position = found + part.length;
  }
  return true;
}
