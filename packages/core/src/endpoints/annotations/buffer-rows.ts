import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const rows = /^\d{1,9}$/.test(parsed.text) ? Number(parsed.text) : null;
  if (rows === null) {
    return { code: 'bad-argument', message: `${parsed.name} takes a number of rows, not ${display(parsed.text)}` };
  }
  builder.set(parsed, 'bufferRows', rows);
  return null;
}

export const bufferRows: Annotation = {
  names: ['buffer_rows', 'buffer'],
  syntax: ['buffer_rows <n>'],
  documentation: 'Number of rows per write to the client: 0 writes each row separately, 1 buffers the whole response.',
  isGuard: false,
  apply,
};
