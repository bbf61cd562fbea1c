import { editDistance } from '../../validation/suggestion.ts';
import { looksLikeProse } from './prose.ts';
import { parseBoolean } from './boolean-values.ts';
import { normalizeName, annotationNames, findAnnotation } from './registry.ts';
import type { Annotation } from './annotation.ts';

/** What an author may have meant. */
export interface Suggestion {
  /** The likely word, in its own spelling. */
  readonly name: string;
  readonly word: Annotation;
  /** The line that was probably meant, where the arguments tell. */
  readonly line: string | null;
}

/** Ordinary words that resemble a word of the language by accident, and the inflections that sentences begin with. */
const ordinary: ReadonlySet<string> = new Set(
  (
    'authored authority batch bath caches collection collections column connections correction disables enables games ' +
    'layout logic logins logons logouts logs math methods name named oath patch paths real ream severity signing tabs ' +
    'tales timeouts unload unloads uploads buffers user_content'
  ).split(' '),
);

/** The forms in which English itself uses the stem of `authorize`. */
const englishAuthorization = /^authori[sz](es|ing|ations?|er|ers)$/;

/** Other ways to ask for authorization: nothing of the language, but nobody writes them for nothing. */
const kin =
  /^(auth|authenticated?|requires?_auth\w*|roles?|(required?|requires|allowed?|allow|auth|user)_roles?|requires?_login|login_required)$/;

const authorization = /^authori[sz]/;

/** Words of the language that their authors wrote with a space: `requires authorization`, `basic auth`. */
const parted = /^(requires?_(auth\w*|roles?|login)|basic_auth(entication)?)$/;

/** Quotation marks, the emphasis of Markdown, full stops: `**authorize**` is no other word. `_user_roles` is a parameter. */
const marks = /^[^\p{L}\p{N}_$]+|[^\p{L}\p{N}_$]+$/gu;

/**
 * The word that `written` nearly is, as the first word of a line, a key or a header name; null when it is like none. Callers
 * have ruled out that it stands where that word belongs. `words` are those of the whole line, which may be prose; for keys
 * and header names, which stand in no sentence, it is null; `value` is then what they are given.
 */
export function suggestAnnotation(
  written: string,
  words: readonly string[] | null,
  value: readonly string[] = [],
): Suggestion | null {
  const name = withoutMarks(written);
  const prose = words !== null && looksLikeProse(words);
  if (authorization.test(name)) return authorizationMiss(name, prose);
  const asked = askedOtherwise(name, words);
  if (asked !== null) return prose && !isSwitched(words) ? null : found(asked);
  const near = nearWord(name);
  return near === null || (prose && !near.word.guards) ? null : withGrammar(near, words?.slice(1) ?? value);
}

function nearWord(name: string): Suggestion | null {
  if (ordinary.has(name)) return null;
  // The word itself, with a full stop or in the wrong place: `authorize: admin` is a header.
  const likely = findAnnotation(name) === null ? nearest(name) : name;
  return likely === null ? null : found(likely);
}

function withoutMarks(written: string): string {
  return normalizeName(written).replace(marks, '');
}

/** The word that guards access and is meant by another one, or by several. */
function askedOtherwise(name: string, words: readonly string[] | null): string | null {
  if (kin.test(name)) return 'authorize';
  if (words === null || words.length < 2) return null;
  const [, second = '', third = ''] = words.slice(0, 3).map(withoutMarks);
  const two = `${name}_${second}`;
  if (parted.test(two)) return two.startsWith('basic') ? 'basic_authentication' : 'authorize';
  // "User parameters:" heads a list of them in prose.
  if (second === '' || words.at(-1)!.endsWith(':')) return null;
  return guardInParts(`${two}_${third}`) ?? guardInParts(two);
}

/** `user context = on`: two words and what switches them on or off, which is also a word of sentences. */
function isSwitched(words: readonly string[]): boolean {
  const rest = words.slice(2).filter((word) => word !== '=');
  return rest.length === 1 && parseBoolean(rest[0]!) !== null;
}

/** Guards of several parts, which their authors may write with spaces: `user params`, `security sensitive`. */
const guardsOfParts = annotationNames.filter((name) => name.includes('_') && findAnnotation(name)?.guards === true);

function guardInParts(joined: string): string | null {
  if (ordinary.has(joined)) return null;
  // Every first line of prose comes here: the first two letters rule out nearly all of them.
  const near = guardsOfParts.find(
    (guard) =>
      guard.startsWith(joined.slice(0, 2)) &&
      Math.abs(guard.length - joined.length) <= 1 &&
      editDistance(guard, joined) <= 1,
  );
  return near ?? null;
}

/** A word that has a grammar of its own is only near when that fits too: "Parameters:" heads a list of them in prose. */
function withGrammar(near: Suggestion, rest: readonly string[]): Suggestion | null {
  const { fits, likely } = near.word;
  return fits?.(rest) === false ? null : { ...near, line: likely?.(rest) ?? null };
}

function authorizationMiss(name: string, prose: boolean): Suggestion | null {
  // "Authorizes the payment." is a sentence; `authorizes admin` is not.
  if (prose && englishAuthorization.test(name)) return null;
  return found('authorize');
}

function found(name: string): Suggestion | null {
  const word = findAnnotation(name);
  return word === null ? null : { name, word, line: null };
}

/** How many slips a word of that length may have: short words are near to half the dictionary. */
function tolerance(length: number): number {
  if (length < 4) return 0;
  return length < 8 ? 1 : 2;
}

/** Names that can be missed at all, with what tells quickly that a word is far from them. */
const candidates = annotationNames
  .filter((name) => tolerance(name.length) > 0)
  .map((name) => ({ name, most: tolerance(name.length), letters: lettersOf(name) }));

/** One bit for every letter that a word holds. A slip changes two of them at most. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let index = 0; index < word.length; index += 1) letters |= 1 << (word.charCodeAt(index) % 32);
  return letters;
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

function nearest(name: string): string | null {
  const letters = lettersOf(name);
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    if (Math.abs(candidate.name.length - name.length) > candidate.most) continue;
    // Every first word of every line of prose comes here, so what is far away is left before its distance is counted.
    if (countBits(candidate.letters ^ letters) > 2 * candidate.most) continue;
    // The first letter of a short word is hardly ever wrong, and telling "form" from "anon" is worth more.
    if (candidate.name.length < 6 && candidate.name[0] !== name[0]) continue;
    const slips = editDistance(candidate.name, name);
    if (slips <= candidate.most && slips < least) {
      best = candidate.name;
      least = slips;
    }
  }
  return best;
}
