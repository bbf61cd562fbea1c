/** Characters without a shape, some of which change the order of others: controls, formats, line separators. */
const invisible = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Writes invisible characters as `\u{202e}`, so that a name cannot pretend to be another one. */
export function visibleText(text: string): string {
  return text.replaceAll(invisible, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** Returns a size in bytes, kB or MB. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export function durationText(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(2)} s`;
}
