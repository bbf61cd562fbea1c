import { ReadFault, syntaxFault } from './read-fault.ts';
import { maxFilters, parseCondition, parseGroup, parseOrder, tooMany } from './parse-filters.ts';
import { parseSelect } from './parse-select.ts';
import { emptyLevel, type Field, type Filter, type Level, type ReadQuery } from './query.ts';
import { Scanner } from './scanner.ts';

/** Parameters that concern writes. */
const otherParameters: ReadonlySet<string> = new Set(['columns', 'on_conflict']);

type MutableLevel = {
  -readonly [Key in keyof Level]: Level[Key] extends readonly (infer Item)[] ? Item[] : Level[Key];
};

/**
 * Parses the parameters of a request to read.
 * @param values the texts of the query string, by key
 * @param isOther whether a parameter is not part of the read
 * @throws ReadFault
 */
export function parseReadQuery(
  values: ReadonlyMap<string, readonly string[]>,
  isOther: (name: string, value: string) => boolean = () => false,
): ReadQuery {
  const levels = new Map<string, MutableLevel>();
  const levelOf = (path: string): MutableLevel => {
    let level = levels.get(path);
    if (level === undefined) levels.set(path, (level = { ...emptyLevel, filters: [], order: [] }));
    return level;
  };
  let filters = 0;
  for (const [parameter, all] of values) {
    const texts = all.filter((text) => !isOther(parameter, text));
    if (texts.length === 0 || parameter === 'select' || otherParameters.has(parameter)) continue;
    const key = parseKey(parameter);
    for (const text of texts) readParameter(levelOf(key.path), { ...key, parameter, text });
    filters += texts.length;
    if (filters > maxFilters) throw tooMany();
  }
  const selects = values.get('select')?.filter((text) => !isOther('select', text));
  return { items: parseSelect(single('select', selects) ?? '*'), levels };
}

function single(parameter: string, texts: readonly string[] | undefined): string | undefined {
  if (texts === undefined || texts.length <= 1) return texts?.[0];
  throw syntaxFault(parameter, 'it is given more than once');
}

type Purpose = 'order' | 'limit' | 'offset' | 'and' | 'or' | 'filter';

interface ParameterKey {
  /** The path of related rows; '' for the outer relation. */
  readonly path: string;
  readonly purpose: Purpose;
  readonly negated: boolean;
  /** Null unless the purpose is `filter`. */
  readonly field: Field | null;
}

const purposes: ReadonlySet<string> = new Set(['order', 'limit', 'offset', 'and', 'or']);

/** Reads a key such as `author.books.order`, `author.not.or` or `author.data->>name`. */
function parseKey(parameter: string): ParameterKey {
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

function readParameter(level: MutableLevel, { parameter, purpose, negated, field, text }: Parameter): void {
  switch (purpose) {
    case 'order':
      if (level.order.length > 0) throw syntaxFault(parameter, 'it is given more than once');
      level.order.push(...parseOrder(parameter, text));
      return;
    case 'limit':
      level.limit = parseLimit(parameter, text);
      return;
    case 'offset':
      // As in PostgREST, a negative offset is none.
      level.offset = Math.max(0, parseInteger(parameter, text));
      return;
    case 'and':
    case 'or':
      level.filters.push(parseGroup(parameter, purpose, negated, text));
      if (countConditions(level.filters) > maxFilters) throw tooMany();
      return;
    case 'filter':
      level.filters.push(parseCondition(parameter, field!, text));
  }
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
