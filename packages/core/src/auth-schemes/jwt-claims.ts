import { type Claim, Problem } from '../ports/ports.ts';

/**
 * Where claims stand in a token, by their names: `{ id: 'sub', roles: 'realm_access.roles' }`; an array of keys where a key has a
 * dot in it and something before it is an object. What is taken from its place is no claim under the name of that place.
 */
export type ClaimPaths = Readonly<Record<string, string | readonly string[]>>;

type Json = Readonly<Record<string, unknown>>;

/** What the token says of itself and not of its user. */
const ofTheToken: ReadonlySet<string> = new Set(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti']);

/**
 * The claims of a token that counts: text as it is, numbers, booleans and objects as JSON, a claim for each element of an array.
 * Null is none; so is a whole number past 2⁵³, of which nobody knows any more which one it was.
 */
export function readClaims(payload: Json, paths: ClaimPaths): readonly Claim[] {
  const mapped = Object.entries(paths).map(([name, path]) => ({ name, keys: keysOf(payload, path) }));
  const taken = new Set(mapped.flatMap(({ name, keys }) => [name, keys[0]]));
  const own = Object.entries(payload).filter(([name]) => !taken.has(name) && !ofTheToken.has(name));
  const found = [...own, ...mapped.map(({ name, keys }) => [name, valueAt(payload, keys)] as const)];
  return Object.freeze(
    found.flatMap(([name, value]) => [value].flat().flatMap((one): readonly Claim[] => claimOf(name, one))),
  );
}

/**
 * What a token has to say so that these are its claims.
 * @throws Problem 500 for a claim that is one of the token's own
 */
export function createPayload(claims: readonly Claim[], paths: ClaimPaths): Json {
  const payload: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, values] of grouped(claims)) {
    const path = Object.hasOwn(paths, name) ? paths[name]! : [name];
    const keys = typeof path === 'string' ? path.split('.') : path;
    if (ofTheToken.has(keys[0]!)) {
      throw new Problem('internal', {
        detail: `The claim "${name}" is one that a JWT says of itself: give the column another name.`,
      });
    }
    put(payload, keys, values.length === 1 ? values[0] : values);
  }
  return payload;
}

function grouped(claims: readonly Claim[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const [name, value] of claims) {
    const values = groups.get(name);
    if (values === undefined) groups.set(name, [value]);
    else values.push(value);
  }
  return groups;
}

/** A name with dots in it may be one key: `https://example.org/roles`. */
function keysOf(payload: Json, path: string | readonly string[]): readonly string[] {
  if (typeof path !== 'string') return path;
  return Object.hasOwn(payload, path) ? [path] : path.split('.');
}

function valueAt(payload: Json, keys: readonly string[]): unknown {
  let value: unknown = payload;
  for (const key of keys) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return null;
    value = value[key];
  }
  return value;
}

/** @throws Problem 500 where another claim stands there already */
function put(payload: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  let place = payload;
  for (const key of keys.slice(0, -1)) {
    place[key] ??= Object.create(null);
    if (!isObject(place[key])) throw doubled(keys);
    place = place[key] as Record<string, unknown>;
  }
  const last = keys.at(-1)!;
  if (last in place) throw doubled(keys);
  place[last] = value;
}

function doubled(keys: readonly string[]): Problem {
  return new Problem('internal', { detail: `Two claims would stand in one place of a JWT, "${keys.join('.')}".` });
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** None for what has no value. */
function claimOf(name: string, value: unknown): readonly Claim[] {
  if (value === null || value === undefined) return [];
  if (typeof value === 'string') return [Object.freeze([name, value] as const)];
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return [];
  return [Object.freeze([name, JSON.stringify(value), 'json'] as const)];
}
