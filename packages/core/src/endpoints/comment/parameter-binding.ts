import { editDistance } from '../../validation/suggestion.ts';
import type { InjectedValue } from '../endpoint.ts';
import { looksLikeProse } from './prose.ts';

export const injectedValues: Readonly<Record<string, InjectedValue>> = {
  user_id: 'userId',
  user_name: 'userName',
  user_roles: 'userRoles',
  user_claims: 'userClaims',
  ip_address: 'ipAddress',
};

const identityNames = Object.keys(injectedValues);

/** Other words for an identity, which mean nothing here but are not written by accident. */
const synonyms: Readonly<Record<string, string>> = {
  caller: 'user_id',
  claims: 'user_claims',
  current_user: 'user_id',
  ip: 'ip_address',
  remote_addr: 'ip_address',
  remote_address: 'ip_address',
  role: 'user_roles',
  roles: 'user_roles',
  sub: 'user_id',
  user: 'user_id',
};

/** What stands for `is` in other languages; `is` alone is right. */
const signs: ReadonlySet<string> = new Set(['=', '==', ':=', ':', '->', '=>', '<-', 'as', 'is']);

/** What follows `param`: the parameter, the sign between it and its value, and the value. */
interface Phrase {
  readonly name: string;
  /** Empty: the value follows at once. */
  readonly sign: string;
  readonly value: readonly string[];
}

const withoutMarks = (word: string): string => word.replace(/^["'`*(]+|["'`*).,;!]+$/g, '');

/** Words compare without case; `user-id` and `userId` are `user_id`. */
function normal(word: string): string {
  return withoutMarks(word)
    .replace(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toLowerCase()
    .replaceAll('-', '_');
}

function phraseOf(words: readonly string[]): Phrase {
  const [name = '', ...rest] = words
    .join(' ')
    .replace(/:=|==|=>|->|<-|[=:]/g, ' $& ')
    .split(' ')
    .filter((word) => word !== '');
  const [second = '', ...value] = rest;
  const sign = second.toLowerCase();
  return value.length > 0 && (signs.has(sign) || identityOf(normal(second)) === null)
    ? { name, sign, value }
    : { name, sign: '', value: rest };
}

/** The identity that a word is, or nearly is. */
function nearIdentity(word: string): string | null {
  return identityNames.find((name) => editDistance(word, name) <= 2) ?? null;
}

/** The identity that a word is, nearly is, or has another name for. */
function identityOf(word: string): string | null {
  return nearIdentity(word) ?? (Object.hasOwn(synonyms, word) ? synonyms[word]! : null);
}

/** `=` and its kin stand in no sentence; `:` and `as` do. */
const strictSigns: ReadonlySet<string> = new Set([...signs].filter((sign) => sign !== ':' && sign !== 'as'));

/** The identity that the value names, in one word or two, with nothing behind it that makes a sentence of it. */
function identityIn({ sign, value }: Phrase): string | null {
  const words = value.map(normal);
  const strict = strictSigns.has(sign);
  const sentence = value.length > 1 && looksLikeProse(value);
  const plain = sign === 'is' ? (beginningOf(words) ?? nearIdentity(words[0]!)) : nearIdentity(words[0]!);
  if (plain !== null && (strict || !sentence)) return plain;
  return strict || sign === 'as' ? looseIdentity(words, sentence) : null;
}

/** `user_idx` and `user_id's` are no identities, but are nearly one where `is` stands before them. */
function beginningOf([first]: readonly string[]): string | null {
  return identityNames.find((name) => first!.startsWith(name)) ?? null;
}

/** `roles` for `user_roles`, `user id` for `user_id`. */
function looseIdentity(words: readonly string[], sentence: boolean): string | null {
  if (words.length === 1) return identityOf(words[0]!);
  if (sentence && words.length > 2) return null;
  return identityNames.find((name) => name === `${words[0]}_${words[1]}`) ?? null;
}

/** The likely right line for what asks for the hash of a parameter. */
function hashIn({ name, sign, value }: Phrase): string | null {
  const [what, of] = value.map(normal);
  const source = value.length > 2 ? withoutMarks(value[2]!) : '<parameter>';
  const isHash = what === 'hash' && (sign === 'is' || of === 'of');
  const nearlyHash = of === 'of' && value.length > 2 && editDistance(what!, 'hash') <= 1;
  const alone = value.length === 1 && signs.has(sign) && /^hash(ed)?$/.test(what!);
  return isHash || nearlyHash || alone ? `param ${name} is hash of ${source}` : null;
}

function uploadIn({ name, value }: Phrase): string | null {
  const [what = '', next = ''] = value.map(normal);
  return next.startsWith('meta') && editDistance(what, 'upload') <= 1 ? `param ${name} is upload metadata` : null;
}

/**
 * Returns the line that words after `param` probably mean, or null when they are prose: "Parameter a is the key". What is nearly
 * an annotation counts as one: read as prose, it would leave an identity to be sent by the client.
 */
export function suggestBinding(words: readonly string[]): string | null {
  const phrase = phraseOf(words);
  if (phrase.value.length === 0) return null;
  const identity = identityIn(phrase);
  if (identity !== null) return `param ${phrase.name} is ${identity}`;
  return hashIn(phrase) ?? uploadIn(phrase);
}

/**
 * Returns the line that a line without `param` probably means: `_u is user_id`, `_u = user_id`, `user_id = _u`. The whole line has
 * to be that, and the other name one of the routine's parameters.
 */
export function suggestBindingWithoutKeyword(
  words: readonly string[],
  isParameter: (name: string) => boolean,
): string | null {
  if (words.length > 3) return null;
  const { name, sign, value } = phraseOf(words);
  if (!signs.has(sign) || value.length !== 1) return null;
  const [left, right] = [normal(name), normal(value[0]!)];
  if (isParameter(name) && identityNames.includes(right)) return `param ${name} is ${right}`;
  return isParameter(value[0]!) && identityNames.includes(left) ? `param ${value[0]} is ${left}` : null;
}
