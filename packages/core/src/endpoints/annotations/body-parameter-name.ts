import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

/** The parameter is looked up after the whole comment has been parsed. */
function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  if (parsed.text === '') return { code: 'bad-argument', message: `${parsed.name} needs the name of a parameter` };
  builder.set(parsed, 'bodyParameterName', parsed.text);
  return null;
}

export const bodyParameterName: Annotation = {
  names: ['body_parameter_name', 'body_param_name'],
  syntax: ['body_parameter_name <name>', 'body_parameter_name = <name>'],
  documentation:
    'The parameter, by its original or converted name, that receives the whole request body as text. The other parameters come from the query string. Any type is allowed: PostgreSQL parses the text, so `{1,2}` is an integer array. The method does not change.',
  isGuard: true,
  apply,
};
