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
  builder.set(parsed, 'allowUnfilteredDelete', value);
  return null;
}

export const allowUnfilteredDelete: Annotation = {
  names: ['allow_unfiltered_delete'],
  syntax: ['allow_unfiltered_delete', 'allow_unfiltered_delete = <on/off>'],
  documentation:
    'Tables and views only. A delete without a condition deletes all rows. Without this annotation, such a request gets status 400.',
  isGuard: true,
  apply,
};
