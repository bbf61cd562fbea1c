import { escapeControlCharacters } from '../validation/escape.ts';
import { groupBy } from './group-by.ts';

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
  /** The message when the log and the start of the server tell it of several routines in one line. Absent: each has its own line. */
  readonly summary?: string;
}

/** The number of routines that one line names. */
const maxNamed = 3;

/** Returns the diagnostics; those that more than `maxNamed` routines share are one, in the place of the first of them. */
export function summarizeDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const groups = groupBy(diagnostics, (diagnostic) =>
    diagnostic.summary === undefined ? diagnostic : `${diagnostic.severity} ${diagnostic.code} ${diagnostic.summary}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [{ summary, ...first }] = group as [Diagnostic];
    if (summary === undefined || group.length <= maxNamed) return group;
    const named = group.slice(0, maxNamed).map(({ routine }) => routine);
    const routine = `${named.join(', ')} and ${group.length - maxNamed} more`;
    return [{ ...first, routine, message: `${summary}; pgway validate names each` }];
  });
}

const maxCharacters = 80;

/** Returns text for a message: in double quotes, truncated, and with control characters escaped. */
export function display(text: string): string {
  const short = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
  return `"${escapeControlCharacters(short)}"`;
}
