import type { Endpoint } from '../endpoints/endpoint.ts';
import { takesQuery } from '../endpoints/query-method.ts';
import { queryMethod } from '../http/methods.ts';

/** The endpoints of a method and path: one, or the overloads of a routine. */
export interface RouteMatch<Target> {
  readonly targets: readonly Target[];
  /** Decoded path parameters by name. */
  readonly path: ReadonlyMap<string, string>;
}

export type RouteResult<Target> =
  | ({ readonly kind: 'match' } & RouteMatch<Target>)
  /** Other methods have endpoints at this path. */
  | { readonly kind: 'method-not-allowed'; readonly allowed: readonly string[] }
  | { readonly kind: 'not-found' };

export interface Router<Target> {
  /** @param path percent-encoded, as sent, without the query */
  match(method: string, path: string): RouteResult<Target>;
}

interface Routable {
  readonly endpoint: Endpoint;
}

/** The targets of each method. Most paths have one: a map of thousands of paths would be larger than their endpoints. */
type Methods<Target> = MethodTargets<Target>[];

interface MethodTargets<Target> {
  readonly method: string;
  readonly targets: Target[];
}

/** A node of the tree of path segments. A literal segment wins over a parameter. */
interface RouteNode<Target> {
  readonly literals: Map<string, RouteNode<Target>>;
  parameter: RouteNode<Target> | null;
  /** The targets whose path ends here. */
  readonly methods: Methods<Target>;
  /** Parameter names by target: overloads may have different ones. */
  readonly names: Map<Target, readonly string[]>;
}

const noParameters: ReadonlyMap<string, string> = new Map();
const notFound = { kind: 'not-found' } as const;

function createNode<Target>(): RouteNode<Target> {
  return { literals: new Map(), parameter: null, methods: [], names: new Map() };
}

/**
 * Returns a router over the targets. Paths without parameters are found by one map lookup. Matching is case-sensitive and
 * ignores a trailing slash.
 */
export function createRouter<Target extends Routable>(targets: readonly Target[]): Router<Target> {
  const literalPaths = new Map<string, Methods<Target>>();
  const root = createNode<Target>();
  for (const target of targets) {
    const { path } = target.endpoint;
    if (path.includes('{')) for (const variant of variants(splitSegments(path))) insertPattern(root, variant, target);
    else addLiteral(literalPaths, trimTrailingSlash(path), target);
  }
  addDecoded(literalPaths);
  const hasPatterns = root.literals.size > 0 || root.parameter !== null;
  return {
    match(method, path) {
      if (encodedAlphanumerics.test(path)) return notFound;
      const decoded = path.includes('%') ? decodePath(path) : path;
      const methods = decoded === null ? undefined : literalPaths.get(trimTrailingSlash(decoded));
      if (methods !== undefined && encodedPunctuation.test(path)) return notFound;
      const targets = methods === undefined ? undefined : selectTargets(methods, method);
      if (targets !== undefined) return { kind: 'match', targets, path: noParameters };
      return hasPatterns ? matchPattern(root, method, path, methods) : listAllowed(methods);
    },
  };
}

/** Percent-encoded letters and digits. Such a path could bypass a proxy's access rules, which see it before decoding. */
const encodedAlphanumerics = /%(?:3\d|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])/i;

/** Percent-encoded `-`, `.`, `_` and `~` (RFC 3986, section 2.3): some clients encode values so. Literal paths do not match. */
const encodedPunctuation = /%(?:2[de]|5f|7e)/i;

/** A segment that URL parsers read as `.` or `..`. */
const dotSegment = /^(?:\.|%2e){1,2}$/i;

/** The targets of GET serve HEAD too, and those that only read QUERY. */
function selectTargets<Target extends Routable>(
  methods: Methods<Target>,
  method: string,
): readonly Target[] | undefined {
  if (method === queryMethod) return queryTargets(methods);
  return targetsOf(methods, method) ?? (method === 'HEAD' ? targetsOf(methods, 'GET') : undefined);
}

function queryTargets<Target extends Routable>(methods: Methods<Target>): readonly Target[] | undefined {
  const targets = targetsOf(methods, 'GET')?.filter(({ endpoint }) => takesQuery(endpoint));
  return targets?.length === 0 ? undefined : targets;
}

function targetsOf<Target>(methods: Methods<Target>, method: string): Target[] | undefined {
  for (const entry of methods) if (entry.method === method) return entry.targets;
  return undefined;
}

/** Lists the methods of the path, since the requested one has no target. */
function listAllowed<Target extends Routable>(...known: readonly (Methods<Target> | undefined)[]): RouteResult<Target> {
  const allowed = new Set(known.flatMap((methods) => methods?.map(({ method }) => method) ?? []));
  if (allowed.size === 0) return notFound;
  if (allowed.has('GET')) allowed.add('HEAD');
  if (known.some((methods) => methods !== undefined && queryTargets(methods) !== undefined)) allowed.add(queryMethod);
  allowed.add('OPTIONS');
  return { kind: 'method-not-allowed', allowed: [...allowed].toSorted() };
}

