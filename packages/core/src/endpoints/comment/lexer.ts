/** A line of a comment, split for the annotation parser. */
export interface CommentLine {
  /** From 1, within the comment. Blank lines count. */
  readonly number: number;
  /** Trimmed, without a leading `@`. */
  readonly text: string;
  /** Trimmed, as written. Used for the description. */
  readonly written: string;
  /** Split at spaces and commas, in original case. */
  readonly words: readonly string[];
  /** `key = value` with a valid key, else null. Escapes such as `\t` in the value are resolved. */
  readonly assignment: { readonly key: string; readonly value: string } | null;
  /** `Name: value` with a valid header name and a value, else null. */
  readonly header: { readonly name: string; readonly value: string } | null;
}

/** All Unicode line breaks: an annotation after a rare one must still begin a line. */
const lineEnd = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

/** Spaces, including no-break spaces, and commas. */
const wordSeparator = /[\s,]+/;

const validName = /^[A-Za-z0-9_-]+$/;
/** A value of a parameter is assigned to its number too: `$1 = select …`. */
const validKey = /^(?:[A-Za-z0-9_-]+|\$\d+)$/;

/** A URL scheme is not a header name, although a colon follows it. */
const beginsWithUrl = /^[A-Za-z][A-Za-z0-9-]*:\/\//;

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\\': '\\' };

/** Resolves `\n`, `\r`, `\t` and `\\`. Keeps other backslashes: the value may be a regular expression or a path. */
export function resolveEscapes(value: string): string {
  return value.replace(/\\([nrt\\])/g, (_, letter: string) => escapes[letter] ?? letter);
}

/** Splits at the first `separator` and trims both sides. Returns null when the left side is not a valid name. */
function splitAt(text: string, separator: string, valid: RegExp): readonly [string, string] | null {
  const at = text.indexOf(separator);
  if (at < 0) return null;
  const left = text.slice(0, at).trim();
  return valid.test(left) ? [left, text.slice(at + 1).trim()] : null;
}

function lexLine(raw: string, number: number): CommentLine {
  const written = raw.trim();
  // An `@` before the keyword is optional.
  const text = written.replace(/^@\s*/, '');
  const assignment = splitAt(text, '=', validKey);
  const header = beginsWithUrl.test(text) ? null : splitAt(text, ':', validName);
  return {
    number,
    text,
    written,
    words: text.split(wordSeparator).filter((word) => word !== ''),
    assignment: assignment === null ? null : { key: assignment[0], value: resolveEscapes(assignment[1]) },
    // `Returns:` alone is a heading in prose; a header needs a value.
    header: header === null || header[1] === '' ? null : { name: header[0], value: header[1] },
  };
}

/** Splits a database comment into lines, including blank ones. Never throws. */
export function lexComment(comment: string): readonly CommentLine[] {
  return comment.split(lineEnd).map((raw, index) => lexLine(raw, index + 1));
}

/** Returns the name in lower case with `-` as `_`: `Content-Type` and `content_type` are the same annotation. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

const on: ReadonlySet<string> = new Set(['true', 'on', 'enabled', 'enable', '1']);
const off: ReadonlySet<string> = new Set(['false', 'off', 'disabled', 'disable', '0']);

/** Parses a boolean value, in any case. Returns null for any other text. */
export function parseBoolean(text: string): boolean | null {
  const value = text.trim().toLowerCase();
  if (on.has(value)) return true;
  return off.has(value) ? false : null;
}
