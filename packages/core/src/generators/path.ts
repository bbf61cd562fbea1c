import type { Endpoint, EndpointParameter } from '../endpoints/endpoint.ts';

/** A piece of an endpoint's path. */
export type PathPiece =
  /** Percent-encoded, slashes and all. */
  | { readonly kind: 'text'; readonly text: string }
  /** A segment; an optional one is left out together with its slash. */
  | { readonly kind: 'parameter'; readonly parameter: EndpointParameter; readonly optional: boolean };

/** The path of an endpoint, its parameters found. Each piece begins with the slash before it. */
export function pathPieces({ path, parameters }: Endpoint): readonly PathPiece[] {
  const pieces: PathPiece[] = [];
  // What begins with two slashes would name another host.
  const segments = (path.startsWith('//') ? `/.${path}` : path).slice(1).split('/');
  for (const segment of segments) {
    const name = /^\{([^{}]+?)(\?)?\}$/.exec(segment);
    const parameter = parameters.find((one) => one.inPath && (one.name === name?.[1] || one.key === name?.[1]));
    if (parameter !== undefined) {
      pieces.push({ kind: 'parameter', parameter, optional: name?.[2] !== undefined });
      continue;
    }
    const text = `/${encodeSegment(segment)}`;
    const last = pieces.at(-1);
    if (last?.kind === 'text') pieces[pieces.length - 1] = { kind: 'text', text: last.text + text };
    else pieces.push({ kind: 'text', text });
  }
  return pieces;
}

function encodeSegment(segment: string): string {
  return encodeURI(segment).replaceAll(/[?#]/g, encodeURIComponent);
}
