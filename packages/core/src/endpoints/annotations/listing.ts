import { parseBoolean } from '../comment/lexer.ts';
import { onOff, tablesOnly } from '../comment/parse-values.ts';
import { type ValueAnnotation, valueAnnotation } from '../comment/value-annotation.ts';

export const listing: ValueAnnotation<boolean> = valueAnnotation({
  key: 'listing',
  names: ['listing'],
  syntax: ['listing', 'listing = <on/off>'],
  documentation:
    'Pagination and filtering of tables and views. Select accepts `order`, `limit`, `offset`, `after` and operators such as `price=lt.20`, counts rows for `Prefer: count=exact`, and sends row versions as `ETag`, which update and delete accept as `If-Match`.',
  isGuard: false,
  matches: (words) => words.length === 0 || (words.length === 1 && parseBoolean(words[0]!) !== null),
  parse: onOff(tablesOnly),
});
