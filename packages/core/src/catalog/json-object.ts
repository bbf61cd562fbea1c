/** Reads the JSON objects that catalog queries give. A query may be an author's own, so every member is checked. */

/** A row of a catalog query that is not what its reader needs; the message names the row and the member. */
export class MalformedRow extends Error {
  override readonly name = 'MalformedRow';
}

export function malformedRow(path: string, problem: string): MalformedRow {
  return new MalformedRow(`The query that lists the catalog: ${path} ${problem}.`);
}

/** A JSON object and what to call it in an error. */
export interface JsonObject {
  /** `row 3, facts`, `row 3, facts.fields[0]`. */
  readonly path: string;
  readonly members: Readonly<Record<string, unknown>>;
}

export function parseJsonObject(where: string, json: string | null): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(json ?? 'null');
  } catch {
    value = null;
  }
  return toJsonObject(where, value);
}

export function readText(facts: JsonObject, member: string): string {
  return decodeText(`${facts.path}.${member}`, facts.members[member]);
}

export function readTextOrNull(facts: JsonObject, member: string): string | null {
  return orNull(facts, member, decodeText);
}

export function readBoolean(facts: JsonObject, member: string): boolean {
  const value = facts.members[member];
  return typeof value === 'boolean' ? value : refuse(`${facts.path}.${member}`, 'true or false', value);
}

/** A count or an OID: a whole number, or the digits of one, as json_build_object writes an oid. */
export function readInteger(facts: JsonObject, member: string): number {
  return decodeInteger(`${facts.path}.${member}`, facts.members[member]);
}

export function readIntegerOrNull(facts: JsonObject, member: string): number | null {
  return orNull(facts, member, decodeInteger);
}

/** One of the letters that a catalog uses, as what it stands for. */
export function readCode<T>(facts: JsonObject, member: string, meanings: Readonly<Record<string, T>>): T {
  return decodeCode(`${facts.path}.${member}`, facts.members[member], meanings);
}

/** An array, each of its elements read by `read`; null when it is null or missing. */
export function readArrayOrNull<T>(
  facts: JsonObject,
  member: string,
  read: (where: string, value: unknown) => T,
): readonly T[] | null {
  return orNull(facts, member, (where, value) => {
    if (!Array.isArray(value)) return refuse(where, 'an array', value);
    return Object.freeze(value.map((element, index) => read(`${where}[${index}]`, element)));
  });
}

export function readArray<T>(
  facts: JsonObject,
  member: string,
  read: (where: string, value: unknown) => T,
): readonly T[] {
  return readArrayOrNull(facts, member, read) ?? refuse(`${facts.path}.${member}`, 'an array', null);
}

export function toJsonObject(where: string, value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(where, 'a JSON object', value);
  return { path: where, members: value as Record<string, unknown> };
}

export function decodeText(where: string, value: unknown): string {
  return typeof value === 'string' ? value : refuse(where, 'text', value);
}

export function decodeInteger(where: string, value: unknown): number {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) ? (number as number) : refuse(where, 'a whole number', value);
}

export function decodeCode<T>(where: string, value: unknown, meanings: Readonly<Record<string, T>>): T {
  const meaning = typeof value === 'string' && Object.hasOwn(meanings, value) ? meanings[value] : undefined;
  return meaning ?? refuse(where, `one of ${Object.keys(meanings).join(', ')}`, value);
}

function orNull<T>(facts: JsonObject, member: string, read: (where: string, value: unknown) => T): T | null {
  const value = facts.members[member];
  return value === null || value === undefined ? null : read(`${facts.path}.${member}`, value);
}

function refuse(where: string, wanted: string, value: unknown): never {
  const found = value === undefined ? 'missing' : JSON.stringify(value).slice(0, 80);
  throw malformedRow(where, `must be ${wanted}; it is ${found}`);
}
