import { ReadFault, syntaxFault } from './read-fault.ts';
import { maxFilters, parseCondition, parseGroup, parseOrder, tooMany } from './parse-filters.ts';
import { parseSelect } from './parse-select.ts';
import type { TextValue } from '../parts/request-value.ts';
import { emptyLevel, type Field, type Filter, isPartOfShape, type Level, type ReadQuery } from './query.ts';
import { Scanner } from './scanner.ts';

/** Parameters that concern writes. */
export const otherParameters: ReadonlySet<string> = new Set(['columns', 'on_conflict']);

type MutableLevel = {
  -readonly [Key in keyof Level]: Level[Key] extends readonly (infer Item)[] ? Item[] : Level[Key];
};

/**
 * Parses the parameters of a request to read.
 * @param values the texts of the query string, by key
 * @param isOther whether a parameter is not part of the read
 * @param texts receives the values, whose indexes the query has then; null: the query is for one request
 * @throws ReadFault
 */
export function parseReadQuery(
  values: ReadonlyMap<string, readonly string[]>,
  isOther: (name: string, value: string) => boolean = () => false,
  texts: TextValue[] | null = null,
): ReadQuery {
  const levels = new Map<string, MutableLevel>();
  const levelOf = (path: string): MutableLevel => {
    let level = levels.get(path);
    if (level === undefined) levels.set(path, (level = { ...emptyLevel, filters: [], order: [] }));
    return level;
  };
  let filters = 0;
  for (const [parameter, all] of values) {
    const own = all.filter((text) => !isOther(parameter, text));
    if (own.length === 0 || parameter === 'select' || otherParameters.has(parameter)) continue;
    const key = parseKey(parameter);
    for (const text of own) readParameter(levelOf(key.path), { ...key, parameter, text }, texts);
    filters += own.length;
    if (filters > maxFilters) throw tooMany();
  }
  const selects = values.get('select')?.filter((text) => !isOther('select', text));
  return { items: parseSelect(single('select', selects) ?? '*'), levels };
}

function single(parameter: string, texts: readonly string[] | undefined): string | undefined {
  if (texts === undefined || texts.length <= 1) return texts?.[0];
  throw syntaxFault(parameter, 'it is given more than once');
}

export type Purpose = 'order' | 'limit' | 'offset' | 'and' | 'or' | 'filter';

export interface ParameterKey {
  /** The path of related rows; '' for the outer relation. */
  readonly path: string;
  readonly purpose: Purpose;
  readonly negated: boolean;
  /** Null unless the purpose is `filter`. */
  readonly field: Field | null;
}

/** The purposes that a name has by its last part. */
const purposes: ReadonlySet<string> = new Set(['order', 'limit', 'offset', 'and', 'or']);

/** Reads a key such as `author.books.order`, `author.not.or` or `author.data->>name`. */
export function parseKey(parameter: string): ParameterKey {
  const scanner = new Scanner(parameter, parameter);
  const names = [scanner.name()];
  while (scanner.accept('.')) names.push(scanner.name());
  const path = scanner.path();
  if (!scanner.isAtEnd) throw scanner.problem('the end of the name is expected');
  const last = names.pop()!;
  const isPurpose = path.length === 0 && purposes.has(last);
  const negated = isPurpose && names.at(-1) === 'not';
  if (negated) names.pop();
  return {
    path: names.join('.'),
    purpose: isPurpose ? (last as Purpose) : 'filter',
    negated,
    field: isPurpose ? null : { column: last, path },
  };
}

interface Parameter extends ParameterKey {
  readonly parameter: string;
  readonly text: string;
}

function readParameter(
  level: MutableLevel,
  { parameter, purpose, negated, field, text }: Parameter,
  texts: TextValue[] | null,
): void {
  switch (purpose) {
    case 'order':
      if (level.order.length > 0) throw syntaxFault(parameter, 'it is given more than once');
      level.order.push(...parseOrder(parameter, text));
      return;
    case 'limit':
      level.limit = parseLimit(parameter, text);
      if (texts !== null) level.limitIndex = texts.push(text) - 1;
      return;
    case 'offset':
      // As in PostgREST, a negative offset is none.
      level.offset = Math.max(0, parseInteger(parameter, text));
      if (texts !== null) level.offsetIndex = texts.push(text) - 1;
      return;
    case 'and':
    case 'or':
      level.filters.push(withIndexes(parseGroup(parameter, purpose, negated, text), texts));
      if (countConditions(level.filters) > maxFilters) throw tooMany();
      return;
    case 'filter':
      level.filters.push(withIndexes(parseCondition(parameter, field!, text), texts));
  }
}

/** Returns a filter with the indexes of its values, which it adds to the texts. */
function withIndexes(filter: Filter, texts: TextValue[] | null): Filter {
  if (texts === null) return filter;
  if (filter.kind === 'group')
    return { ...filter, members: filter.members.map((member) => withIndexes(member, texts)) };
  return isPartOfShape(filter) ? filter : { ...filter, valueIndex: texts.push(filter.value) - 1 };
}

function countConditions(filters: readonly Filter[]): number {
  return filters.reduce((sum, filter) => sum + (filter.kind === 'group' ? countConditions(filter.members) : 1), 0);
}

/** @throws ReadFault for a negative one */
function parseLimit(parameter: string, text: string): number {
  const limit = parseInteger(parameter, text);
  if (limit >= 0) return limit;
  throw new ReadFault({ kind: 'negative-limit', parameter });
}

function parseInteger(parameter: string, text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw syntaxFault(parameter, 'a number from 0 on is expected');
}
