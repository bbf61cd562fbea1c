/** A problem or notice about a comment or the configuration, found at start. */
export interface Diagnostic {
  /** An endpoint with an error is not published. */
  readonly severity: 'error' | 'warning' | 'info';
  /** Stable, kebab-case: `near-miss`, `duplicate-route`. */
  readonly code: string;
  /** The signature of the routine. */
  readonly routine: string;
  /** The line of the comment, from 1; null for a diagnostic without a line. */
  readonly line: number | null;
  /** Quotes the culprit and says what to do. */
  readonly message: string;
}

/** Control characters and bidirectional formatting characters, which terminals interpret. */
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const unsafe = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

const maxCharacters = 80;

/** Returns the text with control characters as `\\u` escapes. */
export function escapeControlCharacters(text: string): string {
  return text.replaceAll(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns text for a message: in double quotes, truncated, and with control characters escaped. */
export function display(text: string): string {
  const short = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
  return `"${escapeControlCharacters(short)}"`;
}
