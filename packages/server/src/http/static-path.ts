/** Paths of requests for static files. */

export interface StaticPath {
  /** Decoded: `['docs', 'a b.html']`. Each is the name of a file or folder, never `..`, a drive or a stream. */
  readonly segments: readonly string[];
  /** Whether the path ends with a slash. */
  readonly isFolder: boolean;
  /** Decoded: `/docs/a b.html`. */
  readonly text: string;
  /** As it is sent in URLs: `/docs/a%20b.html`. */
  readonly encoded: string;
  /** With its question mark; empty without a query. */
  readonly query: string;
}

/**
 * Control characters, separators of folders, and the colon of drives and streams (`C:`, `a.txt::$DATA`); a dot or space at the end, which
 * Windows ignores. The last rule covers `.` and `..`.
 */
// oxlint-disable-next-line no-control-regex
const forbidden = /[\0-\x1f\x7f/\\:]|[. ]$/;

/**
 * Parses the target of a request (RFC 9112, section 3.2). Null for a path that no file may have: percent-encoding is decoded once, and what
 * would then be a separator or a dot segment is refused, not resolved.
 */
export function parseStaticPath(target: string): StaticPath | null {
  const [, raw, query = ''] = /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)(\?[^#]*)?$/i.exec(target) ?? [];
  if (raw === undefined) return null;
  const parts = raw.slice(1).split('/');
  const isFolder = parts.at(-1) === '';
  if (isFolder) parts.pop();
  const segments = parts.map(decode);
  const isAllowed = segments.every((segment, index) => isFileName(segment, index === 0));
  return isAllowed ? staticPath(segments as readonly string[], isFolder, query) : null;
}

export function staticPath(segments: readonly string[], isFolder: boolean, query = ''): StaticPath {
  const join = (names: readonly string[]): string =>
    names.length === 0 ? '/' : `/${names.join('/')}${isFolder ? '/' : ''}`;
  const encoded = join(segments.map((segment) => encodeURIComponent(segment)));
  return { segments, isFolder, text: join(segments), encoded, query };
}

/** Returns null for text that is not percent-encoded UTF-8. */
function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

function isFileName(segment: string | null, isFirst: boolean): segment is string {
  if (segment === null || segment === '' || forbidden.test(segment)) return false;
  // Such files often have secrets. RFC 8615: certificates and security contacts are published in the folder.
  return !segment.startsWith('.') || (isFirst && segment === '.well-known');
}
