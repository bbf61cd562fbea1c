import { arrayLiteral } from '../../postgres/literal.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { compareColumn, equalityCondition, inequalityCondition, operandOf } from '../condition.ts';
import { type Condition, isState, states } from '../parts/condition.ts';
import { invalidParameter, type ProvidedColumn } from '../provided-columns.ts';

export interface ColumnFilters {
  readonly conditions: readonly Condition[];
  /** The columns that must equal one value. */
  readonly equal: readonly ProvidedColumn[];
}

/** `lt.20`, `not.in.(1,2)`. */
const filter = /^(not\.)?(eq|neq|gt|gte|lt|lte|like|ilike|in|is)\.(.*)$/s;

const orderOperators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

type NullHandling = Endpoint['queryStringNullHandling'];

/**
 * Parses the filters of a query string such as `price=lt.20&title=ilike.*rust*`. A text without an operator is a value that the column
 * must equal; `eq.` precedes a value that looks like a filter. Path parameters are always values.
 */
export function parseColumnFilters(provided: readonly ProvidedColumn[], nullHandling: NullHandling): ColumnFilters {
  const conditions: Condition[] = [];
  const equal: ProvidedColumn[] = [];
  for (const column of provided) {
    for (const text of listTexts(column)) {
      const match = text === null || column.parameter.inPath ? null : filter.exec(text);
      if (match === null || (match[1] === undefined && match[2] === 'eq')) {
        const equalColumn = { ...column, value: match === null ? text : parseOperand(match[3]!, column, nullHandling) };
        equal.push(equalColumn);
        conditions.push(equalityCondition(equalColumn, equalColumn.value));
        continue;
      }
      const operand = parseOperand(match[3]!, column, nullHandling);
      const condition = operatorCondition(column, match[2]!, operand);
      conditions.push(match[1] === undefined ? condition : { kind: 'not', condition });
    }
  }
  return { conditions, equal };
}

/** The value of a repeatable parameter is a JSON array of its texts. */
function listTexts({ parameter, value }: ProvidedColumn): readonly (string | null)[] {
  const text = value === null || typeof value === 'string' ? value : Buffer.from(value).toString();
  return parameter.repeatable === true && text !== null ? (JSON.parse(text) as (string | null)[]) : [text];
}

/** Applies the null handling of the query string to the operand. */
function parseOperand(text: string, { parameter }: ProvidedColumn, nullHandling: NullHandling): string | null {
  if (text === '') return parameter.type.textual && nullHandling !== 'emptyString' ? text : null;
  return nullHandling === 'nullLiteral' && text.toLowerCase() === 'null' ? null : text;
}

function operatorCondition(column: ProvidedColumn, operator: string, operand: string | null): Condition {
  switch (operator) {
    case 'eq':
      return equalityCondition(column, operand);
    case 'neq':
      return inequalityCondition(column, operand);
    case 'in':
      return inCondition(column, operand ?? '');
    case 'is':
      return isCondition(column, operand ?? '');
    case 'like':
    case 'ilike':
      return likeCondition(column, operator, operand ?? '');
    default:
      return compareColumn(column, orderOperators[operator as keyof typeof orderOperators], operand);
  }
}

/** `*` is the wildcard, since `%` must be encoded in a URL. Columns of other types than text are compared as text. */
function likeCondition(column: ProvidedColumn, operator: 'like' | 'ilike', pattern: string): Condition {
  const type = 'pg_catalog.text';
  return {
    ...compareColumn(column, operator === 'like' ? '~~' : '~~*', pattern.replaceAll('*', '%')),
    type,
    source: { ...column.parameter, type: { sql: type, display: 'a pattern' } },
  };
}

function inCondition(column: ProvidedColumn, list: string): Condition {
  const { parameter } = column;
  const { type, key } = parameter;
  const items = parseList(list);
  if (items === null) {
    throw invalidParameter(
      parameter,
      `"${key}": in. takes a list such as in.(1,2,3), with "…" around what holds a comma.`,
    );
  }
  return {
    ...compareColumn(column, '=', arrayLiteral(items, type.delimiter)),
    quantifier: 'any',
    source: { ...parameter, type: { sql: `${type.sql}[]`, display: `a list of ${type.display}` } },
  };
}

const listItem = /(?:"((?:[^"\\]|\\.)*)"|([^",()]*))(,|$)/sy;

/** Parses `(a,b,"c,d")`; null for another text. Within quotes a backslash escapes the next character. */
function parseList(text: string): readonly string[] | null {
  if (!text.startsWith('(') || !text.endsWith(')') || text.length < 2) return null;
  const content = text.slice(1, -1);
  if (content === '') return [];
  const items: string[] = [];
  for (let position = 0; ;) {
    listItem.lastIndex = position;
    const match = listItem.exec(content);
    if (match === null) return null;
    items.push(match[1] === undefined ? match[2]! : match[1].replaceAll(/\\(.)/gs, '$1'));
    if (match[3] === '') return items;
    position = listItem.lastIndex;
  }
}

function isCondition(column: ProvidedColumn, value: string): Condition {
  const { parameter } = column;
  const { type, key } = parameter;
  const state = value.toLowerCase();
  if (!isState(state)) throw invalidParameter(parameter, `"${key}": is. takes ${Object.keys(states).join(', ')}.`);
  if (!state.endsWith('null') && type.json !== 'boolean') {
    throw invalidParameter(parameter, `"${key}" is ${type.display}: is.${state} is for boolean columns.`);
  }
  return { kind: 'state', operand: operandOf(column), state };
}
