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