/** Adds the decoded form of percent-encoded paths of comments, unless another endpoint has that path. */
function addDecoded<Target>(literalPaths: Map<string, Methods<Target>>): void {
  // A copy: paths that are added here must not be decoded again.
  const entries = Array.from(literalPaths);
  for (const [path, methods] of entries) {
    const decoded = path.includes('%') ? decodePath(path) : null;
    if (decoded !== null && !literalPaths.has(decoded)) literalPaths.set(decoded, methods);
  }
}

function addLiteral<Target extends Routable>(
  literalPaths: Map<string, Methods<Target>>,
  path: string,
  target: Target,
): void {
  const methods = literalPaths.get(path);
  // The list has the size of its first member: one that grows from none has room for 16 more.
  if (methods === undefined) literalPaths.set(path, [{ method: target.endpoint.method, targets: [target] }]);
  else add(methods, target);
}

function add<Target extends Routable>(methods: Methods<Target>, target: Target): void {
  const { method } = target.endpoint;
  const known = targetsOf(methods, method);
  if (known === undefined) methods.push({ method, targets: [target] });
  else if (!known.includes(target)) known.push(target);
}

function trimTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function splitSegments(path: string): readonly string[] {
  return trimTrailingSlash(path).split('/').slice(1);
}

/** `/a/{b?}` matches with and without its last segment. */
function variants(segments: readonly string[]): readonly (readonly string[])[] {
  const all: (readonly string[])[] = [segments];
  for (let end = segments.length; end > 0 && segments[end - 1]!.endsWith('?}'); end--)
    all.push(segments.slice(0, end - 1));
  return all;
}

function insertPattern<Target extends Routable>(
  root: RouteNode<Target>,
  segments: readonly string[],
  target: Target,
): void {
  const names: string[] = [];
  let node = root;
  for (const segment of segments) {
    if (segment.startsWith('{')) {
      names.push(segment.slice(1, -1).replace(/\?$/, ''));
      node = node.parameter ??= createNode();
    } else {
      let next = node.literals.get(segment);
      if (next === undefined) node.literals.set(segment, (next = createNode()));
      node = next;
    }
  }
  add(node.methods, target);
  node.names.set(target, names);
}

/** @param literalMethods the methods of the same path without parameters, to list when none matches */
function matchPattern<Target extends Routable>(
  root: RouteNode<Target>,
  method: string,
  path: string,
  literalMethods: Methods<Target> | undefined,
): RouteResult<Target> {
  const segments: PathSegment[] = [];
  for (const raw of splitSegments(path)) {
    const value = raw.includes('%') && dotSegment.test(raw) ? null : decodeSegment(raw);
    if (value === null) return notFound;
    segments.push({ value, hasEncodedPunctuation: encodedPunctuation.test(raw) });
  }
  const matches = matchSegments(root, segments);
  // The first pattern decides: an encoded literal must not fall through to a parameter.
  if (matches[0]?.isDisguised === true) return notFound;
  for (const { node, values, isDisguised } of matches) {
    const targets = selectTargets(node.methods, method);
    if (targets === undefined || isDisguised) continue;
    const named = targets.flatMap((target) =>
      node.names.get(target)!.map((name, index) => [name, values[index]!] as const),
    );
    return { kind: 'match', targets, path: new Map(named) };
  }
  return listAllowed(literalMethods, ...matches.map(({ node }) => node.methods));
}

interface PathSegment {
  /** Decoded. */
  readonly value: string;
  readonly hasEncodedPunctuation: boolean;
}

interface PatternMatch<Target> {
  readonly node: RouteNode<Target>;
  readonly values: readonly string[];
  /** Whether a literal segment was sent with encoded punctuation. */
  readonly isDisguised: boolean;
}

/** Returns all patterns that match the segments; those with literal segments come first. */
function matchSegments<Target>(
  node: RouteNode<Target>,
  segments: readonly PathSegment[],
  values: readonly string[] = [],
  isDisguised = false,
): PatternMatch<Target>[] {
  const [segment, ...rest] = segments;
  if (segment === undefined) return node.methods.length > 0 ? [{ node, values, isDisguised }] : [];
  const literal = node.literals.get(segment.value);
  const matches =
    literal === undefined ? [] : matchSegments(literal, rest, values, isDisguised || segment.hasEncodedPunctuation);
  // An empty segment is not a value.
  if (node.parameter === null || segment.value === '') return matches;
  return [...matches, ...matchSegments(node.parameter, rest, [...values, segment.value], isDisguised)];
}

function decodeSegment(segment: string): string | null {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** Decodes a path; null with an encoded slash, which is part of a segment and separates none. */
function decodePath(path: string): string | null {
  const segments = path.split('/').map(decodeSegment);
  return segments.some((segment) => segment === null || segment.includes('/')) ? null : segments.join('/');
}
