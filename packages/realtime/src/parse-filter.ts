import { display, type Filter, parseCondition } from '@pgway/core/internal';
import { maxConditions } from './limits.ts';
import { Refusal } from './refusal.ts';

const operators: ReadonlySet<string> = new Set(
  'eq neq lt lte gt gte in like ilike is match imatch isdistinct'.split(' '),
);

/** A comma ends a condition only before the next one, so that a text without quotes may have commas. */
const nextCondition = /,\s*(?=(?:"(?:[^"\\]|\\.)*"|[^\s"=,().]+)=(?:not\.)?[a-z]+\.)/y;

/**
 * Parses the filter of a binding: `status=eq.open,amount=gt.10`, of which a row meets all conditions. Values and lists are those of PostgREST.
 * @throws Refusal for another form, ReadFault for a value that is not one of its operator
 */
export function parseFilter(filter: string): readonly Filter[] {
  if (filter === '') return [];
  const conditions = splitConditions(filter);
  if (conditions.length > maxConditions)
    throw new Refusal(`The filter has ${conditions.length} conditions; use at most ${maxConditions}`);
  return conditions.map(toCondition);
}

/** Quotes and parentheses enclose commas that belong to a value. */
function splitConditions(filter: string): readonly string[] {
  const conditions: string[] = [];
  let depth = 0;
  let start = 0;
  // After a quote that nothing closes, every further one is escaped and closes nothing either.
  let hasQuotes = true;
  for (let index = 0; index < filter.length; index++) {
    const character = filter[index]!;
    if (character === '"' && hasQuotes) {
      const end = endOfQuoted(filter, index);
      if (end === null) hasQuotes = false;
      else index = end;
    } else if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (character === ',' && depth <= 0) {
      nextCondition.lastIndex = index;
      if (!nextCondition.test(filter)) continue;
      conditions.push(filter.slice(start, index));
      start = nextCondition.lastIndex;
      index = start - 1;
      depth = 0;
    }
  }
  return [...conditions, filter.slice(start)];
}

/** Returns the position of the closing quote; null without one. */
function endOfQuoted(text: string, start: number): number | null {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === '\\') index++;
    else if (text[index] === '"') return index;
  }
  return null;
}

/** A text without leading blanks. Neighbouring parts match different characters: texts of another form are refused in linear time. */
const conditionForm = /^(?<column>"(?:[^"\\]|\\.)*"\s*|[^"=]+)=(?<not>not\.)?(?<operator>[a-z]+)\.(?<value>[^]*)$/;

function toCondition(text: string): Filter {
  const { column, not = '', operator, value } = conditionForm.exec(text.trimStart())?.groups ?? {};
  if (column === undefined || operator === undefined || value === undefined)
    throw new Refusal(`The filter ${display(text)} is not <column>=<operator>.<value>, as in id=eq.1`);
  if (!operators.has(operator))
    throw new Refusal(
      `The filter ${display(text)} has an unknown operator; the operators are ${[...operators].join(', ')}`,
    );
  const name = unquote(column.trimEnd());
  const operand = operator === 'in' ? value : unquote(value);
  return parseCondition(name, { column: name, path: [] }, `${not}${operator}.${operand}`);
}

function unquote(text: string): string {
  return /^"(?:[^"\\]|\\.)*"$/s.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : text;
}
