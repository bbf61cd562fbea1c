/** Text for terminals: safe, measured, cut to a width. */

// Controls, and characters that turn the direction of what follows or break lines.
// eslint-disable-next-line no-control-regex
const dangerous = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Writes control characters as `\u001b`, so that names, comments and messages cannot steer the terminal. */
export function neutralise(text: string): string {
  return text.replace(dangerous, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const wide =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/u;
const without = /\p{Mn}|\p{Me}|[\u200b-\u200d]/u;

function cells(character: string): number {
  if (without.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** How many columns the text takes. */
export function width(text: string): number {
  let sum = 0;
  for (const character of text) sum += cells(character);
  return sum;
}

/** The text in at most so many columns, with `…` where it was cut. */
export function fit(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let kept = '';
  let used = 0;
  for (const character of text) {
    if (used + cells(character) > columns - 1) break;
    kept += character;
    used += cells(character);
  }
  return columns < 1 ? '' : `${kept}…`;
}

export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - width(text)));
}

/** Breaks prose at spaces. */
export function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && width(line) + 1 + width(word) > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
