import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const status = /^4\d\d$/.test(parsed.text) ? Number(parsed.text) : null;
  const value = parsed.text === '' || status !== null ? true : parseBoolean(parsed.text);
  if (value === null) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} takes on, off or a status from 400 to 499, not ${display(parsed.text)}`,
    };
  }
  builder.set(parsed, 'fieldErrors', value);
  if (status !== null) builder.set(parsed, 'fieldErrorStatus', status);
  return null;
}

export const fieldErrors: Annotation = {
  names: ['field_errors'],
  syntax: ['field_errors', 'field_errors <status>', 'field_errors = <on/off>'],
  documentation:
    'Lists refused parameters and violated constraints in the member `errors` of a problem ([errors of fields](../guide/errors.md#errors-of-fields)). With a status, such as 422, these problems have this status.',
  isGuard: false,
  apply,
};
