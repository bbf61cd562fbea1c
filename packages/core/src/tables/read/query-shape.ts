import type { TextValue } from '../parts/request-value.ts';
import { parseGroup, parseList } from './parse-filters.ts';
import { otherParameters, parseKey, type Purpose } from './parse-query.ts';
import { type Filter, isPartOfShape } from './query.ts';
import { ReadFault } from './read-fault.ts';
import { Scanner } from './scanner.ts';

/** The parameters of a read, divided into a key, which reads with the same statement share, and the values of one request. */
export interface QueryShape {
  /** The parameters without their values. Different statements have different keys. */
  readonly key: string;
  /** The values in the order of the parameters, as `parseReadQuery` numbers them. */
  readonly texts: readonly TextValue[];
}

/** Characters. The statements of longer queries are not kept. */
const maxKeyLength = 4_096;

/**
 * Returns the shape of the parameters of a read, without checks of names and operators; null for parameters that have none: their statement is
 * for one request.
 * @param maxRows the limit of rows, which is the limit of a query that gives a larger one
 */
export function readShape(parameters: ReadonlyMap<string, readonly string[]>, maxRows: number): QueryShape | null {
  const texts: TextValue[] = [];
  try {
    const key = readKey(parameters, maxRows, texts);
    return key === null ? null : { key, texts };
  } catch (error) {
    // The parser tells which error is the first one.
    if (error instanceof ReadFault) return null;
    throw error;
  }
}

function readKey(
  parameters: ReadonlyMap<string, readonly string[]>,
  maxRows: number,
  texts: TextValue[],
): string | null {
  let key = '';
  for (const [name, values] of parameters) {
    const purpose = purposeOf(name);
    for (const value of values) {
      const part = readPart({ name, value, purpose }, maxRows, texts);
      // No text of PostgreSQL has a zero byte: it separates the parts.
      if (part === null || value.includes('\0') || name.includes('\0')) return null;
      key += `${name}\0${part}\0`;
      if (key.length > maxKeyLength) return null;
    }
  }
  return key;
}

interface Parameter {
  readonly name: string;
  readonly value: string;
  readonly purpose: Purpose | 'text';
}

const plainName = /^\w+$/;
const plainPurposes: Readonly<Record<string, Purpose>> = {
  order: 'order',
  limit: 'limit',
  offset: 'offset',
  and: 'and',
  or: 'or',
};

function purposeOf(name: string): Parameter['purpose'] {
  if (name === 'select' || otherParameters.has(name)) return 'text';
  if (!plainName.test(name)) return parseKey(name).purpose;
  return Object.hasOwn(plainPurposes, name) ? plainPurposes[name]! : 'filter';
}

const digits = /^\d{1,15}$/;
/** The operator of a filter with its modifiers. */
const operation = /^(?:not\.)?(\w+)(?:\([^()]*\))?\./;

/** Returns the part of a parameter that decides about the statement, and adds its values; null: it has no such part. */
function readPart({ name, value, purpose }: Parameter, maxRows: number, texts: TextValue[]): string | null {
  switch (purpose) {
    case 'text':
    case 'order':
      return value;
    case 'limit':
      texts.push(value);
      return digits.test(value) ? (Number(value) < maxRows ? 'some' : 'all') : null;
    case 'offset':
      texts.push(value);
      return digits.test(value) ? (Number(value) === 0 ? 'none' : 'some') : null;
    case 'and':
    case 'or':
      return groupPart(parseGroup(name, purpose, false, value), texts);
    case 'filter':
      return conditionPart(name, value, texts);
  }
}

function conditionPart(name: string, value: string, texts: TextValue[]): string | null {
  const [prefix, operator] = operation.exec(value) ?? [];
  if (prefix === undefined) return null;
  if (operator === 'is') return value;
  const rest = value.slice(prefix.length);
  texts.push(operator === 'in' ? readList(name, rest) : rest);
  return prefix;
}

function readList(name: string, text: string): readonly string[] {
  const scanner = new Scanner(name, text);
  const list = parseList(scanner);
  if (!scanner.isAtEnd) throw scanner.problem('the end is expected');
  return list;
}

function groupPart(filter: Filter, texts: TextValue[]): string {
  if (filter.kind === 'group') {
    const members = filter.members.map((member) => groupPart(member, texts)).join(',');
    return `${filter.negated ? 'not.' : ''}${filter.operator}(${members})`;
  }
  const { field, negated, operator, quantifier, language, value } = filter;
  const isPart = isPartOfShape(filter);
  if (!isPart) texts.push(value);
  return JSON.stringify([field.column, field.path, negated, operator, quantifier, language, isPart ? value : null]);
}
