import { editDistance } from '../../validation/suggestion.ts';
import { type AnnotationContext, noContext } from './annotation-context.ts';
import { looksLikeProse } from './prose.ts';
import { normalizeName, parseBoolean } from './lexer.ts';
import { annotationNames, findAnnotation } from './registry.ts';
import type { Annotation } from './annotation.ts';

/** An annotation that a line probably means. */
export interface Suggestion {
  /** The name or synonym. */
  readonly name: string;
  readonly annotation: Annotation;
  /** The corrected line, or null. */
  readonly line: string | null;
}

/** English words that resemble an annotation. */
const ordinary: ReadonlySet<string> = new Set(
  (
    'authored authority batch bath caches collection collections column connections correction disables enables external games ' +
    'internals interval layout logic logins logons logouts logs math methods name named oath patch paths real ream severity signing tabs ' +
    'tales timeouts unload unloads uploads buffers user_content'
  ).split(' '),
);

/** The forms in which English itself uses the stem of `authorize`. */
const englishAuthorization = /^authori[sz](es|ing|ations?|er|ers)$/;

/** Terms that request authorization in other tools. */
const authorizationTerms =
  /^(auth|authenticated?|requires?_auth\w*|roles?|(required?|requires|allowed?|allow|auth|user)_roles?|requires?_login|login_required)$/;

const authorization = /^authori[sz]/;

/** Names of guards, written with a space: `requires authorization`, `basic auth`. */
const spacedGuards = /^(requires?_(auth\w*|roles?|login)|basic_auth(entication)?)$/;

/** Quotation marks, Markdown emphasis and full stops around a name, but not the `_` of a parameter name. */
const punctuation = /^[^\p{L}\p{N}_$]+|[^\p{L}\p{N}_$]+$/gu;

/** The words after a key or header name, and the facts about the routine. */
interface SuggestionInput {
  readonly value: readonly string[];
  readonly context: AnnotationContext;
}

const noInput: SuggestionInput = { value: [], context: noContext };

/**
 * Suggests an annotation for a misspelt first word, key or header name, or returns null.
 *
 * @param words the words of the whole line, which may be prose; null for a key or header name
 */
export function suggestAnnotation(
  written: string,
  words: readonly string[] | null,
  { value, context }: SuggestionInput = noInput,
): Suggestion | null {
  const name = stripPunctuation(written);
  const prose = looksLikeProse(words ?? []);
  if (authorization.test(name)) return suggestAuthorize(name, prose);
  const guard = findGuard(name, words);
  if (guard !== null) return prose ? suggestSwitched(guard, words ?? []) : toSuggestion(guard);
  const near = suggestName(name, words);
  if (near === null || (prose && !near.annotation.isGuard)) return null;
  return checkArguments(near, words?.slice(1) ?? value, context);
}

function suggestName(name: string, words: readonly string[] | null): Suggestion | null {
  // "Uploads" alone is a heading; `uploads for csv` is not.
  if (name === 'uploads' && words?.length !== 1) return toSuggestion('upload');
  if (ordinary.has(name)) return null;
  // The name itself, with a full stop or as a header: `authorize: admin`.
  const likely = findAnnotation(name) === null ? recallNearestName(name) : name;
  return likely === null ? null : toSuggestion(likely);
}

function stripPunctuation(written: string): string {
  const name = normalizeName(written);
  // Runs for three words of every line of prose, nearly all of which are plain.
  return plainWord.test(name) ? name : name.replace(punctuation, '');
}

const plainWord = /^[a-z0-9_]+$/;

/** Returns the guard that another term, or several words, probably mean. */
function findGuard(name: string, words: readonly string[] | null): string | null {
  if (authorizationTerms.test(name)) return 'authorize';
  if (words === null || words.length < 2) return null;
  const [, second = '', third = ''] = words.slice(0, 3).map(stripPunctuation);
  const two = `${name}_${second}`;
  if (spacedGuards.test(two)) return two.startsWith('basic') ? 'basic_authentication' : 'authorize';
  // "User parameters:" is a heading in prose.
  if (second === '' || words.at(-1)!.endsWith(':')) return null;
  return findMultiWordGuard(`${two}_${third}`) ?? findMultiWordGuard(two);
}

