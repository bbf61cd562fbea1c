import type { TableColumn } from '../../catalog/table.ts';
import type { ValueSource } from '../../ports/ports.ts';
import { arrayLiteral } from '../../postgres/literal.ts';
import { type Condition, isState, type Operand, states, writeOperand } from '../parts/condition.ts';
import { type Operation, resolveOperation, standardOperator } from '../parts/operation.ts';
import { boundValue, type TextValue } from '../parts/request-value.ts';
import { quoteIdentifier } from '../../catalog/quote.ts';
import { SqlText, text } from '../parts/sql-text.ts';
import { ReadFault, syntaxFault } from './read-fault.ts';
import type { Field, FieldFilter, Filter, FilterOperator } from './query.ts';
import { columnKey, findColumn, type Relation } from './relation.ts';
import type { RelationColumn } from './representations.ts';
import { callOfRow, type RowFunction } from './row-function.ts';

/** A relation with its alias in a statement. */
export interface Aliased {
  readonly relation: Relation;
  /** Quoted. */
  readonly alias: string;
  /** The SQL of related rows by their name, NULL for none. */
  readonly related?: ReadonlyMap<string, string>;
  /** The relations around it, of a related relation. Absent: none. */
  readonly depth?: number;
  /** Functions of a row, by their name. */
  readonly computed?: ReadonlyMap<string, RowFunction> | undefined;
  /** Whether the alias is that of a CTE, whose rows do not have the type of the relation. */
  readonly isDerived?: boolean;
  /** The form of values of domains with representations. Absent: JSON. */
  readonly valuesAs?: 'json' | 'text' | 'stored' | undefined;
  /** Returns the value of a column in SQL. Absent: the column of the alias. */
  readonly referenceOf?: (column: RelationColumn) => string;
}

/** The value of a field. */
interface FieldOperand extends Operand {
  /** Null for a value of a JSON column. */
  readonly column: RelationColumn | null;
  /** The type of values, in SQL. */
  readonly type: string;
  readonly source: ValueSource;
}

/**
 * Returns the conditions of filters.
 * @throws ReadFault for an unknown column, and for an operator that the type of a column does not have
 */
export function conditionsOf(aliased: Aliased, filters: readonly Filter[]): readonly Condition[] {
  return filters.map((filter) => filterCondition(aliased, filter));
}

function filterCondition(aliased: Aliased, filter: Filter): Condition {
  const condition: Condition =
    filter.kind === 'condition'
      ? testCondition(aliased, filter)
      : { kind: 'group', operator: filter.operator, members: conditionsOf(aliased, filter.members) };
  return filter.negated ? { kind: 'not', condition } : condition;
}

const jsonb = 'pg_catalog.jsonb';

const symbols = {
  eq: '=',
  neq: '=',
  isdistinct: '=',
  in: '=',
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
} as const;

const searchFunctions: Readonly<Partial<Record<FilterOperator, string>>> = {
  fts: 'to_tsquery',
  plfts: 'plainto_tsquery',
  phfts: 'phraseto_tsquery',
  wfts: 'websearch_to_tsquery',
};

const patterns: ReadonlySet<FilterOperator> = new Set(['like', 'ilike', 'match', 'imatch']);

function testCondition(aliased: Aliased, filter: FieldFilter): Condition {
  const { field } = filter;
  const related = field.path.length === 0 ? aliased.related?.get(field.column) : undefined;
  if (related !== undefined && findColumn(aliased.relation, field.column) === undefined)
    return relatedCondition(related, filter);
  return fieldCondition(fieldOperand(aliased, field, filter.parameter), filter);
}

function fieldCondition(operand: FieldOperand, filter: FieldFilter): Condition {
  const { operator } = filter;
  switch (operator) {
    case 'is':
      return stateCondition(operand, filter);
    case 'in':
      return inCondition(operand, filter);
    case 'fts':
    case 'plfts':
    case 'phfts':
    case 'wfts':
      return { kind: 'written', write: (sql) => writeSearch(sql, operand, filter) };
    case 'neq':
      return { kind: 'not', condition: comparison(operand, filter, symbols.neq) };
    case 'isdistinct':
      return { kind: 'notTrue', condition: comparison(operand, filter, symbols.isdistinct) };
    default:
      return comparison(operand, filter, symbols[operator]);
  }
}

type ComparedSymbol = (typeof symbols)[keyof typeof symbols];

