import type { Endpoint } from '../endpoints/endpoint.ts';

/** Endpoints that share one method and path: one of them, or the overloads of one routine. */
export interface RouteMatch<Target> {
  readonly targets: readonly Target[];
  /** Decoded values of the path's parameters, by the name in the path. */
  readonly path: ReadonlyMap<string, string>;
}

export type RouteResult<Target> =
  | ({ readonly kind: 'match' } & RouteMatch<Target>)
  /** The path is ours, the method is not. */
  | { readonly kind: 'method-not-allowed'; readonly allowed: readonly string[] }
  | { readonly kind: 'not-found' };

export interface Router<Target> {
  /** @param path as sent: percent-encoded, without the query */
  match(method: string, path: string): RouteResult<Target>;
}

type Methods<Target> = Map<string, Target[]>;

/** A pattern's segments form a tree; a literal segment wins over a parameter. */
interface RouteNode<Target> {
  readonly literals: Map<string, RouteNode<Target>>;
  parameter: RouteNode<Target> | null;
  /** What ends here. */
  readonly methods: Methods<Target>;
  /** The names of each target's parameters, in order: overloads may name them differently. */
  readonly names: Map<Target, readonly string[]>;
}

const noParameters: ReadonlyMap<string, string> = new Map();
const none = { kind: 'not-found' } as const;

function branch<Target>(): RouteNode<Target> {
  return { literals: new Map(), parameter: null, methods: new Map(), names: new Map() };
}

/**
 * Finds the endpoints of a request. Paths without parameters are found by one look-up; a final slash makes no
 * difference; matching is case-sensitive.
 */
export function createRouter<Target extends { readonly endpoint: Endpoint }>(
  targets: readonly Target[],
): Router<Target> {
  const literal = new Map<string, Methods<Target>>();
  const root = branch<Target>();
  for (const target of targets) {
    const { path } = target.endpoint;
    if (path.includes('{')) for (const variant of variants(segmentsOf(path))) insertPattern(root, variant, target);
    else add(entry(literal, withoutSlash(path)), target);
  }
  addDecoded(literal);
  const hasPatterns = root.literals.size > 0 || root.parameter !== null;
  return {
    match(method, path) {
      if (lettersEncoded.test(path)) return none;
      const plain = path.includes('%') ? decodePath(path) : path;
      const methods = plain === null ? undefined : literal.get(withoutSlash(plain));
      if (methods !== undefined && marksEncoded.test(path)) return none;
      const targets = methods === undefined ? undefined : targetsOf(methods, method);
      if (targets !== undefined) return { kind: 'match', targets, path: noParameters };
      return hasPatterns ? matchPattern(root, method, path, methods) : refuse(methods);
    },
  };
}

/**
 * Letters and digits written as percent codes. No client writes them so by itself; a host's or a proxy's guard, which looks at the
 * path as it was sent, would not know it again.
 */
const lettersEncoded = /%(?:3\d|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])/i;

/** `-`, `.`, `_` and `~` as percent codes: some encoders write values so. A literal is found only as it is. */
const marksEncoded = /%(?:2[de]|5f|7e)/i;

/** A segment that URL parsers take for `.` or `..`, and so for another path. */
const dots = /^(?:\.|%2e){1,2}$/i;

/** HEAD is answered wherever GET is. */
function targetsOf<Target>(methods: Methods<Target>, method: string): readonly Target[] | undefined {
  return methods.get(method) ?? (method === 'HEAD' ? methods.get('GET') : undefined);
}

/** Nothing answers the method; what answers others at this path? */
function refuse<Target>(...known: readonly (Methods<Target> | undefined)[]): RouteResult<Target> {
  const allowed = new Set(known.flatMap((methods) => [...(methods?.keys() ?? [])]));
  if (allowed.size === 0) return none;
  if (allowed.has('GET')) allowed.add('HEAD');
  allowed.add('OPTIONS');
  return { kind: 'method-not-allowed', allowed: [...allowed].toSorted() };
}

/** An author may write a path percent-encoded, as a URL is; a path that is the same without that comes first. */
function addDecoded<Target>(literal: Map<string, Methods<Target>>): void {
  // As they were written: what is added here is not decoded once more.
  const written = Array.from(literal);
  for (const [path, methods] of written) {
    const decoded = path.includes('%') ? decodePath(path) : null;
    if (decoded !== null && !literal.has(decoded)) literal.set(decoded, methods);
  }
}

