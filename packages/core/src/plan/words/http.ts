import { display } from '../display.ts';
import type { Draft } from '../draft.ts';
import { type Method, methods } from '../endpoint.ts';
import type { Complaint, Word, WordUse } from '../word.ts';
import { setPath } from './path.ts';

/** The verb that a text names, in any case; null when it names none. */
export function verbOf(text: string): Method | null {
  const wanted = text.toUpperCase();
  return methods.find((method) => method === wanted) ?? null;
}

/** `HTTP authorize`: the author believes in a guard that is not there. */
const authorization = /^@?authori[sz]/i;

/** A first argument that is no verb is a path: `HTTP wrong-verb` moves the endpoint and leaves the method. */
function apply(use: WordUse, draft: Draft): Complaint | null {
  draft.tagged = true;
  const verb = verbOf(use.words[0] ?? '');
  if (verb !== null) draft.set(use, 'method', verb);
  const [path, ...leftover] = verb === null ? use.words : use.words.slice(1);
  if (path === undefined) return null;
  setPath(use, draft, path);
  if (leftover.length > 0) {
    return {
      code: 'extra-arguments',
      message: `${use.name} takes a verb and a path; the path is ${display(path)} now, and ${display(leftover.join(' '))} means nothing`,
      leftover: [path, ...leftover],
    };
  }
  if (authorization.test(path)) {
    return {
      code: 'unknown-verb',
      severity: 'error',
      message: `${display(path)} would be the path, and guard nothing; authorize needs a line of its own, and a path that is called so begins with /`,
    };
  }
  if (verb === null && !path.startsWith('/')) {
    return {
      code: 'unknown-verb',
      message: `${display(path)} is no verb, so it is taken as the path; begin a path with / to say so`,
    };
  }
  return null;
}

export const http: Word = {
  names: ['http'],
  syntax: ['HTTP', 'HTTP <verb>', 'HTTP <verb> <path>', 'HTTP <path>'],
  documentation:
    'Publishes the routine as an endpoint. A verb sets the method, and where parameters come from with it. A path replaces the whole URL, prefix included; its segments may be parameters: `/customers/{id}`, or `{id?}` for one that may be left out.',
  guards: false,
  supported: true,
  apply,
};
