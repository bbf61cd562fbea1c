import { switchValue } from '../comment/boolean-values.ts';
import type { Draft } from '../endpoint-builder.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';

/** Which parameters there are is known when the whole comment has been read. */
function apply(use: WordUse, draft: Draft): Complaint | null {
  const value = use.words.length === 1 ? switchValue(use.text) : null;
  if (value === false) draft.set(use, 'cached', null);
  else draft.set(use, 'cached', value === true || use.words.length === 0 ? 'all' : use.words);
  return null;
}

export const cached: Word = {
  names: ['cached'],
  syntax: ['cached', 'cached <param> …', 'cached = <on/off>'],
  documentation:
    'Keeps answers and gives them again, without a call. Answers are told apart by the values of the parameters that are named, of all of them when none is, and always by whatever the call is told of its caller. For functions that return something, and for `select` of tables and views.',
  guards: false,
  supported: true,
  apply,
};