function comparison(operand: FieldOperand, filter: FieldFilter, symbol: ComparedSymbol): Condition {
  const parser = operand.column?.representation?.fromText ?? null;
  if (parser !== null && comparisonSymbols.has(symbol)) return parsedComparison(operand, { filter, symbol, parser });
  const { operator, quantifier } = filter;
  const operation = operationOf(operand, filter, symbol);
  return {
    kind: 'comparison',
    operand,
    symbol,
    operation,
    value: boundValue(filter.value, filter.valueIndex, converterOf(operand, operator)),
    type: operation.valueType ?? (patterns.has(operator) ? 'pg_catalog.text' : operand.type),
    source: operand.source,
    quantifier,
  };
}

/** Returns what makes the value of a statement from the text of a request; undefined: it is the text. */
function converterOf({ column }: FieldOperand, operator: FilterOperator): ((text: TextValue) => string) | undefined {
  if (operator === 'in') return (list) => arrayLiteral(list as readonly string[], column?.type.delimiter);
  if (operator !== 'like' && operator !== 'ilike') return undefined;
  // `%` must be encoded in a URL.
  return (pattern) => (pattern as string).replaceAll('*', '%');
}

/** Compares with what a function reads from the text of the request. */
function parsedComparison(
  operand: FieldOperand,
  {
    filter,
    symbol,
    parser,
  }: { readonly filter: FieldFilter; readonly symbol: ComparedSymbol; readonly parser: string },
): Condition {
  const { type, operator } = operationOf(operand, filter, symbol);
  const cast = type === null ? '' : `::${type}`;
  const { quantifier } = filter;
  const value = boundValue(filter.value, filter.valueIndex, converterOf(operand, filter.operator));
  const write = (sql: SqlText): void => {
    writeOperand(sql, operand);
    sql.add(`${cast} ${operator} `);
    if (quantifier === null) {
      sql.add(`${parser}(`).bind(value, 'pg_catalog.text', operand.source).add(`)${cast}`);
      return;
    }
    sql.add(`${quantifier} (array(select ${parser}("value")${cast} from pg_catalog.unnest(`);
    sql.bind(value, 'pg_catalog.text[]', operand.source).add(') "listed" ("value")))');
  };
  return { kind: 'written', write };
}

/** @throws ReadFault */
function operationOf({ type, column }: FieldOperand, filter: FieldFilter, symbol: ComparedSymbol): Operation {
  if (column !== null) {
    const operation = resolveOperation({ facts: column, type: column.type }, symbol);
    if (operation === null) throw unavailable(named(column), filter);
    return operation;
  }
  const operator = standardOperator(symbol);
  if (patterns.has(filter.operator)) return { type: type === jsonb ? 'pg_catalog.text' : null, operator };
  const isContainment = symbol === '@>' || symbol === '<@';
  if (isContainment ? type === jsonb : comparisonSymbols.has(symbol)) return { type: null, operator };
  throw unavailable({ name: `${filter.field.column}->…`, display: type.slice('pg_catalog.'.length) }, filter);
}

const comparisonSymbols: ReadonlySet<string> = new Set(['=', '<', '<=', '>', '>=']);

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
  {
    operator,
    parameter,
    field,
  }: Pick<FieldFilter, 'parameter' | 'field'> & { readonly operator: FilterOperator | 'order' },
): ReadFault {
  const { position } = field;
  return new ReadFault({ kind: 'missing-operator', parameter, position, operator, operand: name, type: display });
}

/** Whether there are related rows: `author=is.null`. */
function relatedCondition(related: string, { operator, value, field, parameter }: FieldFilter): Condition {
  if (operator === 'is' && (value === 'null' || value === 'not_null')) {
    return { kind: 'state', operand: { sql: related }, state: value };
  }
  throw syntaxFault(
    parameter,
    `related rows such as "${field.column}" can only be compared by is.null and is.not_null`,
  );
}

function stateCondition(operand: FieldOperand, filter: FieldFilter): Condition {
  const { value, parameter } = filter;
  const { column } = operand;
  const state = (value as string).toLowerCase();
  if (!isState(state)) throw syntaxFault(parameter, `"is" takes ${Object.keys(states).join(', ')}`);
  if (state.endsWith('null')) return { kind: 'state', operand, state };
  if (column === null) {
    const boolean = new SqlText();
    writeOperand(boolean, operand);
    return { kind: 'state', operand: { sql: boolean.add('::pg_catalog.bool') }, state };
  }
  if (column.type.builtin !== 'bool') throw unavailable(named(column), filter);
  return { kind: 'state', operand, state };
}

