/** One segment of an endpoint's path. */
export type PathSegment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'parameter'; readonly name: string; readonly optional: boolean };

const parameterSegment = /^\{([^{}?]+)(\?)?\}$/;

// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const impossible = /[\u0000-\u0020\u007f?#\\{}]/;

/** Clients resolve them before they ask, encoded or not. */
const dots = /^(?:\.|%2e){1,2}$/i;

/**
 * The segments of a path, without the empty one of a final slash; or a text that says what is wrong. A parameter is a whole
 * segment, and optional ones stand last: otherwise nobody could tell which segment of a request is missing.
 */
export function parsePath(path: string): readonly PathSegment[] | string {
  const parts = path.replace(/^\//, '').replace(/\/$/, '').split('/');
  const segments: PathSegment[] = [];
  let optional = false;
  for (const part of path === '/' ? [] : parts) {
    const match = parameterSegment.exec(part);
    if (match === null && impossible.test(part)) {
      return 'a path holds no spaces, control characters, ? # \\ and no braces but those of a whole segment: {name} or {name?}';
    }
    if (dots.test(part)) return 'no client asks for a path with . or .. as a segment: it resolves them first';
    if (optional && match?.[2] === undefined) return 'a parameter with ? can only be followed by others with ?';
    optional = match?.[2] !== undefined;
    segments.push(
      match === null ? { kind: 'literal', text: part } : { kind: 'parameter', name: match[1] ?? '', optional },
    );
  }
  return segments;
}
