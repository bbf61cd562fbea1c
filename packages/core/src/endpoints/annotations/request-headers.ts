import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { RequestHeadersBinding } from '../endpoint.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

const modes: readonly RequestHeadersBinding['mode'][] = ['ignore', 'context', 'parameter'];

function applyRequestHeaders(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const mode = modes.find((one) => one === use.text.toLowerCase());
  if (mode === undefined) {
    return {
      code: 'bad-argument',
      message: `${use.name} takes ignore, context or parameter, not ${display(use.text)}`,
    };
  }
  draft.set(use, 'requestHeadersMode', mode);
  return null;
}

export const requestHeaders: Annotation = {
  names: ['request_headers', 'request_headers_mode'],
  syntax: ['request_headers ignore | context | parameter'],
  documentation:
    'How the routine learns the headers of the request, as one JSON object: not at all, from a session setting, or from a json or text parameter with a default.',
  guards: true,
  supported: true,
  apply: applyRequestHeaders,
};

/** Whether the routine has such a parameter is asked when the whole comment is read. */
function applyRequestHeadersParameterName(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  if (use.text === '') return { code: 'bad-argument', message: `${use.name} needs the name of a parameter` };
  draft.set(use, 'requestHeadersParameterName', use.text);
  return null;
}

export const requestHeadersParameterName: Annotation = {
  names: ['request_headers_parameter_name', 'request_headers_param_name'],
  syntax: ['request_headers_parameter_name <name>', 'request_headers_parameter_name = <name>'],
  documentation:
    'The parameter, by its original or converted name, that takes the headers of the request where `request_headers` is `parameter`. It is of type json, jsonb, text or varchar and has a default.',
  guards: true,
  supported: true,
  apply: applyRequestHeadersParameterName,
};
