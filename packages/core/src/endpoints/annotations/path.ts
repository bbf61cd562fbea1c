import { display } from '../display.ts';
import type { Draft } from '../endpoint-builder.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';

/** A given path replaces the whole URL including the prefix; a leading slash is added. */
export function setPath(use: WordUse, draft: Draft, path: string): void {
  draft.set(use, 'path', path.startsWith('/') ? path : `/${path}`);
}

function apply(use: WordUse, draft: Draft): Complaint | null {
  const [given, ...leftover] = use.words;
  if (given === undefined) return { code: 'bad-argument', message: `${use.name} needs a path` };
  setPath(use, draft, given);
  if (leftover.length === 0) return null;
  return {
    code: 'extra-arguments',
    message: `${use.name} takes one path; it is ${display(given)} now, and ${display(leftover.join(' '))} means nothing`,
    leftover: use.words,
  };
}

export const path: Word = {
  names: ['path'],
  syntax: ['path <path>', 'path = <path>'],
  documentation: 'Replaces the whole URL of the endpoint, prefix included.',
  guards: false,
  supported: true,
  apply,
};
