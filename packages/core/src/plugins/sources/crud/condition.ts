import type { Value } from '../../../database/port.ts';
import { type Fragment, join, plain } from './fragment.ts';
import { type GivenColumn, reference, type TableColumn } from './given.ts';

/** `=` or `<>` of a column and a value. A type without an equality of its own is compared by its text, json by its meaning. */
export function compared(column: TableColumn, operator: '=' | '<>', value: Value): Fragment {
  const { facts, parameter } = column;
  const { position, type } = parameter;
  if (value === null) {
    const not = operator === '=' ? '' : 'not ';
    return plain(`${position}${operator}null`, `${reference(column)} is ${not}null`);
  }
  const as = facts.comparison !== 'none' ? '' : type.builtin === 'json' ? '::pg_catalog.jsonb' : '::pg_catalog.text';
  return {
    form: `${position}${operator}`,
    text: (next) => `${reference(column)}${as} ${operator} ${next()}::${type.sql}${as}`,
    values: [{ value, owner: parameter }],
  };
}

/** Every given column equals its value; NULL is asked for by `is null`, which an index can answer. */
export function equalities(given: readonly GivenColumn[]): readonly Fragment[] {
  return given.map((column) => compared(column, '=', column.value));
}

/** ` where …`, or nothing where there is no condition. */
export function where(conditions: readonly Fragment[]): Fragment {
  if (conditions.length === 0) return plain('', '');
  const all = join(conditions, ' and ');
  return { ...all, text: (next) => ` where ${all.text(next)}` };
}
