import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

const responseValues: ReadonlyMap<string, Endpoint['textResponseNullHandling']> = new Map([
  ['empty_string', 'emptyString'],
  ['empty', 'emptyString'],
  ['null_literal', 'nullLiteral'],
  ['null', 'nullLiteral'],
  ['no_content', 'noContent'],
  ['204', 'noContent'],
  ['204_no_content', 'noContent'],
]);

function applyResponseNullHandling(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const handling = responseValues.get(parsed.text.toLowerCase().replaceAll('-', '_'));
  if (handling === undefined) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} takes empty_string, null_literal or no_content, not ${display(parsed.text)}`,
    };
  }
  builder.set(parsed, 'textResponseNullHandling', handling);
  return null;
}

export const responseNullHandling: Annotation = {
  names: ['response_null_handling', 'response_null'],
  syntax: [
    'response_null_handling empty_string | empty',
    'response_null_handling null_literal | null',
    'response_null_handling no_content | 204 | 204_no_content',
  ],
  documentation: 'The response for a NULL in a text response: an empty body, the text `NULL`, or status 204.',
  isGuard: false,
  apply: applyResponseNullHandling,
};

const queryValues: ReadonlyMap<string, Endpoint['queryStringNullHandling']> = new Map([
  ['empty_string', 'emptyString'],
  ['empty', 'emptyString'],
  ['null_literal', 'nullLiteral'],
  ['null', 'nullLiteral'],
  ['ignore', 'ignore'],
]);

function applyQueryStringNullHandling(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const handling = queryValues.get(parsed.text.toLowerCase().replaceAll('-', '_'));
  if (handling === undefined) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} takes empty_string, null_literal or ignore, not ${display(parsed.text)}`,
    };
  }
  builder.set(parsed, 'queryStringNullHandling', handling);
  return null;
}

export const queryStringNullHandling: Annotation = {
  names: ['query_string_null_handling', 'query_null_handling', 'query_string_null', 'query_null'],
  syntax: [
    'query_string_null_handling empty_string | empty',
    'query_string_null_handling null_literal | null',
    'query_string_null_handling ignore',
  ],
  documentation:
    'Values in the query string that mean NULL. An empty value always means NULL, except for text parameters. `empty_string`: for text parameters too. `null_literal`: also the text `null` in any case. `ignore`: no other value.',
  isGuard: false,
  apply: applyQueryStringNullHandling,
};
