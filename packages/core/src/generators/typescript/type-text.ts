import type { NamedType } from '../../endpoints/named-type.ts';
import { stringLiteral } from '../source-text.ts';

/** Where a type stands. Times are given as `Date` and answered as text. */
export type TypePosition = 'request' | 'response';

export interface TypeContext {
  readonly side: TypePosition;
  /** The type of json and jsonb. */
  readonly jsonType: string;
}

/** A PostgreSQL type as JSON has it, in TypeScript; without `null`, which the place decides. */
export function typeText(type: NamedType, manner: TypeContext): string {
  switch (type.json) {
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'timestamp':
    case 'timestamptz':
      return manner.side === 'request' ? 'Date' : 'string';
    case 'json':
      return manner.jsonType;
    case 'string':
      return type.labels === undefined ? 'string' : labelsText(type.labels);
    case 'converted':
      return convertedText(type, manner);
  }
}

/** The catalog does not know whether elements and fields can be NULL, so they can. */
function convertedText({ element, fields }: NamedType, manner: TypeContext): string {
  if (element !== undefined) return `(${typeText(element, manner)} | null)[]`;
  if (fields === undefined) return manner.jsonType;
  const optional = manner.side === 'request';
  const members = fields.map(({ key, type }) =>
    memberText({ key, type: `${typeText(type, manner)} | null`, optional }),
  );
  return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`;
}

function labelsText(labels: readonly string[]): string {
  return labels.length === 0 ? 'never' : labels.map(stringLiteral).join(' | ');
}

/** An array of a type that may be a union. */
export function arrayTypeText(text: string): string {
  return text.includes(' ') ? `(${text})[]` : `${text}[]`;
}

/** The members of `Object.prototype` that the compiler knows. */
const objectMembers: ReadonlySet<string> = new Set([
  'constructor',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  'toLocaleString',
  'toString',
  'valueOf',
]);

/** A member of an interface. One that every object inherits can only be left out when its type takes what is inherited. */
export function memberText({
  key,
  type,
  optional,
}: {
  readonly key: string;
  readonly type: string;
  readonly optional: boolean;
}): string {
  if (!optional) return `${memberName(key)}: ${type}`;
  const inherited = objectMembers.has(key) ? ` | Object[${stringLiteral(key)}]` : '';
  return `${memberName(key)}?: ${type}${inherited}`;
}

/** A member's name as it is written in an interface: `id`, `"not an identifier"`. */
function memberName(key: string): string {
  return isIdentifier(key) ? key : stringLiteral(key);
}

/** Whether every object has a member of this name, so that a plain read would find it where the object has none of its own. */
export function isInherited(key: string): boolean {
  return key in Object.prototype;
}

/** How a member is read: `request.id`, `request["not an identifier"]`. */
export function memberAccess(object: string, key: string): string {
  if (isInherited(key)) return `_own(${object}, ${stringLiteral(key)})`;
  return isIdentifier(key) ? `${object}.${key}` : `${object}[${stringLiteral(key)}]`;
}

function isIdentifier(key: string): boolean {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) && !/\p{Default_Ignorable_Code_Point}/u.test(key);
}
