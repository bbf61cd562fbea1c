/** Texts of the database in Markdown: whatever they contain, they are shown and mean nothing. */
import { escapeControlCharacters } from '@pgway/core/terminal';

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Escapes what Markdown, its tables and HTML interpret in the middle of a line. An underscore between letters is not emphasis.
 * A dollar would begin a formula on GitHub.
 */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[&<>]/g, (character) => entities[character]!)
    .replace(/[\\`*[\]|~$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, (character) => `\\${character}`);
}

/** Returns a name, type or expression as code. Control characters are shown as `\u001b`. */
export function code(text: string): string {
  const visible = escapeControlCharacters(text);
  // A comment in a span of code is none for Markdown, but would be a marker for the reader of the file.
  const isSpan = /^[^\s`|](?:[^`|]*[^\s`|])?$/.test(visible) && !visible.includes('<!');
  return isSpan ? `\`${visible}\`` : `<code>${escapeMarkdown(visible)}</code>`;
}

/** Returns a table with a column for each title. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  return [line(titles), `|${titles.map(() => '---').join('|')}|\n`, ...rows.map(line)].join('');
}
