import { oneOfSynonyms } from '../comment/parse-values.ts';
import { type ValueAnnotation, valueAnnotation } from '../comment/value-annotation.ts';
import type { ParameterSource } from '../endpoint.ts';

const sources: ReadonlyMap<string, ParameterSource> = new Map([
  ['query_string', 'query'],
  ['query', 'query'],
  ['body_json', 'body'],
  ['body', 'body'],
]);

export const paramType: ValueAnnotation<ParameterSource> = valueAnnotation({
  key: 'parameterSource',
  names: ['request_param_type', 'param_type'],
  syntax: ['request_param_type query_string | query', 'request_param_type body_json | body'],
  documentation:
    'Where parameters come from, independent of the method: a GET with `body_json` reads a JSON body, a POST with `query_string` reads the query string and ignores the body.',
  isGuard: false,
  parse: oneOfSynonyms(sources, 'query_string or body_json'),
});
