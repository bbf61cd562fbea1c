/** Decoding of the JSON objects that catalog queries return. The query may be a custom one, so that every member is checked. */

/** An invalid row of a catalog query; the message names the row and the member. */
export class MalformedRow extends Error {
  override readonly name = 'MalformedRow';
}

export function malformedRow(path: string, problem: string): MalformedRow {
  return new MalformedRow(`The query that lists the catalog: ${path} ${problem}.`);
}

/** A JSON object with its path for error messages. */
export interface JsonObject {
  /** `row 3, facts`, `row 3, facts.fields[0]`. */
  readonly path: string;
  readonly members: Readonly<Record<string, unknown>>;
}

export function parseJsonObject(path: string, json: string | null): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(json ?? 'null');
  } catch {
    value = null;
  }
  return toJsonObject(path, value);
}

export function readText(object: JsonObject, member: string): string {
  const value = object.members[member];
  return typeof value === 'string' ? value : fail(`${object.path}.${member}`, 'text', value);
}

export function readTextOrNull(object: JsonObject, member: string): string | null {
  return readOrNull(object, member, decodeText);
}

export function readBoolean(object: JsonObject, member: string): boolean {
  const value = object.members[member];
  return typeof value === 'boolean' ? value : fail(`${object.path}.${member}`, 'true or false', value);
}

/** Reads a count or an OID: an integer or a string of digits, as json_build_object writes an oid. */
export function readInteger(object: JsonObject, member: string): number {
  const value = object.members[member];
  return Number.isSafeInteger(value) ? (value as number) : decodeInteger(`${object.path}.${member}`, value);
}

export function readIntegerOrNull(object: JsonObject, member: string): number | null {
  return readOrNull(object, member, decodeInteger);
}

/** Reads a one-letter code of a system catalog (such as `prokind`) and returns its meaning. */
export function readCode<T>(object: JsonObject, member: string, meanings: Readonly<Record<string, T>>): T {
  return decodeCode(`${object.path}.${member}`, object.members[member], meanings);
}

/** Reads an array with a decoder for its elements; null when the member is null or missing. */
export function readArrayOrNull<T>(
  object: JsonObject,
  member: string,
  read: (path: string, value: unknown) => T,
): readonly T[] | null {
  return readOrNull(object, member, (path, value) => {
    if (!Array.isArray(value)) return fail(path, 'an array', value);
    return Object.freeze(value.map((element, index) => read(`${path}[${index}]`, element)));
  });
}

export function readArray<T>(
  object: JsonObject,
  member: string,
  read: (path: string, value: unknown) => T,
): readonly T[] {
  return readArrayOrNull(object, member, read) ?? fail(`${object.path}.${member}`, 'an array', null);
}

export function toJsonObject(path: string, value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail(path, 'a JSON object', value);
  return { path, members: value as Record<string, unknown> };
}

export function decodeText(path: string, value: unknown): string {
  return typeof value === 'string' ? value : fail(path, 'text', value);
}

export function decodeInteger(path: string, value: unknown): number {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) ? (number as number) : fail(path, 'a whole number', value);
}

export function decodeCode<T>(path: string, value: unknown, meanings: Readonly<Record<string, T>>): T {
  const meaning = typeof value === 'string' && Object.hasOwn(meanings, value) ? meanings[value] : undefined;
  return meaning ?? fail(path, `one of ${Object.keys(meanings).join(', ')}`, value);
}

function readOrNull<T>(object: JsonObject, member: string, read: (path: string, value: unknown) => T): T | null {
  const value = object.members[member];
  return value === null || value === undefined ? null : read(`${object.path}.${member}`, value);
}

function fail(path: string, expected: string, value: unknown): never {
  const found = value === undefined ? 'missing' : JSON.stringify(value).slice(0, 80);
  throw malformedRow(path, `must be ${expected}; it is ${found}`);
}
