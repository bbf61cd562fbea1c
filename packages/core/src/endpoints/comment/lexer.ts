/** Every kind of line end: an annotation after a rare one must not drown in the prose before it. */
const lineEnd = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

/** Spaces and commas separate words. Any white space counts: a no-break space looks like a space to the author. */
const wordGap = /[\s,]+/;

const plausibleName = /^[A-Za-z0-9_-]+$/;

/** A line that begins with a URL is prose: its scheme is no header name, though it stands before a colon. */
const beginsWithUrl = /^[A-Za-z][A-Za-z0-9-]*:\/\//;

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\\': '\\' };

/** Resolves `\n`, `\r`, `\t` and `\\`. Other backslashes stay: the value may be a regular expression or a path. */
export function resolveEscapes(value: string): string {
  return value.replace(/\\([nrt\\])/g, (_, letter: string) => escapes[letter] ?? letter);
}

/** What stands before and after the first `mark`, trimmed; null when the left side cannot be a name. */
function splitAt(text: string, mark: string): readonly [string, string] | null {
  const at = text.indexOf(mark);
  if (at < 0) return null;
  const left = text.slice(0, at).trim();
  return plausibleName.test(left) ? [left, text.slice(at + 1).trim()] : null;
}

function lexLine(raw: string, number: number): CommentLine {
  const written = raw.trim();
  // The `@` of other comment languages is allowed before a keyword; it means nothing here.
  const text = written.replace(/^@\s*/, '');
  const assignment = splitAt(text, '=');
  const header = beginsWithUrl.test(text) ? null : splitAt(text, ':');
  return {
    number,
    text,
    written,
    words: text.split(wordGap).filter((word) => word !== ''),
    assignment: assignment === null ? null : { key: assignment[0], value: resolveEscapes(assignment[1]) },
    // `Returns:` alone heads a paragraph of prose; a header needs a value.
    header: header === null || header[1] === '' ? null : { name: header[0], value: header[1] },
  };
}

/** Splits a database comment into its lines, blank ones included. Never fails: what means nothing is prose. */
export function lexComment(comment: string): readonly CommentLine[] {
  return comment.split(lineEnd).map((raw, index) => lexLine(raw, index + 1));
}

/** A line of a comment, split into what an annotation can be made of. Which word it is, is the plan's business. */
export interface CommentLine {
  /** From 1, within the comment. Blank lines are lines too, so the number is also the line's place in the list. */
  readonly number: number;
  /** Trimmed, without a leading `@`. */
  readonly text: string;
  /** As the author wrote it, trimmed: what a reader of the description sees. */
  readonly written: string;
  /** Split on spaces and commas, original case. */
  readonly words: readonly string[];
  /** `key = value`, when the left side is a plausible key. Escapes such as `\t` in the value are resolved. */
  readonly assignment: { readonly key: string; readonly value: string } | null;
  /** `Name: value`, when the left side is a plausible header name and the value is not blank. */
  readonly header: { readonly name: string; readonly value: string } | null;
}
