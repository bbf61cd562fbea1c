/** Reads the JSON objects that catalog queries give. A query may be an author's own, so every member is checked. */

/** A row of a catalog query that is not what its reader needs; the message names the row and the member. */
export class MalformedRow extends Error {
  override readonly name = 'MalformedRow';
}

export function malformed(where: string, problem: string): MalformedRow {
  return new MalformedRow(`The query that lists the catalog: ${where} ${problem}.`);
}

/** A JSON object and what to call it in an error. */
export interface Facts {
  /** `row 3, facts`, `row 3, facts.fields[0]`. */
  readonly where: string;
  readonly members: Readonly<Record<string, unknown>>;
}

export function parseFacts(where: string, json: string | null): Facts {
  let value: unknown;
  try {
    value = JSON.parse(json ?? 'null');
  } catch {
    value = null;
  }
  return asFacts(where, value);
}

export function text(facts: Facts, member: string): string {
  return asText(`${facts.where}.${member}`, facts.members[member]);
}

export function textOrNull(facts: Facts, member: string): string | null {
  return orNull(facts, member, asText);
}

export function flag(facts: Facts, member: string): boolean {
  const value = facts.members[member];
  return typeof value === 'boolean' ? value : refuse(`${facts.where}.${member}`, 'true or false', value);
}

/** A count or an OID: a whole number, or the digits of one, as json_build_object writes an oid. */
export function whole(facts: Facts, member: string): number {
  return asWhole(`${facts.where}.${member}`, facts.members[member]);
}

export function wholeOrNull(facts: Facts, member: string): number | null {
  return orNull(facts, member, asWhole);
}

/** One of the letters that a catalog uses, as what it stands for. */
export function letter<T>(facts: Facts, member: string, meanings: Readonly<Record<string, T>>): T {
  return asLetter(`${facts.where}.${member}`, facts.members[member], meanings);
}

/** An array, each of its elements read by `read`; null when it is null or missing. */
export function listOrNull<T>(
  facts: Facts,
  member: string,
  read: (where: string, value: unknown) => T,
): readonly T[] | null {
  return orNull(facts, member, (where, value) => {
    if (!Array.isArray(value)) return refuse(where, 'an array', value);
    return Object.freeze(value.map((element, index) => read(`${where}[${index}]`, element)));
  });
}

export function list<T>(facts: Facts, member: string, read: (where: string, value: unknown) => T): readonly T[] {
  return listOrNull(facts, member, read) ?? refuse(`${facts.where}.${member}`, 'an array', null);
}

export function asFacts(where: string, value: unknown): Facts {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(where, 'a JSON object', value);
  return { where, members: value as Record<string, unknown> };
}

export function asText(where: string, value: unknown): string {
  return typeof value === 'string' ? value : refuse(where, 'text', value);
}

export function asWhole(where: string, value: unknown): number {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) ? (number as number) : refuse(where, 'a whole number', value);
}

export function asLetter<T>(where: string, value: unknown, meanings: Readonly<Record<string, T>>): T {
  const meaning = typeof value === 'string' && Object.hasOwn(meanings, value) ? meanings[value] : undefined;
  return meaning ?? refuse(where, `one of ${Object.keys(meanings).join(', ')}`, value);
}

function orNull<T>(facts: Facts, member: string, read: (where: string, value: unknown) => T): T | null {
  const value = facts.members[member];
  return value === null || value === undefined ? null : read(`${facts.where}.${member}`, value);
}

function refuse(where: string, wanted: string, value: unknown): never {
  const found = value === undefined ? 'missing' : JSON.stringify(value).slice(0, 80);
  throw malformed(where, `must be ${wanted}; it is ${found}`);
}
