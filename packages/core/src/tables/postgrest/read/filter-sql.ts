import { quoteIdentifier } from '../../../catalog/quote.ts';
import type { TableColumn } from '../../../catalog/table.ts';
import type { Problem, ValueSource } from '../../../ports/ports.ts';
import { joinParts, sql, SqlText, text } from '../../parts/sql-text.ts';
import { queryProblem, syntaxProblem } from '../postgrest-problem.ts';
import type { Condition, Field, Filter, FilterOperator, JsonStep } from './query.ts';
import type { Relation } from './relationships.ts';

/** A relation with its alias in a statement. */
export interface Aliased {
  readonly relation: Relation;
  /** Quoted. */
  readonly alias: string;
  /** The SQL of related rows by their name, NULL for none. */
  readonly related?: ReadonlyMap<string, string>;
}

/** The SQL of a field, and the type that values are compared with. */
interface Operand {
  readonly sql: SqlText;
  /** The type of values, in SQL. */
  readonly type: string;
  /** Null for a value of a JSON column. */
  readonly column: TableColumn | null;
  readonly source: ValueSource;
}

/** Returns the SQL of a condition of one or more filters; empty for none. */
export function conditionsSql(aliased: Aliased, filters: readonly Filter[]): SqlText {
  return joinParts(
    filters.map((filter) => filterSql(aliased, filter)),
    ' and ',
  );
}

function filterSql(aliased: Aliased, filter: Filter): SqlText {
  if (filter.kind === 'condition') return negate(conditionSql(aliased, filter), filter.negated);
  const members = filter.members.map((member) => filterSql(aliased, member));
  return negate(sql`(${joinParts(members, ` ${filter.operator} `)})`, filter.negated);
}

function negate(condition: SqlText, negated: boolean): SqlText {
  return negated ? sql`not (${condition})` : condition;
}

function bound(value: string, type: string, source: ValueSource): SqlText {
  return new SqlText().bind(value, type, source);
}

const jsonb = 'pg_catalog.jsonb';

const operators: Readonly<Partial<Record<FilterOperator, string>>> = {
  eq: '=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  like: '~~',
  ilike: '~~*',
  match: '~',
  imatch: '~*',
  cs: '@>',
  cd: '<@',
  ov: '&&',
  sl: '<<',
  sr: '>>',
  nxr: '&<',
  nxl: '&>',
  adj: '-|-',
};

const searchFunctions: Readonly<Partial<Record<FilterOperator, string>>> = {
  fts: 'to_tsquery',
  plfts: 'plainto_tsquery',
  phfts: 'phraseto_tsquery',
  wfts: 'websearch_to_tsquery',
};

const patterns: ReadonlySet<FilterOperator> = new Set(['like', 'ilike', 'match', 'imatch']);
const ordering: ReadonlySet<FilterOperator> = new Set(['gt', 'gte', 'lt', 'lte']);

function conditionSql(aliased: Aliased, condition: Condition): SqlText {
  const { operator, value, field } = condition;
  const related = field.path.length === 0 ? aliased.related?.get(field.column) : undefined;
  if (related !== undefined && !aliased.relation.columns.has(field.column)) return relatedSql(related, condition);
  const operand = fieldOperand(aliased, field, condition.parameter);
  if (operator === 'is') return isSql(operand, condition);
  if (operator === 'in') return inSql(operand, value as readonly string[], condition);
  if (operator in searchFunctions) return searchSql(operand, condition);
  if (operator === 'neq') return sql`not (${compare(operand, { ...condition, operator: 'eq' })})`;
  if (operator === 'isdistinct') return sql`(${compare(operand, { ...condition, operator: 'eq' })}) is not true`;
  return compare(operand, condition);
}

function compare(operand: Operand, condition: Condition): SqlText {
  const { operator, quantifier, value } = condition;
  const isPattern = patterns.has(operator);
  const { cast, symbol, type } = isPattern
    ? { cast: '::pg_catalog.text', symbol: `operator(pg_catalog.${operators[operator]!})`, type: 'pg_catalog.text' }
    : selectOperator(operand, condition);
  const given =
    operator === 'like' || operator === 'ilike' ? (value as string).replaceAll('*', '%') : (value as string);
  const left = sql`${operand.sql}${text(cast)} ${text(symbol)} `;
  if (quantifier === null) return sql`${left}${bound(given, type, operand.source)}`;
  return sql`${left}${text(quantifier)}(${bound(given, `${type}[]`, operand.source)})`;
}

