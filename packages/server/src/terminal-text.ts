/** Text for terminals: escaped, measured, truncated, wrapped. */
import truncatedWidth from 'fast-string-truncated-width';

// Control characters, bidirectional formatting, line separators.
// eslint-disable-next-line no-control-regex
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Replaces control characters by `\u001b`, so that names, comments and messages cannot send escape sequences to the terminal. */
export function escapeControlCharacters(text: string): string {
  return text.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns the number of terminal columns of the text. */
export function displayWidth(text: string): number {
  return truncatedWidth(text).width;
}

/** Cuts the text to the number of columns and marks the cut with `…`. */
export function truncate(text: string, columns: number): string {
  const { index, ellipsed } = truncatedWidth(text, { limit: columns, ellipsis: '…' });
  return text.slice(0, index) + (ellipsed ? '…' : '');
}

export function padToWidth(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}

/** Wraps text at spaces. */
export function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
