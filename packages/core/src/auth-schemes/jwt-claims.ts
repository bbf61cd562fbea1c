import { type Claim, Problem } from '../ports/ports.ts';

/**
 * The paths of claims in a token: `{ id: 'user.id', roles: 'realm_access.roles' }`; an array of keys for a nested key with a dot, and the
 * index of an element, from 0 on, as a key. A mapped claim does not appear under its original name, except `sub`, which policies of
 * databases read.
 */
export type ClaimPaths = Readonly<Record<string, string | readonly string[]>>;

type Json = Readonly<Record<string, unknown>>;

/** Claims about the token, not its user (RFC 7519, 4.1). */
const registeredClaims: ReadonlySet<string> = new Set(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti']);

/**
 * Returns the claims of a verified token: strings unchanged, other values as JSON, one claim per element of an array. Nulls are
 * omitted, and integers beyond 2⁵³, which JSON.parse has rounded. The user id is `sub` (RFC 7519, 4.1.2), unless the token has a claim of
 * that name or a path for it.
 */
export function readClaims(payload: Json, paths: ClaimPaths, userIdClaim: string): readonly Claim[] {
  const mapped = Object.entries(paths).map(([name, path]) => ({ name, keys: keysOf(payload, path) }));
  const mappedNames = new Set(mapped.flatMap(({ name, keys }) => (keys[0] === 'sub' ? [name] : [name, keys[0]])));
  const unmapped = Object.entries(payload).filter(([name]) => !mappedNames.has(name) && !registeredClaims.has(name));
  const hasUserId = Object.hasOwn(paths, userIdClaim) || Object.hasOwn(payload, userIdClaim);
  const found = [
    ...unmapped,
    ...mapped.map(({ name, keys }) => [name, valueAt(payload, keys)] as const),
    ...(hasUserId ? [] : [[userIdClaim, payload['sub']] as const]),
  ];
  return Object.freeze(
    found.flatMap(([name, value]) => [value].flat().flatMap((item): readonly Claim[] => toClaim(name, item))),
  );
}

/**
 * Returns the payload of a token with these claims.
 * @throws Problem 500 for a claim that is reserved for the token
 */
export function createPayload(claims: readonly Claim[], paths: ClaimPaths): Json {
  const payload: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, values] of groupByName(claims)) {
    const path = Object.hasOwn(paths, name) ? paths[name]! : [name];
    const keys = typeof path === 'string' ? path.split('.') : path;
    if (registeredClaims.has(keys[0]!)) {
      throw new Problem('internal', {
        detail: `The claim "${name}" is reserved in a JWT: give the column another name.`,
      });
    }
    put(payload, keys, values.length === 1 ? values[0] : values);
  }
  return payload;
}

function groupByName(claims: readonly Claim[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const [name, value] of claims) {
    const values = groups.get(name);
    if (values === undefined) groups.set(name, [value]);
    else values.push(value);
  }
  return groups;
}

/** Returns the keys of a path. A key may contain dots: `https://example.org/roles`. */
function keysOf(payload: Json, path: string | readonly string[]): readonly string[] {
  if (typeof path !== 'string') return path;
  return Object.hasOwn(payload, path) ? [path] : path.split('.');
}

/** The key of an element of an array. */
const index = /^(?:0|[1-9]\d{0,8})$/;

function valueAt(payload: Json, keys: readonly string[]): unknown {
  let value: unknown = payload;
  for (const key of keys) {
    if (Array.isArray(value) && index.test(key)) value = (value[Number(key)] as unknown) ?? null;
    else if (isObject(value) && Object.hasOwn(value, key)) value = value[key];
    else return null;
  }
  return value;
}

/** @throws Problem 500 when the path is taken by another claim */
function put(payload: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  let target = payload;
  for (const key of keys.slice(0, -1)) {
    target[key] ??= Object.create(null);
    if (!isObject(target[key])) throw duplicateClaim(keys);
    target = target[key] as Record<string, unknown>;
  }
  const last = keys.at(-1)!;
  if (last in target) throw duplicateClaim(keys);
  target[last] = value;
}

function duplicateClaim(keys: readonly string[]): Problem {
  return new Problem('internal', { detail: `Two claims map to the same key of a JWT, "${keys.join('.')}".` });
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns no claim for null. */
function toClaim(name: string, value: unknown): readonly Claim[] {
  if (value === null || value === undefined) return [];
  if (typeof value === 'string') return [Object.freeze([name, value] as const)];
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return [];
  return [Object.freeze([name, JSON.stringify(value), 'json'] as const)];
}
