import type { Value } from '../../postgres/port.ts';
import { castIfNeeded, comparisonSql, resolveComparison } from '../condition.ts';
import { type Fragment, joinFragments, textFragment } from '../fragment.ts';
import { columnReference } from '../provided-columns.ts';
import { orderTermForm, type OrderTerm } from './order.ts';

/** A column of the order, and its value in the last row that the client has. */
export interface KeysetValue extends OrderTerm {
  readonly value: Value;
}

/** The rows that come behind the marked one in this order. */
export function afterRow(marks: readonly KeysetValue[]): Fragment {
  const [first] = marks;
  const alike = marks.every(({ column, descending }) => column.facts.notNull && descending === first!.descending);
  if (!alike) return oneByOne(marks);
  const operators = new Set(marks.map(({ column }) => resolveComparison(column, '>').operator));
  return operators.size === 1 ? rowComparison(marks) : joinFragments([notBefore(first!), oneByOne(marks)], ' and ');
}

const form = (kind: string, marks: readonly KeysetValue[]): string =>
  `${kind}(${marks.map((mark) => `${orderTermForm(mark)}${mark.value === null ? '0' : ''}`).join(' ')})`;

/** `(a, b) > ($1, $2)`: an index over these columns answers it. */
function rowComparison(marks: readonly KeysetValue[]): Fragment {
  const by = marks.map(({ column, descending }) => resolveComparison(column, descending ? '<' : '>'));
  const columns = marks.map(({ column }, index) => castIfNeeded(by[index]!.type, columnReference(column))).join(', ');
  return {
    form: form('row', marks),
    text: (next) => {
      const values = marks.map((mark, index) => castIfNeeded(by[index]!.type, placeholder(mark, next())));
      return `(${columns}) ${by[0]!.operator} (${values.join(', ')})`;
    },
    values: marks.map(bound),
  };
}

/** Says what `oneByOne` implies, in words that an index over the first column answers. */
function notBefore(mark: KeysetValue): Fragment {
  return {
    form: 'from',
    text: (next) => comparisonSql(mark.column, mark.descending ? '<=' : '>=', placeholder(mark, next())),
    values: [bound(mark)],
  };
}

/** Level in the columns before, and behind in one: with directions and NULLs of their own there is no shorter way. */
function oneByOne(marks: readonly KeysetValue[]): Fragment {
  const ways = marks.map((mark, index) => {
    const all = joinFragments([...marks.slice(0, index).map(level), beyond(mark)], ' and ');
    return { ...all, text: (next: () => string) => `(${all.text(next)})` };
  });
  const all = joinFragments(ways, ' or ');
  return { form: form('each', marks), text: (next) => `(${all.text(next)})`, values: all.values };
}

const placeholder = ({ column }: KeysetValue, next: string): string => `${next}::${column.parameter.type.sql}`;
const bound = ({ column, value }: KeysetValue): Fragment['values'][number] => ({ value, owner: column.parameter });

function level(mark: KeysetValue): Fragment {
  const name = columnReference(mark.column);
  if (mark.value === null) return textFragment('', `${name} is null`);
  return {
    form: '',
    text: (next) => comparisonSql(mark.column, '=', placeholder(mark, next())),
    values: [bound(mark)],
  };
}

function beyond(mark: KeysetValue): Fragment {
  const { column, descending, nullsFirst, value } = mark;
  const name = columnReference(column);
  // Behind a NULL comes everything else, or nothing at all.
  if (value === null) return textFragment('', nullsFirst ? `${name} is not null` : 'false');
  const operator = descending ? '<' : '>';
  const nullsBehind = !nullsFirst && !column.facts.notNull;
  return {
    form: '',
    text: (next) => {
      const further = comparisonSql(column, operator, placeholder(mark, next()));
      return nullsBehind ? `(${further} or ${name} is null)` : further;
    },
    values: [bound(mark)],
  };
}
