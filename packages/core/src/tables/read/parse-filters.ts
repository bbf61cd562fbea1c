import {
  type Field,
  type FieldFilter,
  type Filter,
  type FilterGroup,
  type FilterOperator,
  filterOperators,
  type OrderTerm,
} from './query.ts';

import { nearestName } from '../../validation/suggestion.ts';
import { type ReadFault, syntaxFault } from './read-fault.ts';
import { Scanner } from './scanner.ts';

const maxGroupDepth = 16;

/** Operators that take `(any)` and `(all)`. */
const quantifiable: ReadonlySet<string> = new Set(['eq', 'gt', 'gte', 'lt', 'lte', 'like', 'ilike', 'match', 'imatch']);
const searches: ReadonlySet<string> = new Set(['fts', 'plfts', 'phfts', 'wfts']);

/**
 * Parses a filter of the query string: `age=gte.18`.
 * @throws ReadFault
 */
export function parseCondition(parameter: string, field: Field, text: string): FieldFilter {
  const scanner = new Scanner(parameter, text);
  const operation = parseOperation(scanner);
  const value = operation.operator === 'in' ? parseList(scanner) : scanner.match(rest);
  if (!scanner.isAtEnd) throw scanner.problem('the end is expected');
  return { kind: 'condition', parameter, field, ...operation, value };
}

/**
 * Parses a group: `or=(age.lt.18,age.gt.65)`.
 * @throws ReadFault
 */
export function parseGroup(parameter: string, operator: 'and' | 'or', negated: boolean, text: string): FilterGroup {
  const scanner = new Scanner(parameter, text);
  const members = parseMembers(scanner, 1);
  scanner.finish('the end');
  return { kind: 'group', operator, negated, members };
}

/**
 * Parses `order`: `age.desc.nullslast,author(name)`.
 * @throws ReadFault
 */
export function parseOrder(parameter: string, text: string): readonly OrderTerm[] {
  const scanner = new Scanner(parameter, text);
  const terms: OrderTerm[] = [];
  do terms.push(parseTerm(scanner));
  while (scanner.accept(','));
  if (!scanner.isAtEnd) throw scanner.problem('"," is expected');
  if (terms.length > maxTerms) throw scanner.problem(`there are more than ${maxTerms} terms`);
  return terms;
}

const maxTerms = 32;
/** Conditions of all levels: each combination is a statement. */
export const maxFilters = 100;

export function tooMany(): ReadFault {
  return syntaxFault('query', `there are more than ${maxFilters} filters; give at most ${maxFilters}`);
}

function parseTerm(scanner: Scanner): OrderTerm {
  const name = scanner.name();
  const isRelated = scanner.accept('(');
  const field = isRelated ? scanner.field() : { column: name, path: scanner.path() };
  if (isRelated) scanner.require(')');
  let descending = false;
  let nulls: OrderTerm['nulls'] = null;
  while (scanner.accept('.')) {
    const word = scanner.match(/[a-z]+/y);
    if (word === 'asc' || word === 'desc') descending = word === 'desc';
    else if (word === 'nullsfirst' || word === 'nullslast') nulls = word === 'nullsfirst' ? 'first' : 'last';
    else throw scanner.problem('asc, desc, nullsfirst or nullslast is expected');
  }
  return { relation: isRelated ? name : null, field, descending, nulls };
}

function parseMembers(scanner: Scanner, depth: number): readonly Filter[] {
  if (depth > maxGroupDepth) throw scanner.problem(`groups are nested deeper than ${maxGroupDepth} levels`);
  scanner.require('(');
  const members: Filter[] = [];
  do {
    members.push(parseMember(scanner, depth));
    if (members.length > maxFilters) throw tooMany();
    scanner.match(blanks);
  } while (scanner.accept(','));
  scanner.require(')');
  return members;
}

function parseMember(scanner: Scanner, depth: number): Filter {
  scanner.match(blanks);
  const prefix = scanner.match(/(?:not\.)?(?:and|or)(?= *\()/y);
  if (prefix !== '') {
    scanner.match(blanks);
    const operator = prefix.endsWith('and') ? 'and' : 'or';
    const negated = prefix.startsWith('not.');
    scanner.match(blanks);
    return { kind: 'group', operator, negated, members: parseMembers(scanner, depth + 1) };
  }
  const field = scanner.field();
  scanner.require('.');
  const operation = parseOperation(scanner);
  const value = operation.operator === 'in' ? parseList(scanner) : parseMemberValue(scanner);
  return { kind: 'condition', parameter: scanner.parameter, field, ...operation, value };
}

type Operation = Pick<FieldFilter, 'negated' | 'operator' | 'quantifier' | 'language'>;

function parseOperation(scanner: Scanner): Operation {
  const negated = scanner.accept('not.');
  const name = scanner.match(/\w+/y);
  const modifier = scanner.match(/\([^()]*\)/y).slice(1, -1);
  if (!(filterOperators as readonly string[]).includes(name)) throw unknownOperator(scanner.parameter, name);
  const operator = name as FilterOperator;
  if (!scanner.accept('.')) throw scanner.problem(`"." is expected after the operator "${name}"`);
  if (modifier === '') return { negated, operator, quantifier: null, language: null };
  if (searches.has(operator)) return { negated, operator, quantifier: null, language: modifier };
  if (!quantifiable.has(operator) || (modifier !== 'any' && modifier !== 'all')) {
    throw scanner.problem(`the operator "${name}" does not take "(${modifier.slice(0, 40)})"`);
  }
  return { negated, operator, quantifier: modifier, language: null };
}

function suggestion(name: string): string {
  // Longer texts resemble none.
  const nearest = name.length > 20 ? null : nearestName(name, filterOperators);
  return nearest === null ? '' : `did you mean ${nearest}? `;
}

function unknownOperator(parameter: string, name: string): ReadFault {
  return syntaxFault(
    parameter,
    name === ''
      ? 'an operator is expected, as in eq.1'
      : `"${name.slice(0, 40)}" is not an operator; ${suggestion(name)}the operators are ${filterOperators.join(', ')}`,
  );
}

const blanks = / */y;
const rest = /[^]*/y;
const plainValue = /[^,()]*/y;
/** An array, range or JSON value with its brackets, in which commas stand. */
const bracketedValue =
  /\{(?:[^{}"]|"(?:[^"\\]|\\.)*"|\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\})*\}|[[(][^,[\]()]*,[^,[\]()]*[\])]/sy;

export function parseList(scanner: Scanner): readonly string[] {
  scanner.require('(');
  scanner.match(blanks);
  const values: string[] = [];
  if (scanner.accept(')')) return values;
  do values.push(scanner.element());
  while (scanner.accept(','));
  scanner.require(')');
  return values;
}

function parseMemberValue(scanner: Scanner): string {
  if (scanner.sees('"')) return scanner.quoted();
  const bracketed = scanner.match(bracketedValue);
  return bracketed === '' ? scanner.match(plainValue) : bracketed;
}
