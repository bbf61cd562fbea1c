import { display } from '../display.ts';
import type { Draft } from '../endpoint-builder.ts';
import { methods } from '../endpoint.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';
import { verbOf } from './http.ts';

function apply(use: WordUse, draft: Draft): Complaint | null {
  const verb = verbOf(use.text);
  if (verb === null) {
    return {
      code: 'bad-argument',
      message: `${display(use.text)} is no method; the methods are ${methods.join(', ')}`,
    };
  }
  draft.set(use, 'method', verb);
  return null;
}

export const method: Word = {
  names: ['method'],
  syntax: ['method = <verb>'],
  documentation:
    'Sets the method, and where parameters come from with it. It does not publish the routine: `HTTP` does.',
  guards: false,
  supported: true,
  assignmentOnly: true,
  apply,
};
