import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const value = parsed.text === '' ? true : parseBoolean(parsed.text);
  if (value === null) {
    return { code: 'bad-argument', message: `${parsed.name} takes on or off, not ${display(parsed.text)}` };
  }
  if (builder.routine.table === undefined) {
    return { code: 'not-a-table', message: `${parsed.name} applies to tables and views only; remove the line` };
  }
  builder.set(parsed, 'listing', value);
  return null;
}

export const listing: Annotation = {
  names: ['listing'],
  syntax: ['listing', 'listing = <on/off>'],
  documentation:
    'Pagination and filtering of tables and views. Select accepts `order`, `limit`, `offset`, `after` and operators such as `price=lt.20`, counts rows for `Prefer: count=exact`, and sends row versions as `ETag`, which update and delete accept as `If-Match`.',
  isGuard: false,
  matches: (words) => words.length === 0 || (words.length === 1 && parseBoolean(words[0]!) !== null),
  apply,
};
