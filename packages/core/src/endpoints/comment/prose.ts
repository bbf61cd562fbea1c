/** Words that stand in sentences and hardly ever among the arguments of an annotation. */
const sentenceWords: ReadonlySet<string> = new Set(
  (
    'a an the of to for is are was were be been by and or in on at with without from into as if not no when while then this ' +
    'that these those it its which who whose can may must will should would has have only each every but than so because'
  ).split(' '),
);

/** True when the words of a line read like a sentence. It only ever words a message or softens a guess; it decides no effect. */
export function looksLikeProse(words: readonly string[]): boolean {
  if (words.length < 2) return false;
  // A mark that stands alone ends no sentence: it is the argument of `separator ;`.
  const last = words.at(-1) ?? '';
  if (/[.!?:;]/.test(last.slice(-1)) && /[\p{L}\p{N}]/u.test(last)) return true;
  return words.length > 2 && words.slice(1).some((word) => sentenceWords.has(word.toLowerCase()));
}