/** Suggests the guard for words that are two and a boolean value: `user context = on`. */
function suggestSwitched(guard: string, words: readonly string[]): Suggestion | null {
  const rest = words.slice(2).filter((word) => word !== '=');
  return rest.length === 1 && parseBoolean(rest[0]!) !== null ? toSuggestion(guard) : null;
}

/** Guards with `_` in their names, which may be written with spaces (`user params`), by their first two letters. */
const multiWordGuards = new Map<string, string[]>();
for (const name of annotationNames) {
  if (!name.includes('_') || findAnnotation(name)?.isGuard !== true) continue;
  const prefix = name.slice(0, 2);
  multiWordGuards.set(prefix, [...(multiWordGuards.get(prefix) ?? []), name]);
}

function findMultiWordGuard(joined: string): string | null {
  if (ordinary.has(joined)) return null;
  // Runs for every line of prose: two letters exclude nearly all of them cheaply.
  const guards = multiWordGuards.get(joined.slice(0, 2));
  const near = guards?.find((guard) => Math.abs(guard.length - joined.length) <= 1 && editDistance(guard, joined) <= 1);
  return near ?? null;
}

/** Drops a suggestion whose arguments do not match, such as "Parameters:" as a heading in prose. */
function checkArguments(near: Suggestion, rest: readonly string[], context: AnnotationContext): Suggestion | null {
  const { matches, suggest } = near.annotation;
  return matches?.(rest, context, 'line') === false ? null : { ...near, line: suggest?.(rest, context) ?? null };
}

function suggestAuthorize(name: string, prose: boolean): Suggestion | null {
  // "Authorizes the payment." is a sentence; `authorizes admin` is not.
  if (prose && englishAuthorization.test(name)) return null;
  return toSuggestion('authorize');
}

function toSuggestion(name: string): Suggestion | null {
  const annotation = findAnnotation(name);
  return annotation === null ? null : { name, annotation, line: null };
}

/** Returns the maximum edit distance for a name of this length. Short names resemble too many words. */
function maxDistance(length: number): number {
  if (length < 4) return 0;
  return length < 8 ? 1 : 2;
}

/** Names with a tolerance, and their letter sets for a cheap exclusion. */
const candidates = annotationNames
  .filter((name) => maxDistance(name.length) > 0)
  .map((name) => ({ name, maxDistance: maxDistance(name.length), letters: toLetterSet(name) }));

/** Returns a bit set of the letters of a word. One edit changes at most two bits. */
function toLetterSet(word: string): number {
  let letters = 0;
  for (let index = 0; index < word.length; index += 1) letters |= 1 << (word.charCodeAt(index) % 32);
  return letters;
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** The results for first words of lines, which comments have in common. */
const nearestNames = new Map<string, string | null>();
const maxNearestNames = 1000;
const maxNameLength = Math.max(...candidates.map(({ name, maxDistance: distance }) => name.length + distance));

function recallNearestName(name: string): string | null {
  if (name.length > maxNameLength) return null;
  const known = nearestNames.get(name);
  if (known !== undefined) return known;
  if (nearestNames.size >= maxNearestNames) nearestNames.clear();
  const nearest = findNearestName(name);
  nearestNames.set(name, nearest);
  return nearest;
}

function findNearestName(name: string): string | null {
  const letters = toLetterSet(name);
  let best: string | null = null;
  let minDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    if (Math.abs(candidate.name.length - name.length) > candidate.maxDistance) continue;
    // Runs for every line of prose: excludes distant names before computing their distance.
    if (countBits(candidate.letters ^ letters) > 2 * candidate.maxDistance) continue;
    // The first letter of a short name must match: "form" is not "anon".
    if (candidate.name.length < 6 && candidate.name[0] !== name[0]) continue;
    const distance = editDistance(candidate.name, name);
    if (distance <= candidate.maxDistance && distance < minDistance) {
      best = candidate.name;
      minDistance = distance;
    }
  }
  return best;
}