interface SelectedOperator {
  /** The cast of the field; empty for none. */
  readonly cast: string;
  readonly symbol: string;
  /** The type of values. */
  readonly type: string;
}

/** Selects an operator by its qualified name, so that one in another schema of the `search_path` is never run. */
function selectOperator({ type, column }: Operand, condition: Condition): SelectedOperator {
  const { operator, field } = condition;
  const symbol = operators[operator]!;
  const standard = `operator(pg_catalog.${symbol})`;
  const isComparison = operator === 'eq' || ordering.has(operator);
  if (column === null) {
    if (isComparison || (type === jsonb && (operator === 'cs' || operator === 'cd')))
      return { cast: '', symbol: standard, type };
    throw unavailable({ name: `${field.column}->…`, display: type.slice('pg_catalog.'.length) }, condition);
  }
  const own = column.operators?.names[symbol];
  if (own !== undefined) return { cast: `::${column.operators!.type}`, symbol: own, type: column.operators!.type };
  if (isComparison) return { ...comparedType(column, condition), symbol: standard };
  requireContainment(column, condition);
  const isJson = column.type.builtin === 'json';
  return { cast: isJson ? `::${jsonb}` : '', symbol: standard, type: isJson ? jsonb : column.type.sql };
}

/** Types without an equality operator are compared as text, json as jsonb. */
function comparedType(column: TableColumn, condition: Condition): Omit<SelectedOperator, 'symbol'> {
  if (column.comparison === 'none') {
    const common = column.type.builtin === 'json' ? jsonb : 'pg_catalog.text';
    return { cast: `::${common}`, type: common };
  }
  if (column.comparison === 'equal' && condition.operator !== 'eq') throw unavailable(named(column), condition);
  return { cast: '', type: column.type.sql };
}

const rangeOperators: ReadonlySet<FilterOperator> = new Set(['sl', 'sr', 'nxr', 'nxl', 'adj']);

/** Containment and range operators exist in `pg_catalog` for arrays, ranges and JSON. */
function requireContainment(column: TableColumn, condition: Condition): void {
  const { type } = column;
  const { operator } = condition;
  const isJson = type.builtin === 'json' || type.builtin === 'jsonb';
  const isRange = type.kind === 'range';
  const isAvailable = rangeOperators.has(operator)
    ? isRange
    : isRange || type.element !== undefined || (isJson && operator !== 'ov');
  if (!isAvailable) throw unavailable(named(column), condition);
}

interface NamedOperand {
  readonly name: string;
  /** The type, for messages. */
  readonly display: string;
}

function named({ name, type }: TableColumn): NamedOperand {
  return { name, display: type.display };
}

function unavailable(
  { name, display }: NamedOperand,
  { operator }: { readonly operator: FilterOperator | 'order' },
): Problem {
  return queryProblem({
    code: '42883',
    message: `"${operator}" does not exist for column "${name}" of type ${display}`,
  });
}

/** Whether there are related rows: `author=is.null`. */
function relatedSql(related: string, { operator, value, field, parameter }: Condition): SqlText {
  if (operator === 'is' && (value === 'null' || value === 'not_null')) return text(`${related} ${isTests.get(value)!}`);
  throw syntaxProblem(
    parameter,
    `related rows such as "${field.column}" can only be compared by is.null and is.not_null`,
  );
}

const isTests: ReadonlyMap<string, string> = new Map([
  ['null', 'is null'],
  ['not_null', 'is not null'],
  ['true', 'is true'],
  ['false', 'is false'],
  ['unknown', 'is unknown'],
]);

function isSql(operand: Operand, { value, parameter }: Condition): SqlText {
  const word = (value as string).toLowerCase();
  const test = isTests.get(word);
  if (test === undefined) throw syntaxProblem(parameter, `"is" takes ${[...isTests.keys()].join(', ')}`);
  const isBoolean = operand.column === null || operand.column.type.builtin === 'bool';
  if (!word.endsWith('null') && !isBoolean) throw unavailable(named(operand.column!), { operator: 'is' });
  const cast = operand.column === null && !word.endsWith('null') ? '::pg_catalog.bool' : '';
  return sql`${operand.sql}${text(cast)} ${text(test)}`;
}

