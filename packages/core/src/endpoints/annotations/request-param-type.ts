import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { ParameterSource } from '../endpoint.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

const sources: ReadonlyMap<string, ParameterSource> = new Map([
  ['query_string', 'query'],
  ['query', 'query'],
  ['body_json', 'body'],
  ['body', 'body'],
]);

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const source = sources.get(parsed.text.toLowerCase().replaceAll('-', '_'));
  if (source === undefined) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} takes query_string or body_json, not ${display(parsed.text)}`,
    };
  }
  builder.set(parsed, 'parameterSource', source);
  return null;
}

export const paramType: Annotation = {
  names: ['request_param_type', 'param_type'],
  syntax: ['request_param_type query_string | query', 'request_param_type body_json | body'],
  documentation:
    'Where parameters come from, independent of the method: a GET with `body_json` reads a JSON body, a POST with `query_string` reads the query string and ignores the body.',
  isGuard: false,
  apply,
};
