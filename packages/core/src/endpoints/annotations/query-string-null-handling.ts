import { display } from '../display.ts';
import type { Draft } from '../endpoint-builder.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';

const handlings: ReadonlyMap<string, Endpoint['queryNull']> = new Map([
  ['empty_string', 'emptyString'],
  ['empty', 'emptyString'],
  ['null_literal', 'nullLiteral'],
  ['null', 'nullLiteral'],
  ['ignore', 'ignore'],
]);

function apply(use: WordUse, draft: Draft): Complaint | null {
  const handling = handlings.get(use.text.toLowerCase().replaceAll('-', '_'));
  if (handling === undefined) {
    return {
      code: 'bad-argument',
      message: `${use.name} takes empty_string, null_literal or ignore, not ${display(use.text)}`,
    };
  }
  draft.set(use, 'queryNull', handling);
  return null;
}

export const queryStringNullHandling: Word = {
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
  apply,
};
