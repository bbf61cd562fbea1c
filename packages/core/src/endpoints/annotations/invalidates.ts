import type { Draft } from '../endpoint-builder.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';

function apply(use: WordUse, draft: Draft): Complaint | null {
  if (use.words.length === 0) {
    return { code: 'bad-argument', message: `${use.name} names no routine or table` };
  }
  for (const name of use.words) draft.invalidates.push({ name, line: use.line });
  draft.note(use, `makes the kept answers of ${use.words.join(', ')} void`);
  return null;
}

export const invalidates: Word = {
  names: ['invalidates'],
  syntax: ['invalidates <routine> …', 'invalidates <schema>.<routine> …'],
  documentation:
    'Once a call has succeeded, and before it is answered, kept answers of these routines, tables and views are void. A name without a schema means all of that name. Several lines add up.',
  guards: false,
  supported: true,
  apply,
};
