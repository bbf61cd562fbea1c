import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/boolean-values.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const value = use.text === '' ? true : parseBoolean(use.text);
  if (value === null) {
    return { code: 'bad-argument', message: `${use.name} takes an on or off word, not ${display(use.text)}` };
  }
  if (draft.routine.table === undefined) {
    return { code: 'not-a-table', message: `${use.name} is for tables and views; a routine lists what it returns` };
  }
  draft.set(use, 'listing', value);
  return null;
}

export const listing: Annotation = {
  names: ['listing'],
  syntax: ['listing', 'listing = <on/off>'],
  documentation:
    'Of a table or view: select takes `order`, `limit`, `offset`, `after` and operators such as `price=lt.20`, counts by `Prefer: count=exact`, and tells versions of rows (`ETag`), which update and delete take as `If-Match`.',
  guards: false,
  supported: true,
  fits: (words) => words.length === 0 || (words.length === 1 && parseBoolean(words[0]!) !== null),
  apply,
};
