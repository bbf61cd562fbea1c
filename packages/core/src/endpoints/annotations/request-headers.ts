import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { RequestHeadersBinding } from '../endpoint.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

const modes: readonly RequestHeadersBinding['mode'][] = ['ignore', 'context', 'parameter'];

function applyRequestHeaders(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const mode = modes.find((name) => name === parsed.text.toLowerCase());
  if (mode === undefined) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} takes ignore, context or parameter, not ${display(parsed.text)}`,
    };
  }
  builder.set(parsed, 'requestHeadersMode', mode);
  return null;
}

export const requestHeaders: Annotation = {
  names: ['request_headers', 'request_headers_mode'],
  syntax: ['request_headers ignore | context | parameter'],
  documentation:
    'Passes the request headers to the routine as a JSON object: not at all (`ignore`), as a session setting (`context`), or in a json or text parameter with a default (`parameter`).',
  isGuard: true,
  apply: applyRequestHeaders,
};

/** The parameter is looked up after the whole comment has been parsed. */
function applyRequestHeadersParameterName(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  if (parsed.text === '') return { code: 'bad-argument', message: `${parsed.name} needs the name of a parameter` };
  builder.set(parsed, 'requestHeadersParameterName', parsed.text);
  return null;
}

export const requestHeadersParameterName: Annotation = {
  names: ['request_headers_parameter_name', 'request_headers_param_name'],
  syntax: ['request_headers_parameter_name <name>', 'request_headers_parameter_name = <name>'],
  documentation:
    'The parameter, by its original or converted name, that receives the request headers when `request_headers` is `parameter`. It must be of type json, jsonb, text or varchar and have a default.',
  isGuard: true,
  apply: applyRequestHeadersParameterName,
};
