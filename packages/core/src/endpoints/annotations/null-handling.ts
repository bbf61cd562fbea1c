import { oneOfSynonyms } from '../comment/parse-values.ts';
import { orOption } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation } from '../comment/value-annotation.ts';
import type { Endpoint } from '../endpoint.ts';

type ResponseHandling = Endpoint['textResponseNullHandling'];

const responseValues: ReadonlyMap<string, ResponseHandling> = new Map([
  ['empty_string', 'emptyString'],
  ['empty', 'emptyString'],
  ['null_literal', 'nullLiteral'],
  ['null', 'nullLiteral'],
  ['no_content', 'noContent'],
  ['204', 'noContent'],
  ['204_no_content', 'noContent'],
]);

export const responseNullHandling: MemberAnnotation<'textResponseNullHandling', ResponseHandling> = memberAnnotation({
  key: 'textResponseNullHandling',
  names: ['response_null_handling', 'response_null'],
  syntax: [
    'response_null_handling empty_string | empty',
    'response_null_handling null_literal | null',
    'response_null_handling no_content | 204 | 204_no_content',
  ],
  documentation: 'The response for a NULL in a text response: an empty body, the text `NULL`, or status 204.',
  isGuard: false,
  parse: oneOfSynonyms(responseValues, 'empty_string, null_literal or no_content'),
  member: 'textResponseNullHandling',
  resolve: (builder) => orOption(builder, responseNullHandling, 'textResponseNullHandling'),
  explained: { name: 'textResponseNullHandling', show: (endpoint) => endpoint.textResponseNullHandling },
});

type QueryHandling = Endpoint['queryStringNullHandling'];

const queryValues: ReadonlyMap<string, QueryHandling> = new Map([
  ['empty_string', 'emptyString'],
  ['empty', 'emptyString'],
  ['null_literal', 'nullLiteral'],
  ['null', 'nullLiteral'],
  ['ignore', 'ignore'],
]);

export const queryStringNullHandling: MemberAnnotation<'queryStringNullHandling', QueryHandling> = memberAnnotation({
  key: 'queryStringNullHandling',
  names: ['query_string_null_handling', 'query_null_handling', 'query_string_null', 'query_null'],
  syntax: [
    'query_string_null_handling empty_string | empty',
    'query_string_null_handling null_literal | null',
    'query_string_null_handling ignore',
  ],
  documentation:
    'Values in the query string that mean NULL. An empty value always means NULL, except for text parameters. `empty_string`: for text parameters too. `null_literal`: also the text `null` in any case. `ignore`: no other value.',
  isGuard: false,
  parse: oneOfSynonyms(queryValues, 'empty_string, null_literal or ignore'),
  member: 'queryStringNullHandling',
  resolve: (builder) => orOption(builder, queryStringNullHandling, 'queryStringNullHandling'),
  explained: { name: 'queryStringNullHandling', show: (endpoint) => endpoint.queryStringNullHandling },
});
