import { escapeControlCharacters } from '../validation/escape.ts';

/** A problem or notice about a comment or the configuration, found at start. */
export interface Diagnostic {
  /** An endpoint with an error is not published, unless only its cache is concerned. */
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

const maxCharacters = 80;

/** Returns text for a message: in double quotes, truncated, and with control characters escaped. */
export function display(text: string): string {
  const short = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
  return `"${escapeControlCharacters(short)}"`;
}
