import { display } from '../display.ts';
import type { Draft } from '../endpoint-builder.ts';
import { parseInterval } from '../comment/interval.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';

/** What the author meant cannot be guessed, and without it answers would be kept for as long as there is room. */
function apply(use: WordUse, draft: Draft): Complaint | null {
  const expires = parseInterval(use.text);
  if (expires === null || expires === 0) {
    return {
      code: 'bad-argument',
      severity: 'error',
      message: `${use.name} takes seconds or an interval such as 10s or 5 min, more than 0 and at most 24 days, not ${display(use.text)}`,
    };
  }
  draft.set(use, 'cacheExpires', expires);
  return null;
}

export const cacheExpiresIn: Word = {
  names: ['cache_expires_in', 'cache_expires'],
  syntax: ['cache_expires_in <interval>', 'cache_expires = <interval>'],
  documentation:
    'How long an answer that is `cached` is given again: seconds, or an interval such as `10s`, `5 min`, `3h`, `2 days`. Without it, until it is made void or others need the room.',
  guards: false,
  supported: true,
  apply,
};
