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
    return { code: 'not-a-table', message: `${use.name} is for tables and views` };
  }
  draft.set(use, 'allowUnfilteredDelete', value);
  return null;
}

export const allowUnfilteredDelete: Annotation = {
  names: ['allow_unfiltered_delete'],
  syntax: ['allow_unfiltered_delete', 'allow_unfiltered_delete = <on/off>'],
  documentation:
    'Of a table or view: a delete without any condition deletes every row. Without this word it is refused with status 400.',
  guards: true,
  supported: true,
  apply,
};
