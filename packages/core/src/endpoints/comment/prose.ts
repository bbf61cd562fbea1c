/** Words that are frequent in sentences and rare as arguments of annotations. */
const sentenceWords: ReadonlySet<string> = new Set(
  (
    'a an the of to for is are was were be been by and or in on at with without from into as if not no when while then this ' +
    'that these those it its which who whose can may must will should would has have only each every but than so because'
  ).split(' '),
);

/** Returns whether the words read like a sentence. Affects messages and suggestions only, never the effect of a line. */
export function looksLikeProse(words: readonly string[]): boolean {
  if (words.length < 2) return false;
  // A lone punctuation mark is the argument of `separator ;`.
  const last = words.at(-1) ?? '';
  if (/[.!?:;]/.test(last.slice(-1)) && /[\p{L}\p{N}]/u.test(last)) return true;
  return words.length > 2 && words.slice(1).some((word) => sentenceWords.has(word.toLowerCase()));
}
