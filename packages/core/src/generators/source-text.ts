/**
 * Names and comments of a database as they may stand in source text: they stay data, whatever they hold.
 */

/** Controls, and characters that are not seen or that change the direction of text: they could show one thing and be another. */
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const invisible = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A string literal of JavaScript and of JSON, safe inside a `<script>` too. */
export function stringLiteral(text: string): string {
  return JSON.stringify(text)
    .replaceAll(invisible, escapeCharacter)
    .replaceAll(/<(?=[/!]|script)/gi, String.raw`\u003c`);
}

/** Text as lines, each without anything that is not seen; a tab is a space. */
export function escapeLines(text: string): readonly string[] {
  return text
    .replaceAll('\t', ' ')
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/)
    .map((line) => line.replaceAll(invisible, escapeCharacter).trimEnd());
}

/** Text of one line. */
export function escapeLine(text: string): string {
  return escapeLines(text).join(' ');
}

/** A name or value as a message shows it. */
export function quote(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return stringLiteral(short);
}

/** A time line is one that holds this. */
const time = '{0}';

/** Lines at the top of a file, `{0}` replaced by the time, and which of them have it. */
export function fileHeader(
  headerLines: readonly string[],
  at: Date,
): { readonly lines: readonly string[]; readonly timestampLines: readonly number[] } {
  const lines = headerLines.flatMap((line) => line.split('\n'));
  return {
    lines: lines.map((line) => line.replaceAll(time, at.toISOString())),
    timestampLines: lines.flatMap((line, index) => (line.includes(time) ? [index] : [])),
  };
}
