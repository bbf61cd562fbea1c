import type { NamedType } from '@pgway/core';
import { stringLiteral } from '../source-text.ts';

/** Returns TypeScript syntax unchanged, or nothing for plain JavaScript. */
export type TypeScriptOnly = (text: string) => string;

/** The use of a type. Requests have timestamps as `Date`, responses as text. */
export type TypePosition = 'request' | 'response';

export interface TypeContext {
  readonly position: TypePosition;
  /** The type of json and jsonb. */
  readonly jsonType: string;
  /** Whether 64-bit integers that JSON has as strings are `bigint`. */
  readonly parseBigints: boolean;
}

/** Returns the TypeScript type of a PostgreSQL type in JSON, without `null`. */
export function typeText(type: NamedType, context: TypeContext): string {
  switch (type.json) {
    case 'number':
      return 'number';
    case 'numberText':
      return numberText(type, context);
    case 'boolean':
      return 'boolean';
    case 'timestamp':
    case 'timestamptz':
      return context.position === 'request' ? 'Date' : 'string';
    case 'json':
      return context.jsonType;
    case 'string':
      return type.labels === undefined ? 'string' : labelsText(type.labels);
    case 'converted':
      return convertedText(type, context);
  }
}

function numberText(type: NamedType, { parseBigints }: TypeContext): string {
  return parseBigints && isBigint(type) ? 'bigint' : 'string';
}

/** Whether JSON has the type as a string of an integer. Values of `numeric` may have a fraction. */
export function isBigint({ json, builtin }: NamedType): boolean {
  return json === 'numberText' && builtin === 'int8';
}

/** Elements and fields of types are nullable: the catalog has no NOT NULL for them. */
function convertedText({ element, fields }: NamedType, context: TypeContext): string {
  if (element !== undefined) return `(${typeText(element, context)} | null)[]`;
  if (fields === undefined) return context.jsonType;
  const optional = context.position === 'request';
  const members = fields.map(({ key, type, notNull }) =>
    memberText({ key, type: `${typeText(type, context)}${notNull === true ? '' : ' | null'}`, optional }),
  );
  return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`;
}

function labelsText(labels: readonly string[]): string {
  return labels.length === 0 ? 'never' : labels.map(stringLiteral).join(' | ');
}

/** Returns the array type of a type, in parentheses for a union. */
export function arrayTypeText(text: string): string {
  return text.includes(' ') ? `(${text})[]` : `${text}[]`;
}

/** The members of `Object.prototype` in TypeScript's library. */
const objectMembers: ReadonlySet<string> = new Set([
  'constructor',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  'toLocaleString',
  'toString',
  'valueOf',
]);

/** Returns a member of an interface. An optional one that every object inherits must accept the inherited type. */
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

/** Returns `id` or `"not an identifier"`. */
function memberName(key: string): string {
  return isIdentifier(key) ? key : stringLiteral(key);
}

/** Whether objects inherit a member of this name, which a plain read would return. */
export function isInherited(key: string): boolean {
  return key in Object.prototype;
}

/** Returns the expression that reads a member: `request.id`, `request["not an identifier"]`. */
export function memberAccess(object: string, key: string): string {
  if (isInherited(key)) return `_own(${object}, ${stringLiteral(key)})`;
  return isIdentifier(key) ? `${object}.${key}` : `${object}[${stringLiteral(key)}]`;
}

function isIdentifier(key: string): boolean {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) && !/\p{Default_Ignorable_Code_Point}/u.test(key);
}
