import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Endpoint } from '../endpoint.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

const responseValues: ReadonlyMap<string, Endpoint['textResponseNullHandling']> = new Map([
  ['empty_string', 'emptyString'],
  ['empty', 'emptyString'],
  ['null_literal', 'nullLiteral'],
  ['null', 'nullLiteral'],
  ['no_content', 'noContent'],
  ['204', 'noContent'],
  ['204_no_content', 'noContent'],
]);

function applyResponseNullHandling(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const handling = responseValues.get(use.text.toLowerCase().replaceAll('-', '_'));
  if (handling === undefined) {
    return {
      code: 'bad-argument',
      message: `${use.name} takes empty_string, null_literal or no_content, not ${display(use.text)}`,
    };
  }
  draft.set(use, 'textNull', handling);
  return null;
}

export const responseNullHandling: Annotation = {
  names: ['response_null_handling', 'response_null'],
  syntax: [
    'response_null_handling empty_string | empty',
    'response_null_handling null_literal | null',
    'response_null_handling no_content | 204 | 204_no_content',
  ],
  documentation: 'How a NULL is answered where text is: as an empty body, as the text `NULL`, or as 204.',
  guards: false,
  supported: true,
  apply: applyResponseNullHandling,
};

const queryValues: ReadonlyMap<string, Endpoint['queryStringNullHandling']> = new Map([
  ['empty_string', 'emptyString'],
  ['empty', 'emptyString'],
  ['null_literal', 'nullLiteral'],
  ['null', 'nullLiteral'],
  ['ignore', 'ignore'],
]);

function applyQueryStringNullHandling(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const handling = queryValues.get(use.text.toLowerCase().replaceAll('-', '_'));
  if (handling === undefined) {
    return {
      code: 'bad-argument',
      message: `${use.name} takes empty_string, null_literal or ignore, not ${display(use.text)}`,
    };
  }
  draft.set(use, 'queryNull', handling);
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
    'What stands for NULL in the query string: an empty value also for text parameters, the text `null` in any case, or neither.',
  guards: false,
  supported: true,
  apply: applyQueryStringNullHandling,
};
