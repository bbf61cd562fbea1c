import { oneOf, someText } from '../comment/parse-values.ts';
import { type ValueAnnotation, valueAnnotation } from '../comment/value-annotation.ts';
import type { RequestHeadersBinding } from '../endpoint.ts';

type Mode = RequestHeadersBinding['mode'];

export const requestHeaders: ValueAnnotation<Mode> = valueAnnotation({
  key: 'requestHeadersMode',
  names: ['request_headers', 'request_headers_mode'],
  syntax: ['request_headers ignore | context | parameter'],
  documentation:
    'Passes the request headers to the routine as a JSON object: not at all (`ignore`), as a session setting (`context`), or in a json or text parameter with a default (`parameter`).',
  isGuard: true,
  parse: oneOf<Mode>(['ignore', 'context', 'parameter'], 'ignore, context or parameter'),
});

/** The parameter is looked up after the whole comment has been parsed. */
export const requestHeadersParameterName: ValueAnnotation<string> = valueAnnotation({
  key: 'requestHeadersParameterName',
  names: ['request_headers_parameter_name', 'request_headers_param_name'],
  syntax: ['request_headers_parameter_name <name>', 'request_headers_parameter_name = <name>'],
  documentation:
    'The parameter, by its original or converted name, that receives the request headers when `request_headers` is `parameter`. It must be of type json, jsonb, text or varchar and have a default.',
  isGuard: true,
  parse: someText('the name of a parameter'),
});
