/** A segment of an endpoint path. */
export type PathSegment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'parameter'; readonly name: string; readonly optional: boolean };

const parameterSegment = /^\{([^{}?]+)(\?)?\}$/;

// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const invalidCharacters = /[\u0000-\u0020\u007f?#\\{}]/;

/** Paths of literal segments without dots, as the gateway makes them from names. */
const plainPath = /^(?:\/[\w-]+)+$/;

/** Clients resolve these segments before sending a request, encoded or not. */
const dotSegment = /^(?:\.|%2e){1,2}$/i;

/**
 * Returns the segments of a path, ignoring a trailing slash, or an error message. Parameters are whole segments. Optional
 * parameters must be last, otherwise a request would be ambiguous.
 */
export function parsePath(path: string): readonly PathSegment[] | string {
  return plainPath.test(path) ? path.slice(1).split('/').map(toLiteral) : parseSegments(path);
}

function toLiteral(text: string): PathSegment {
  return { kind: 'literal', text };
}

function parseSegments(path: string): readonly PathSegment[] | string {
  const parts = path.replace(/^\//, '').replace(/\/$/, '').split('/');
  const segments: PathSegment[] = [];
  let optional = false;
  for (const part of path === '/' ? [] : parts) {
    const match = parameterSegment.exec(part);
    if (match === null && invalidCharacters.test(part)) {
      return 'a path must not contain spaces, control characters, ?, # or \\, and braces only around a whole segment: {name} or {name?}';
    }
    if (dotSegment.test(part)) return 'a path must not contain the segments . and .., which clients resolve';
    if (optional && match?.[2] === undefined)
      return 'an optional parameter must be followed by optional parameters only';
    optional = match?.[2] !== undefined;
    segments.push(
      match === null ? { kind: 'literal', text: part } : { kind: 'parameter', name: match[1] ?? '', optional },
    );
  }
  return segments;
}
