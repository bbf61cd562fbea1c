import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

/** Whether the routine has such a parameter is asked when the whole comment is read. */
function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  if (use.text === '') return { code: 'bad-argument', message: `${use.name} needs the name of a parameter` };
  draft.set(use, 'bodyParameterName', use.text);
  return null;
}

export const bodyParameterName: Annotation = {
  names: ['body_parameter_name', 'body_param_name'],
  syntax: ['body_parameter_name <name>', 'body_parameter_name = <name>'],
  documentation:
    'The parameter, by its original or converted name, that takes the body of the request as it is; the others come from the query string. It may be of any type: PostgreSQL reads the text, so that `{1,2}` is an array of integers. The method stays as it is.',
  guards: true,
  supported: true,
  apply,
};
