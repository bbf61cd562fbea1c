import type { NamedType, ResultShape } from '@pgway/core';
import { stringLiteral } from '../source-text.ts';
import { isBigint } from './type-text.ts';

/**
 * Returns the argument of `_bigints` for a result in JSON: `0` for a value that is a `bigint`, an object with the members that contain one.
 * Arrays of any depth have the shape of their elements. Null: the result contains none.
 */
export function bigintShape(result: ResultShape): string | null {
  if ('columns' in result) return membersShape(result.columns);
  return 'column' in result ? typeShape(result.column.type) : null;
}

/** Returns the shape of one value. */
export function typeShape(type: NamedType): string | null {
  if (type.element !== undefined) return typeShape(type.element);
  if (isBigint(type)) return '0';
  return type.fields === undefined ? null : membersShape(type.fields);
}

function membersShape(members: readonly { readonly key: string; readonly type: NamedType }[]): string | null {
  // JSON parsers keep the last of equal keys.
  const shapes = new Map(members.map(({ key, type }) => [key, typeShape(type)]));
  // In a computed name, `__proto__` is a member like others.
  const texts = [...shapes].flatMap(([key, shape]) => (shape === null ? [] : [`[${stringLiteral(key)}]: ${shape}`]));
  return texts.length === 0 ? null : `{ ${texts.join(', ')} }`;
}
