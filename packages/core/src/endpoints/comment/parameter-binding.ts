import { editDistance } from '../../validation/suggestion.ts';
import type { InjectedValue } from '../endpoint.ts';
import { looksLikeProse } from './prose.ts';

/** The keywords of injected values. */
export const injectedValues: Readonly<Record<string, InjectedValue>> = {
  user_id: 'userId',
  user_name: 'userName',
  user_roles: 'userRoles',
  user_claims: 'userClaims',
  ip_address: 'ipAddress',
};

const keywords = Object.keys(injectedValues);

/** Terms for identities that are not keywords but are suggested as such. */
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

/** Operators that authors write in place of `is`. */
const operators: ReadonlySet<string> = new Set(['=', '==', ':=', ':', '->', '=>', '<-', 'as', 'is']);

/** The arguments of `param`. */
interface Binding {
  readonly name: string;
  /** Empty when missing. */
  readonly operator: string;
  readonly value: readonly string[];
}

const stripPunctuation = (word: string): string => word.replace(/^["'`*(]+|["'`*).,;!]+$/g, '');

/** Returns the snake-case form: `user-id` and `userId` are `user_id`. */
function toSnakeCase(word: string): string {
  return stripPunctuation(word)
    .replace(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toLowerCase()
    .replaceAll('-', '_');
}

function parseBinding(words: readonly string[]): Binding {
  const [name = '', ...rest] = words
    .join(' ')
    .replace(/:=|==|=>|->|<-|[=:]/g, ' $& ')
    .split(' ')
    .filter((word) => word !== '');
  const [second = '', ...value] = rest;
  const operator = second.toLowerCase();
  return value.length > 0 && (operators.has(operator) || findKeyword(toSnakeCase(second)) === null)
    ? { name, operator, value }
    : { name, operator: '', value: rest };
}

/** Returns the keyword within two edits of the word, or null. */
function findNearestKeyword(word: string): string | null {
  // Runs for every line of prose: the length excludes most words.
  return keywords.find((name) => Math.abs(name.length - word.length) <= 2 && editDistance(word, name) <= 2) ?? null;
}

/** Returns the keyword for a misspelt keyword or a synonym, or null. */
function findKeyword(word: string): string | null {
  return findNearestKeyword(word) ?? (Object.hasOwn(synonyms, word) ? synonyms[word]! : null);
}

/** Operators that do not occur in sentences. */
const strictOperators: ReadonlySet<string> = new Set(
  [...operators].filter((operator) => operator !== ':' && operator !== 'as'),
);

/** Returns the keyword that the value means, in one or two words, unless the line is a sentence. */
function findIdentity({ operator, value }: Binding): string | null {
  const words = value.map(toSnakeCase);
  const isStrict = strictOperators.has(operator);
  const isSentence = value.length > 1 && looksLikeProse(value);
  const keyword =
    operator === 'is' ? (findKeywordPrefix(words) ?? findNearestKeyword(words[0]!)) : findNearestKeyword(words[0]!);
  if (keyword !== null && (isStrict || !isSentence)) return keyword;
  return isStrict || operator === 'as' ? findLooseKeyword(words, isSentence) : null;
}

/** Returns the keyword that the word begins with: `user_idx`, `user_id's`. */
function findKeywordPrefix([first]: readonly string[]): string | null {
  return keywords.find((name) => first!.startsWith(name)) ?? null;
}

/** Returns the keyword for a synonym or two words: `roles`, `user id`. */
function findLooseKeyword(words: readonly string[], isSentence: boolean): string | null {
  if (words.length === 1) return findKeyword(words[0]!);
  if (isSentence && words.length > 2) return null;
  return keywords.find((name) => name === `${words[0]}_${words[1]}`) ?? null;
}

/** Returns the corrected line for a misspelt hash, or null. */
function suggestHash({ name, operator, value }: Binding): string | null {
  const [keyword, of] = value.map(toSnakeCase);
  const source = value.length > 2 ? stripPunctuation(value[2]!) : '<parameter>';
  const isHash = keyword === 'hash' && (operator === 'is' || of === 'of');
  const resemblesHash = of === 'of' && value.length > 2 && editDistance(keyword!, 'hash') <= 1;
  const isAlone = value.length === 1 && operators.has(operator) && /^hash(ed)?$/.test(keyword!);
  return isHash || resemblesHash || isAlone ? `param ${name} is hash of ${source}` : null;
}

/** Returns the corrected line for misspelt upload metadata, in one or two words, or null. */
function suggestUpload({ name, operator, value }: Binding): string | null {
  const [keyword = '', next = ''] = value.map(toSnakeCase);
  const isTwoWords =
    editDistance(keyword, 'upload') <= 2 && (next.startsWith('meta') || editDistance(next, 'metadata') <= 2);
  const isAlone =
    value.length === 1 &&
    operators.has(operator) &&
    (keyword === 'upload' || editDistance(keyword, 'upload_metadata') <= 2);
  return isTwoWords || isAlone ? `param ${name} is upload metadata` : null;
}

/**
 * Returns the line that the words after `param` probably mean, or null for prose such as "Parameter a is the key". A
 * misspelt binding must not become prose: the client could then send the identity.
 */
export function suggestBinding(words: readonly string[]): string | null {
  const binding = parseBinding(words);
  if (binding.value.length === 0) return null;
  const identity = findIdentity(binding);
  if (identity !== null) return `param ${binding.name} is ${identity}`;
  return suggestHash(binding) ?? suggestUpload(binding);
}

/**
 * Returns the correction of a line without `param`: `_u is user_id`, `_u = user_id`, `user_id = _u`. The line must have
 * no other words, and name a parameter of the routine. Otherwise returns null.
 */
export function suggestBindingWithoutKeyword(
  words: readonly string[],
  isParameter: (name: string) => boolean,
): string | null {
  if (words.length > 4) return null;
  const binding = parseBinding(words);
  const { name, operator, value } = binding;
  if (!operators.has(operator)) return null;
  if (isParameter(name) && suggestUpload(binding) !== null) return suggestUpload(binding);
  if (value.length !== 1) return null;
  const [left, right] = [toSnakeCase(name), toSnakeCase(value[0]!)];
  if (isParameter(name) && keywords.includes(right)) return `param ${name} is ${right}`;
  return isParameter(value[0]!) && keywords.includes(left) ? `param ${value[0]} is ${left}` : null;
}