function entry<Key, Target>(map: Map<Key, Methods<Target>>, key: Key): Methods<Target> {
  let methods = map.get(key);
  if (methods === undefined) map.set(key, (methods = new Map()));
  return methods;
}

function add<Target extends { readonly endpoint: Endpoint }>(methods: Methods<Target>, target: Target): void {
  const { method } = target.endpoint;
  const known = methods.get(method);
  if (known === undefined) methods.set(method, [target]);
  else if (!known.includes(target)) known.push(target);
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function segmentsOf(path: string): readonly string[] {
  return withoutSlash(path).split('/').slice(1);
}

/** `/a/{b?}` answers with and without its last segment. */
function variants(segments: readonly string[]): readonly (readonly string[])[] {
  const all: (readonly string[])[] = [segments];
  for (let end = segments.length; end > 0 && segments[end - 1]!.endsWith('?}'); end--)
    all.push(segments.slice(0, end - 1));
  return all;
}

function insertPattern<Target extends { readonly endpoint: Endpoint }>(
  root: RouteNode<Target>,
  segments: readonly string[],
  target: Target,
): void {
  const names: string[] = [];
  let at = root;
  for (const segment of segments) {
    if (segment.startsWith('{')) {
      names.push(segment.slice(1, -1).replace(/\?$/, ''));
      at = at.parameter ??= branch();
    } else {
      let next = at.literals.get(segment);
      if (next === undefined) at.literals.set(segment, (next = branch()));
      at = next;
    }
  }
  add(at.methods, target);
  at.names.set(target, names);
}

/** @param literal what the path answers as a literal: for other methods than this one */
function matchPattern<Target>(
  root: RouteNode<Target>,
  method: string,
  path: string,
  literal: Methods<Target> | undefined,
): RouteResult<Target> {
  const segments: PathSegment[] = [];
  for (const raw of segmentsOf(path)) {
    const value = raw.includes('%') && dots.test(raw) ? null : decodeSegment(raw);
    if (value === null) return none;
    segments.push({ value, marked: marksEncoded.test(raw) });
  }
  const ends = matchSegments(root, segments);
  // The pattern that comes first decides, so that no encoding leads around it.
  if (ends[0]?.disguised === true) return none;
  for (const { branch: end, values, disguised } of ends) {
    const targets = targetsOf(end.methods, method);
    if (targets === undefined || disguised) continue;
    const named = targets.flatMap((target) =>
      end.names.get(target)!.map((name, index) => [name, values[index]!] as const),
    );
    return { kind: 'match', targets, path: new Map(named) };
  }
  return refuse(literal, ...ends.map(({ branch: end }) => end.methods));
}

/** A segment of a request. */
interface PathSegment {
  /** Decoded. */
  readonly value: string;
  /** Encoded where it need not be. */
  readonly marked: boolean;
}

interface PatternMatch<Target> {
  readonly branch: RouteNode<Target>;
  readonly values: readonly string[];
  /** A literal of the pattern was sent encoded where it need not be. */
  readonly disguised: boolean;
}

/** Every pattern that the segments fit, those with a literal where others have a parameter first. */
function matchSegments<Target>(
  at: RouteNode<Target>,
  segments: readonly PathSegment[],
  values: readonly string[] = [],
  disguised = false,
): PatternMatch<Target>[] {
  const [segment, ...rest] = segments;
  if (segment === undefined) return at.methods.size > 0 ? [{ branch: at, values, disguised }] : [];
  const literal = at.literals.get(segment.value);
  const ends = literal === undefined ? [] : matchSegments(literal, rest, values, disguised || segment.marked);
  // An empty segment is no value.
  if (at.parameter === null || segment.value === '') return ends;
  return [...ends, ...matchSegments(at.parameter, rest, [...values, segment.value], disguised)];
}

function decodeSegment(segment: string): string | null {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** An encoded slash is part of a segment, never a border of one: such a path is no literal of ours. */
function decodePath(path: string): string | null {
  const segments = path.split('/').map(decodeSegment);
  return segments.some((segment) => segment === null || segment.includes('/')) ? null : segments.join('/');
}
