/** The text of a comment in Markdown, and back. Every text of PostgreSQL survives. */
import { escapeControlCharacters } from '@pgway/core/terminal';
import { escapeMarkdown } from './markdown.ts';

/** The start of anything that the reader of the file takes for a marker. */
export const markerStart: RegExp = /<!--\s*\/?pgscout\b/g;

/**
 * Returns the lines of a comment between its markers: a paragraph for a plain line, otherwise a block of code, which has the text as it
 * is. Texts that a block cannot have, such as control characters, are escaped.
 */
export function blockText(comment: string): string {
  if (isPlainLine(comment)) return comment;
  const isExact = comment.split(/[\n\t]/).every((part) => escapeControlCharacters(part) === part);
  if (!isExact || comment.search(markerStart) !== -1) return cellText(comment);
  const longest = Math.max(2, ...(comment.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${comment}\n${fence}`;
}

/** Whether the text means itself in Markdown. A line that starts with a letter is not a list, heading or quotation. */
function isPlainLine(text: string): boolean {
  return /^[\p{L}].*(?<![ \t])$/u.test(text) && cellText(text) === text;
}

/** Returns a comment as one line, in the cell of a table. Formatters join spaces that are not entities. */
export function cellText(comment: string): string {
  return Array.from(escapeMarkdown(comment), (character) =>
    character === '\n' ? '<br>' : escapeControlCharacters(character) === character ? character : entity(character),
  )
    .join('')
    .replace(/^ | $|(?<= ) /g, entity);
}

function entity(character: string): string {
  return `&#x${character.codePointAt(0)!.toString(16)};`;
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };
const escape = /\\([!-/:-@[-`{-~])|<br\s*\/?>|&(amp|lt|gt|quot|apos|nbsp);|&#(\d{1,7}|x[\da-f]{1,6});/gi;
const maxCodePoint = 0x10ffff;

/** Reads a line of {@link cellText}, or a paragraph that was edited. Spaces around it do not count. */
export function decodeText(text: string): string {
  return text
    .replace(/^[ \t\n]+|[ \t\n]+$/g, '')
    .replace(escape, (match, punctuation: string | undefined, name: string | undefined, code: string | undefined) => {
      if (punctuation !== undefined) return punctuation;
      if (name !== undefined) return named[name.toLowerCase()]!;
      if (code === undefined) return '\n';
      const point = Number(/^x/i.test(code) ? `0${code}` : code);
      return point > maxCodePoint ? match : String.fromCodePoint(point);
    });
}