function inCondition(operand: FieldOperand, filter: FieldFilter): Condition {
  const { column } = operand;
  if (column?.type.element !== undefined) throw unavailable(named(column), filter);
  return comparison(operand, { ...filter, quantifier: 'any' }, symbols.in);
}

function writeSearch(
  sql: SqlText,
  operand: FieldOperand,
  { operator, language, value, valueIndex }: FieldFilter,
): void {
  const { column, source } = operand;
  const writeConfiguration = (): void => {
    if (language !== null) sql.bind(language, 'pg_catalog.regconfig', source).add(', ');
  };
  const isJson = column === null ? operand.type === jsonb : /^jsonb?$/.test(column.type.builtin ?? '');
  if (column?.type.builtin === 'tsvector') writeOperand(sql, operand);
  else {
    sql.add('pg_catalog.to_tsvector(');
    writeConfiguration();
    writeOperand(sql, operand);
    sql.add(isJson ? ')' : '::pg_catalog.text)');
  }
  sql.add(` operator(pg_catalog.@@) pg_catalog.${searchFunctions[operator]!}(`);
  writeConfiguration();
  sql.bind(boundValue(value, valueIndex), 'pg_catalog.text', source).add(')');
}

/**
 * Returns the value of a field.
 * @throws ReadFault for an unknown column
 */
export function fieldValue(aliased: Aliased, field: Field, parameter: string): Operand {
  return fieldOperand(aliased, field, parameter, false);
}

/**
 * Returns the value of a field that rows are ordered by.
 * @throws ReadFault for an unknown column, and for a type without an order
 */
export function orderedField(aliased: Aliased, field: Field, parameter: string): Operand {
  const operand = fieldOperand(aliased, field, parameter);
  const { column } = operand;
  if (column !== null && column.comparison !== 'ordered')
    throw unavailable(named(column), { operator: 'order', parameter, field });
  return operand;
}

function fieldOperand(aliased: Aliased, field: Field, parameter: string, isCompared = true): FieldOperand {
  const { column: name, path } = field;
  const { column, reference } = readableColumn(aliased, field, parameter);
  if (path.length === 0) {
    return { sql: reference, type: column.type.sql, column, source: { name, key: parameter, type: column.type } };
  }
  const isJson = column.type.builtin === 'json' || column.type.builtin === 'jsonb';
  const source: ValueSource = { name, key: parameter, type: { sql: 'pg_catalog.text', display: 'text' } };
  const value = text('(').add(isJson ? reference : `pg_catalog.to_jsonb(${reference})`);
  writePath(value, field, parameter, source);
  const isText = path.at(-1)!.gives === 'text';
  const needsCast = isCompared && !isText && column.type.builtin === 'json';
  value.add(needsCast ? ')::pg_catalog.jsonb' : ')');
  return { sql: value, type: isText ? 'pg_catalog.text' : jsonb, column: null, source };
}

/** @throws ReadFault for a step after one that gives text */
function writePath(value: SqlText, { path, position }: Field, parameter: string, source: ValueSource): void {
  for (const [index, { gives, key }] of path.entries()) {
    const operator = gives === 'json' ? '->' : '->>';
    const isIndex = /^-?\d{1,9}$/.test(key);
    if (path[index - 1]?.gives === 'text') {
      throw new ReadFault({ kind: 'step-into-text', parameter, position, operator, key, isIndex });
    }
    value.add(` operator(pg_catalog.${operator}) `);
    value.bind(key, isIndex ? 'pg_catalog.int4' : 'pg_catalog.text', source);
  }
}

/**
 * Returns a column of a row, or the function of the row that has its name.
 * @throws ReadFault
 */
function readableColumn(
  aliased: Aliased,
  field: Field,
  parameter: string,
): { readonly column: RelationColumn; readonly reference: string } {
  const { relation, alias, computed, referenceOf } = aliased;
  const { column: name } = field;
  const called = findColumn(relation, name) !== undefined ? undefined : computed?.get(name);
  if (called?.column) return { column: called.column, reference: callOfRow(aliased, called) };
  const column = findColumn(relation, name);
  if (column === undefined) {
    throw new ReadFault({
      kind: 'unknown-column',
      parameter,
      position: field.position,
      relation: relation.name,
      depth: aliased.depth ?? 0,
      column: name,
      columns: [...relation.columns.keys()].map((known) => columnKey(relation, known)),
    });
  }
  return { column, reference: referenceOf?.(column) ?? `${alias}.${quoteIdentifier(column.name)}` };
}
