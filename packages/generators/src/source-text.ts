/** Escapes names and comments of the database for source text. */

/** Control, zero-width and bidirectional characters, which can make text look like other text (CVE-2021-42574). */
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const invisible = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Returns a string literal of JavaScript and JSON, safe inside `<script>`. */
export function stringLiteral(text: string): string {
  return JSON.stringify(text)
    .replaceAll(invisible, escapeCharacter)
    .replaceAll(/<(?=[/!]|script)/gi, String.raw`\u003c`);
}

/** Splits text into lines and escapes invisible characters; a tab becomes a space. */
export function escapeLines(text: string): readonly string[] {
  return text
    .replaceAll('\t', ' ')
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/)
    .map((line) => line.replaceAll(invisible, escapeCharacter).trimEnd());
}

/** Joins the lines of text with spaces, escaped. */
export function escapeLine(text: string): string {
  return escapeLines(text).join(' ');
}

/** Quotes a name or value for messages, at most 80 characters of it. */
export function quote(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return stringLiteral(short);
}

const timePlaceholder = '{0}';

/** Returns the header lines with the time in place of `{0}`, and the indexes of the lines that contain it. */
export function fileHeader(
  headerLines: readonly string[],
  now: Date,
): { readonly lines: readonly string[]; readonly timestampLines: readonly number[] } {
  const lines = headerLines.flatMap((line) => line.split('\n'));
  return {
    lines: lines.map((line) => line.replaceAll(timePlaceholder, now.toISOString())),
    timestampLines: lines.flatMap((line, index) => (line.includes(timePlaceholder) ? [index] : [])),
  };
}
