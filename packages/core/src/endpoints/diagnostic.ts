/** What an author of comments, or a host, should know; found at start, never at a request. */
export interface Diagnostic {
  /** An error stops its endpoint; a warning does not. */
  readonly severity: 'error' | 'warning' | 'info';
  /** Stable, kebab-case: `near-miss`, `duplicate-route`. */
  readonly code: string;
  /** The signature of the routine. */
  readonly routine: string;
  /** The line of the comment, from 1; null when it is not about one line. */
  readonly line: number | null;
  /** Names the culprit and says what to do. */
  readonly message: string;
}

/** Control characters, and those that change the direction of text: a terminal would obey them. */
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const unsafe = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

const mostCharacters = 80;

/** Text without anything that a terminal obeys: such characters are written as escapes. */
export function escapeControlCharacters(text: string): string {
  return text.replaceAll(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Text of a comment as a message may show it: in double quotes, short, and without anything that a terminal obeys. */
export function display(text: string): string {
  const short = text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
  return `"${escapeControlCharacters(short)}"`;
}
