import type { Value } from '../../postgres/port.ts';
import { castIfNeeded, comparisonSql, resolveComparison } from '../condition.ts';
import { type Fragment, joinFragments, textFragment } from '../fragment.ts';
import { columnReference } from '../provided-columns.ts';
import { type OrderTerm, orderTermKey } from './order.ts';

/** An order term, and its value in the last row of the previous page. */
export interface KeysetValue extends OrderTerm {
  readonly value: Value;
}

/** Returns the condition of keyset pagination: the rows after the given one. */
export function afterRow(keyset: readonly KeysetValue[]): Fragment {
  const [first] = keyset;
  const uniform = keyset.every(({ column, descending }) => column.facts.notNull && descending === first!.descending);
  if (!uniform) return compareTermByTerm(keyset);
  const operators = new Set(keyset.map(({ column }) => resolveComparison(column, '>').operator));
  return operators.size === 1
    ? compareRows(keyset)
    : joinFragments([notBefore(first!), compareTermByTerm(keyset)], ' and ');
}

const keysetKey = (kind: string, keyset: readonly KeysetValue[]): string =>
  `${kind}(${keyset.map((entry) => `${orderTermKey(entry)}${entry.value === null ? '0' : ''}`).join(' ')})`;

/** `(a, b) > ($1, $2)`, which an index on these columns supports. */
function compareRows(keyset: readonly KeysetValue[]): Fragment {
  const operations = keyset.map(({ column, descending }) => resolveComparison(column, descending ? '<' : '>'));
  const columns = keyset.map(({ column }, index) => castIfNeeded(operations[index]!.type, columnReference(column)));
  return {
    key: keysetKey('row', keyset),
    text: (next) => {
      const values = keyset.map((entry, index) => castIfNeeded(operations[index]!.type, placeholder(entry, next())));
      return `(${columns.join(', ')}) ${operations[0]!.operator} (${values.join(', ')})`;
    },
    values: keyset.map(boundValue),
  };
}

/** Repeats what `compareTermByTerm` implies, as a condition that an index on the first column supports. */
function notBefore(first: KeysetValue): Fragment {
  return {
    key: 'from',
    text: (next) => comparisonSql(first.column, first.descending ? '<=' : '>=', placeholder(first, next())),
    values: [boundValue(first)],
  };
}

/** `a > $1 or (a = $2 and b < $3)`, for orders with several directions or with NULLs. */
function compareTermByTerm(keyset: readonly KeysetValue[]): Fragment {
  const alternatives = keyset.map((entry, index) => {
    const all = joinFragments([...keyset.slice(0, index).map(equals), comesAfter(entry)], ' and ');
    return { ...all, text: (next: () => string) => `(${all.text(next)})` };
  });
  const any = joinFragments(alternatives, ' or ');
  return { key: keysetKey('each', keyset), text: (next) => `(${any.text(next)})`, values: any.values };
}

const placeholder = ({ column }: KeysetValue, next: string): string => `${next}::${column.parameter.type.sql}`;
const boundValue = ({ column, value }: KeysetValue): Fragment['values'][number] => ({
  value,
  source: column.parameter,
});

function equals(entry: KeysetValue): Fragment {
  if (entry.value === null) return textFragment('', `${columnReference(entry.column)} is null`);
  return {
    key: '',
    text: (next) => comparisonSql(entry.column, '=', placeholder(entry, next())),
    values: [boundValue(entry)],
  };
}

function comesAfter(entry: KeysetValue): Fragment {
  const { column, descending, nullsFirst, value } = entry;
  const reference = columnReference(column);
  if (value === null) return textFragment('', nullsFirst ? `${reference} is not null` : 'false');
  const operator = descending ? '<' : '>';
  const includesNulls = !nullsFirst && !column.facts.notNull;
  return {
    key: '',
    text: (next) => {
      const comparison = comparisonSql(column, operator, placeholder(entry, next()));
      return includesNulls ? `(${comparison} or ${reference} is null)` : comparison;
    },
    values: [boundValue(entry)],
  };
}