function inSql(operand: Operand, values: readonly string[], condition: Condition): SqlText {
  const { column } = operand;
  if (column?.type.element !== undefined) throw unavailable(named(column), condition);
  const delimiter = column?.type.delimiter ?? ',';
  const elements = values.map((value) => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
  return compare(operand, {
    ...condition,
    operator: 'eq',
    quantifier: 'any',
    value: `{${elements.join(delimiter)}}`,
  });
}

function searchSql(operand: Operand, { operator, language, value }: Condition): SqlText {
  const configuration =
    language === null ? text('') : sql`${bound(language, 'pg_catalog.regconfig', operand.source)}, `;
  const isVector = operand.column?.type.builtin === 'tsvector';
  const isJson = operand.column === null ? operand.type === jsonb : /^jsonb?$/.test(operand.column.type.builtin ?? '');
  const cast = text(isJson ? '' : '::pg_catalog.text');
  const document = isVector ? operand.sql : sql`pg_catalog.to_tsvector(${configuration}${operand.sql}${cast})`;
  const call = text(`pg_catalog.${searchFunctions[operator]!}(`);
  return sql`${document} operator(pg_catalog.@@) ${call}${configuration}${bound(value as string, 'pg_catalog.text', operand.source)})`;
}

/**
 * Returns the SQL of a field.
 * @throws Problem 42703 for an unknown column
 */
export function fieldSql(aliased: Aliased, field: Field, parameter: string): SqlText {
  return fieldOperand(aliased, field, parameter, false).sql;
}

/**
 * Returns the SQL of a field that rows are ordered by.
 * @throws Problem 42703 for an unknown column, 42883 for a type without an order
 */
export function orderedFieldSql(aliased: Aliased, field: Field, parameter: string): SqlText {
  const { sql: value, column } = fieldOperand(aliased, field, parameter);
  if (column !== null && column.comparison !== 'ordered') throw unavailable(named(column), { operator: 'order' });
  return value;
}

function fieldOperand(
  { relation, alias }: Aliased,
  { column: name, path }: Field,
  parameter: string,
  isCompared = true,
): Operand {
  const column = requireColumn(relation, name);
  const reference = text(`${alias}.${quoteIdentifier(name)}`);
  if (path.length === 0) {
    const source = { name, key: parameter, type: column.type };
    return { sql: reference, type: column.type.sql, column, source };
  }
  const isJson = column.type.builtin === 'json' || column.type.builtin === 'jsonb';
  const source: ValueSource = { name, key: parameter, type: { sql: 'pg_catalog.text', display: 'text' } };
  const value = pathSql(isJson ? reference : sql`pg_catalog.to_jsonb(${reference})`, path, source);
  const isText = path.at(-1)!.gives === 'text';
  const needsCast = isCompared && !isText && column.type.builtin === 'json';
  return {
    sql: needsCast ? sql`(${value})::pg_catalog.jsonb` : sql`(${value})`,
    type: isText ? 'pg_catalog.text' : jsonb,
    column: null,
    source,
  };
}

function pathSql(value: SqlText, path: readonly JsonStep[], source: ValueSource): SqlText {
  const whole = new SqlText().append(value);
  for (const { gives, key } of path) {
    whole.add(` operator(pg_catalog.${gives === 'json' ? '->' : '->>'}) `);
    whole.bind(key, /^-?\d{1,9}$/.test(key) ? 'pg_catalog.int4' : 'pg_catalog.text', source);
  }
  return whole;
}

/** @throws Problem 42703 */
function requireColumn(relation: Relation, name: string): TableColumn {
  const column = relation.columns.get(name);
  if (column !== undefined) return column;
  throw queryProblem({
    code: '42703',
    message: `column ${relation.name}.${name.slice(0, 100)} does not exist`,
    hint: `The columns are ${[...relation.columns.keys()].slice(0, 50).join(', ')}.`,
  });
}
