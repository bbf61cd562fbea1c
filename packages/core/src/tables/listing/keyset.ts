import type { Value } from '../../postgres/port.ts';
import { castTo, compare, comparing } from '../condition.ts';
import { type Fragment, join, plain } from '../fragment.ts';
import { reference } from '../provided-columns.ts';
import { orderForm, type OrderTerm } from './order.ts';

/** A column of the order, and its value in the last row that the client has. */
export interface Mark extends OrderTerm {
  readonly value: Value;
}

/** The rows that come behind the marked one in this order. */
export function behind(marks: readonly Mark[]): Fragment {
  const [first] = marks;
  const alike = marks.every(({ column, descending }) => column.facts.notNull && descending === first!.descending);
  if (!alike) return oneByOne(marks);
  const operators = new Set(marks.map(({ column }) => comparing(column, '>').operator));
  return operators.size === 1 ? rowComparison(marks) : join([notBefore(first!), oneByOne(marks)], ' and ');
}

const form = (kind: string, marks: readonly Mark[]): string =>
  `${kind}(${marks.map((mark) => `${orderForm(mark)}${mark.value === null ? '0' : ''}`).join(' ')})`;

/** `(a, b) > ($1, $2)`: an index over these columns answers it. */
function rowComparison(marks: readonly Mark[]): Fragment {
  const by = marks.map(({ column, descending }) => comparing(column, descending ? '<' : '>'));
  const columns = marks.map(({ column }, index) => castTo(by[index]!.type, reference(column))).join(', ');
  return {
    form: form('row', marks),
    text: (next) => {
      const values = marks.map((mark, index) => castTo(by[index]!.type, placeholder(mark, next())));
      return `(${columns}) ${by[0]!.operator} (${values.join(', ')})`;
    },
    values: marks.map(bound),
  };
}

/** Says what `oneByOne` implies, in words that an index over the first column answers. */
function notBefore(mark: Mark): Fragment {
  return {
    form: 'from',
    text: (next) => compare(mark.column, mark.descending ? '<=' : '>=', placeholder(mark, next())),
    values: [bound(mark)],
  };
}

/** Level in the columns before, and behind in one: with directions and NULLs of their own there is no shorter way. */
function oneByOne(marks: readonly Mark[]): Fragment {
  const ways = marks.map((mark, index) => {
    const all = join([...marks.slice(0, index).map(level), beyond(mark)], ' and ');
    return { ...all, text: (next: () => string) => `(${all.text(next)})` };
  });
  const all = join(ways, ' or ');
  return { form: form('each', marks), text: (next) => `(${all.text(next)})`, values: all.values };
}

const placeholder = ({ column }: Mark, next: string): string => `${next}::${column.parameter.type.sql}`;
const bound = ({ column, value }: Mark): Fragment['values'][number] => ({ value, owner: column.parameter });

function level(mark: Mark): Fragment {
  const name = reference(mark.column);
  if (mark.value === null) return plain('', `${name} is null`);
  return { form: '', text: (next) => compare(mark.column, '=', placeholder(mark, next())), values: [bound(mark)] };
}

function beyond(mark: Mark): Fragment {
  const { column, descending, nullsFirst, value } = mark;
  const name = reference(column);
  // Behind a NULL comes everything else, or nothing at all.
  if (value === null) return plain('', nullsFirst ? `${name} is not null` : 'false');
  const operator = descending ? '<' : '>';
  const nullsBehind = !nullsFirst && !column.facts.notNull;
  return {
    form: '',
    text: (next) => {
      const further = compare(column, operator, placeholder(mark, next()));
      return nullsBehind ? `(${further} or ${name} is null)` : further;
    },
    values: [bound(mark)],
  };
}
