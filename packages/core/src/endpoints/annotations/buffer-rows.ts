import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const rows = /^\d{1,9}$/.test(use.text) ? Number(use.text) : null;
  if (rows === null) {
    return { code: 'bad-argument', message: `${use.name} takes a number of rows, not ${display(use.text)}` };
  }
  draft.set(use, 'bufferRows', rows);
  return null;
}

export const bufferRows: Annotation = {
  names: ['buffer_rows', 'buffer'],
  syntax: ['buffer_rows <n>'],
  documentation: 'Rows per write of a set: 0 writes every row on its own, 1 holds the whole answer.',
  guards: false,
  supported: true,
  apply,
};
