import { display } from '../display.ts';
import type { Draft } from '../draft.ts';
import { editDistance } from '../../validation/edit-distance.ts';
import type { Filling } from '../endpoint.ts';
import type { Complaint, Word, WordUse } from '../word.ts';

const identities: Readonly<Record<string, Filling>> = {
  user_id: 'userId',
  user_name: 'userName',
  user_roles: 'userRoles',
  user_claims: 'userClaims',
  ip_address: 'ipAddress',
};

const normal = (word: string): string => word.toLowerCase().replaceAll('-', '_');

/**
 * `param a is …` is an annotation only with one of the things that a parameter can be: "Parameter a is the key" is prose.
 * What is nearly one of them is taken for it: read as prose, it would leave an identity to be sent by the client.
 */
function bindsParameter(words: readonly string[]): boolean {
  const [, is, what = '', next = ''] = words.map(normal);
  if (is !== 'is') return false;
  if (what === 'hash' || (what === 'user' && next === '')) return true;
  if (next === 'of' && editDistance(what, 'hash') <= 1) return true;
  if (next.startsWith('meta') && editDistance(what, 'upload') <= 1) return true;
  return Object.keys(identities).some((name) => what.startsWith(name) || editDistance(what, name) <= 2);
}

function apply(use: WordUse, draft: Draft): Complaint | null {
  const [name = '', , what = '', ...rest] = use.words;
  const meant = normal(what);
  const [next = '', of, ...leftover] = rest;
  const filling = Object.hasOwn(identities, meant) ? identities[meant] : undefined;
  if (filling !== undefined && rest.length === 0) {
    draft.fillings.push({ name, filling, line: use.line });
    draft.note(use, `fills ${display(name)} with ${meant}`);
    return null;
  }
  if (meant === 'hash' && normal(next) === 'of' && of !== undefined && leftover.length === 0) {
    draft.hashes.push({ name, of, line: use.line });
    draft.note(use, `fills ${display(name)} with the hash of ${display(of)}`);
    return null;
  }
  if (meant === 'upload') {
    return {
      code: 'unsupported-word',
      message: `${use.name} … is upload metadata is not supported by this version yet`,
    };
  }
  return {
    code: 'bad-argument',
    message: `${display(use.text)}: a parameter is "hash of <parameter>", ${Object.keys(identities).join(', ')}`,
  };
}

function applyToRoutine(use: WordUse, draft: Draft): Complaint | null {
  if (draft.routine.table === undefined) return apply(use, draft);
  return {
    code: 'not-a-routine',
    message: `${use.name} is for routines: what of a table a caller may see and write is for row level security, which user_context tells of the caller`,
  };
}

export const param: Word = {
  names: ['param', 'parameter'],
  syntax: ['param <a> is hash of <b>', 'param <a> is user_id | user_name | user_roles | user_claims | ip_address'],
  documentation:
    'What fills a parameter in place of the client: the hash of another parameter (or its own), so that a password is never stored; or who the caller is.',
  guards: true,
  supported: true,
  sentence: true,
  fits: bindsParameter,
  apply: applyToRoutine,
};
