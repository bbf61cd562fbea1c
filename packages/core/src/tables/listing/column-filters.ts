import { arrayLiteral } from '../../postgres/literal.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { castIfNeeded, comparisonSql, equalityCondition, resolveComparison } from '../condition.ts';
import { type Fragment, textFragment } from '../fragment.ts';
import { type ProvidedColumn, columnReference, invalidParameter } from '../provided-columns.ts';
import { parseList } from './list.ts';

/** What the given columns ask for. */
export interface ColumnFilters {
  readonly conditions: readonly Fragment[];
  /** Those columns that are to equal one value. */
  readonly equal: readonly ProvidedColumn[];
}

const written = /^(not\.)?(eq|neq|gt|gte|lt|lte|like|ilike|in|is)\.(.*)$/s;

const orderings = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/**
 * `price=lt.20&title=ilike.*rust*`: each text of a key is a condition. A text that begins with no operator is the value that the
 * column equals; a value that looks like one is written `eq.value`. What stands in the path is a value always.
 */
export function parseColumnFilters(
  given: readonly ProvidedColumn[],
  queryNull: Endpoint['queryStringNullHandling'],
): ColumnFilters {
  const conditions: Fragment[] = [];
  const equal: ProvidedColumn[] = [];
  for (const column of given) {
    for (const text of textsOf(column)) {
      const match = text === null || column.parameter.inPath ? null : written.exec(text);
      if (match === null || (match[1] === undefined && match[2] === 'eq')) {
        const one = { ...column, value: match === null ? text : operand(match[3]!, column, queryNull) };
        equal.push(one);
        conditions.push(equalityCondition(one, '=', one.value));
        continue;
      }
      const condition = readOperator(column, { operator: match[2]!, operand: operand(match[3]!, column, queryNull) });
      conditions.push(match[1] === undefined ? condition : negated(condition));
    }
  }
  return { conditions, equal };
}

/** A key that may be repeated has its texts in a JSON array; of an array the one value is the array. */
function textsOf({ parameter, value }: ProvidedColumn): readonly (string | null)[] {
  const text = value === null || typeof value === 'string' ? value : Buffer.from(value).toString();
  return parameter.repeatable === true && text !== null ? (JSON.parse(text) as (string | null)[]) : [text];
}

/** What stands behind an operator means NULL as a whole text would. */
function operand(
  text: string,
  { parameter }: ProvidedColumn,
  queryNull: Endpoint['queryStringNullHandling'],
): string | null {
  if (text === '') return parameter.type.textual && queryNull !== 'emptyString' ? text : null;
  return queryNull === 'nullLiteral' && text.toLowerCase() === 'null' ? null : text;
}

function negated({ form, text, values }: Fragment): Fragment {
  return { form: `not ${form}`, text: (next) => `not (${text(next)})`, values };
}

function readOperator(
  column: ProvidedColumn,
  { operator, operand: value }: { readonly operator: string; readonly operand: string | null },
): Fragment {
  switch (operator) {
    case 'eq':
      return equalityCondition(column, '=', value);
    case 'neq':
      return equalityCondition(column, '<>', value);
    case 'in':
      return isOneOf(column, value ?? '');
    case 'is':
      return isWhat(column, value ?? '');
    case 'like':
    case 'ilike':
      return isLike(column, operator, value ?? '');
    default:
      return isOrdered(column, orderings[operator as keyof typeof orderings], value);
  }
}

function isOrdered(
  column: ProvidedColumn,
  operator: (typeof orderings)[keyof typeof orderings],
  value: string | null,
): Fragment {
  const { facts, parameter } = column;
  const { position, type, key } = parameter;
  if (facts.comparison !== 'ordered')
    throw invalidParameter(parameter, `"${key}" is ${type.display}, which has no order.`);
  return {
    form: `${position}${operator}`,
    text: (next) => comparisonSql(column, operator, `${next()}::${type.sql}`),
    values: [{ value, owner: parameter }],
  };
}

/** `*` stands for `%`, which a URL has to encode. Other types than text are compared by their text. */
function isLike(column: ProvidedColumn, operator: 'like' | 'ilike', value: string): Fragment {
  const { parameter } = column;
  const by = resolveComparison(column, operator === 'like' ? '~~' : '~~*');
  const owner = { ...parameter, type: { sql: 'pg_catalog.text', display: 'a pattern' } };
  return {
    form: `${parameter.position}${operator}`,
    text: (next) =>
      `${castIfNeeded(by.type, columnReference(column))} ${by.operator} ${castIfNeeded(by.type, `${next()}::pg_catalog.text`)}`,
    values: [{ value: value.replaceAll('*', '%'), owner }],
  };
}

function isOneOf(column: ProvidedColumn, value: string): Fragment {
  const { facts, parameter } = column;
  const { position, type, key } = parameter;
  const items = parseList(value);
  if (items === null) {
    throw invalidParameter(
      parameter,
      `"${key}": in. takes a list such as in.(1,2,3), with "…" around what holds a comma.`,
    );
  }
  if (facts.comparison === 'none')
    throw invalidParameter(parameter, `"${key}" is ${type.display}, which in. cannot compare.`);
  const by = resolveComparison(column, '=');
  const owner = { ...parameter, type: { sql: `${type.sql}[]`, display: `a list of ${type.display}` } };
  return {
    form: `${position}in`,
    text: (next) => {
      const list = castIfNeeded(by.type, `${next()}::${type.sql}[]`, '[]');
      return `${castIfNeeded(by.type, columnReference(column))} ${by.operator} any (${list})`;
    },
    values: [{ value: arrayLiteral(items, type.delimiter), owner }],
  };
}

const states = {
  null: 'is null',
  not_null: 'is not null',
  true: 'is true',
  false: 'is false',
  unknown: 'is unknown',
} as const;

function isWhat(column: ProvidedColumn, value: string): Fragment {
  const { parameter } = column;
  const { position, type, key } = parameter;
  const state = value.toLowerCase();
  if (!Object.hasOwn(states, state))
    throw invalidParameter(parameter, `"${key}": is. takes ${Object.keys(states).join(', ')}.`);
  if (!state.endsWith('null') && type.json !== 'boolean') {
    throw invalidParameter(parameter, `"${key}" is ${type.display}: is.${state} is for boolean columns.`);
  }
  return textFragment(`${position}is ${state}`, `${columnReference(column)} ${states[state as keyof typeof states]}`);
}
