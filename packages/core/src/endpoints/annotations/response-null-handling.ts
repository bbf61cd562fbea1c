import { display } from '../display.ts';
import type { Draft } from '../endpoint-builder.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';

const handlings: ReadonlyMap<string, Endpoint['textNull']> = new Map([
  ['empty_string', 'emptyString'],
  ['empty', 'emptyString'],
  ['null_literal', 'nullLiteral'],
  ['null', 'nullLiteral'],
  ['no_content', 'noContent'],
  ['204', 'noContent'],
  ['204_no_content', 'noContent'],
]);

function apply(use: WordUse, draft: Draft): Complaint | null {
  const handling = handlings.get(use.text.toLowerCase().replaceAll('-', '_'));
  if (handling === undefined) {
    return {
      code: 'bad-argument',
      message: `${use.name} takes empty_string, null_literal or no_content, not ${display(use.text)}`,
    };
  }
  draft.set(use, 'textNull', handling);
  return null;
}

export const responseNullHandling: Word = {
  names: ['response_null_handling', 'response_null'],
  syntax: [
    'response_null_handling empty_string | empty',
    'response_null_handling null_literal | null',
    'response_null_handling no_content | 204 | 204_no_content',
  ],
  documentation: 'How a NULL is answered where text is: as an empty body, as the text `NULL`, or as 204.',
  guards: false,
  supported: true,
  apply,
};
