/** Text in terminal columns: measured, truncated, padded, wrapped. */
import truncatedWidth from 'fast-string-truncated-width';

/** Of printable ASCII, each character has one column. */
const isAscii = (text: string): boolean => /^[\u0020-\u007e]*$/.test(text);

/** Returns the number of terminal columns of the text. */
export function displayWidth(text: string): number {
  return isAscii(text) ? text.length : truncatedWidth(text).width;
}

/** Cuts the text to the number of columns and marks the cut with `…`. */
export function truncate(text: string, columns: number): string {
  if (isAscii(text) && text.length <= columns) return text;
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
