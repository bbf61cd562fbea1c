import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { ParameterSource } from '../endpoint.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

const sources: ReadonlyMap<string, ParameterSource> = new Map([
  ['query_string', 'query'],
  ['query', 'query'],
  ['body_json', 'body'],
  ['body', 'body'],
]);

function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const source = sources.get(use.text.toLowerCase().replaceAll('-', '_'));
  if (source === undefined) {
    return { code: 'bad-argument', message: `${use.name} takes query_string or body_json, not ${display(use.text)}` };
  }
  draft.set(use, 'source', source);
  return null;
}

export const paramType: Annotation = {
  names: ['request_param_type', 'param_type'],
  syntax: ['request_param_type query_string | query', 'request_param_type body_json | body'],
  documentation:
    'Where parameters come from, whatever the method: a GET with `body_json` reads a JSON body, a POST with `query_string` reads the query string and ignores the body.',
  guards: false,
  supported: true,
  apply,
};
