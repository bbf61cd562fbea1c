import type { Endpoint } from '../endpoints/endpoint.ts';

/** How functions of clients, and operations of documents, are called after endpoints. */
export interface NamingOptions {
  /** What generated paths begin with; it is no part of a name. */
  readonly urlPathPrefix: string | null;
  /** Names after the routine instead of the path. */
  readonly useRoutineNameInsteadOfEndpoint: boolean;
}

export interface NamedEndpoint {
  readonly endpoint: Endpoint;
  /** Unique among all endpoints. */
  readonly name: string;
  /** The endpoint whose name this one would have too; null where there is none. Overloads do not count. */
  readonly collidesWith: Endpoint | null;
}

/**
 * Words of JavaScript and TypeScript, the functions that generated modules call, what CommonJS declares, and `then`, which would
 * make the module a promise to `import()`: none may be a function's name.
 */
const reserved: ReadonlySet<string> = new Set(
  `arguments as async await break case catch class const continue crypto debugger default delete do else encodeURIComponent
  enum eval export exports extends false fetch finally for from function globalThis if implements import in instanceof
  interface let module new null of package private protected public require return setTimeout static super switch then this
  throw true try type typeof undefined using var void while with yield NaN Infinity`.split(/\s+/),
);

/** Parts of words; the rest of a name separates them, but for symbols, which are spelt. */
const part = /[\p{ID_Continue}\p{S}]/u;
const symbol = /[^\p{ID_Continue}]/u;
const separator = /[_$+<=>^`|~]|\p{Default_Ignorable_Code_Point}/u;

const spelt = (character: string): string => `u${character.codePointAt(0)!.toString(16)}`;

/** The words of a name or path: `/get_user-by.id` has four. A symbol such as an emoji is a word of its own, `u1f600`. */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  let inWord = false;
  for (const character of text) {
    const counts = part.test(character) && !separator.test(character);
    if (counts && symbol.test(character)) {
      words.push(spelt(character));
      inWord = false;
    } else if (counts && inWord) {
      words.push(words.pop()! + character);
    } else {
      if (counts) words.push(character);
      inWord = counts;
    }
  }
  return words;
}

function capitalised(word: string): string {
  const [first = '', ...rest] = word;
  return first.toUpperCase() + rest.join('');
}

function lowered(word: string): string {
  const [first = '', ...rest] = word;
  return first.toLowerCase() + rest.join('');
}

/** `GetUserById` of any name; of one without letters and digits, its characters spelt. */
export function pascalCase(text: string): string {
  const words = wordsOf(text);
  const all =
    words.length > 0
      ? words
      : Array.from(text)
          .filter((character) => character !== '/')
          .map(spelt);
  return all.map(capitalised).join('');
}

/** A name in camel case, which may be a reserved word: `getUserById`. */
function camelCase(text: string): string {
  const pascal = pascalCase(text);
  const [first = '', ...rest] = wordsOf(text);
  const camel = first === '' ? lowered(pascal || 'root') : lowered(first) + rest.map(capitalised).join('');
  return /^\p{ID_Start}/u.test(camel) ? camel : `_${camel}`;
}

/** A name that a function can have. */
function functionName(name: string): string {
  return reserved.has(name) ? `${name}_` : name;
}

/** The name with the lowest number, from 2, that is not among the used ones. */
export function numberedName(name: string, isUsed: (name: string) => boolean): string {
  for (let number = 2; ; number++) {
    if (!isUsed(`${name}${number}`)) return `${name}${number}`;
  }
}

/** `insertOnConflictDoNothingReturning` is the pattern `on-conflict-do-nothing-returning`. */
function patternOf(operation: string): string {
  return operation.replace(/^(select|insert|update|delete)/, '').replaceAll(/[A-Z]/g, '-$&');
}

function titleOf(endpoint: Endpoint, { urlPathPrefix, useRoutineNameInsteadOfEndpoint }: NamingOptions): string {
  const { table, name, path, method } = endpoint;
  const own = useRoutineNameInsteadOfEndpoint
    ? `${name}${table === null ? '' : patternOf(table.operation)}`
    : withoutPrefix(path, urlPathPrefix ?? '');
  return table === null ? own : `${own}-${method.toLowerCase()}`;
}

function withoutPrefix(path: string, prefix: string): string {
  const root = `/${prefix.replaceAll(/^\/+|\/+$/g, '')}/`;
  return path.startsWith(root) ? path.slice(root.length) : path;
}

/** An endpoint before its name is known to be free. */
interface Candidate {
  readonly endpoint: Endpoint;
  /** The name without what keeps it from being a reserved word. */
  readonly camel: string;
  /** Its place among the overloads, from 0. */
  readonly overload: number;
}

/**
 * A name for every endpoint, in their order. Endpoints that have one path and several methods have the method at the end, as
 * operations on tables always have. Overloads, which share path and method, are numbered from the second on, in the order of
 * their signatures. Of other endpoints that would have one name the first keeps it; the others take the next free number.
 */
export function nameEndpoints(endpoints: readonly Endpoint[], options: NamingOptions): readonly NamedEndpoint[] {
  const candidates = candidatesOf(endpoints, options);
  const owners = new Map<string, Endpoint>();
  const named = new Map<Endpoint, NamedEndpoint>();
  const give = (endpoint: Endpoint, name: string, collidesWith: Endpoint | null): void => {
    owners.set(name, endpoint);
    named.set(endpoint, { endpoint, name, collidesWith });
  };
  for (const { endpoint, camel, overload } of candidates) {
    const name = functionName(camel);
    if (overload === 0 && !owners.has(name)) give(endpoint, name, null);
  }
  // Numbers come last, so that no number takes the name that another path has by itself.
  for (const { endpoint, camel, overload } of candidates.toSorted((left, right) => left.overload - right.overload)) {
    if (named.has(endpoint)) continue;
    const owner = owners.get(functionName(camel))!;
    const name = numberedName(camel, (one) => owners.has(one));
    give(endpoint, name, overload === 0 ? owner : null);
  }
  return endpoints.map((endpoint) => named.get(endpoint)!);
}

function candidatesOf(endpoints: readonly Endpoint[], options: NamingOptions): readonly Candidate[] {
  const titled = endpoints.map((endpoint) => ({ endpoint, title: titleOf(endpoint, options) }));
  const siblings = grouped(titled, ({ endpoint, title }) => `${endpoint.path}\n${title}`);
  const candidates = new Map<Endpoint, Candidate>();
  for (const group of siblings.values()) {
    const methods = grouped(group, ({ endpoint }) => endpoint.method);
    for (const [method, overloads] of methods) {
      const suffix = methods.size > 1 && overloads[0]!.endpoint.table === null ? `-${method.toLowerCase()}` : '';
      overloads.toSorted(bySignature).forEach(({ endpoint, title }, overload) => {
        candidates.set(endpoint, { endpoint, camel: camelCase(title + suffix), overload });
      });
    }
  }
  return endpoints.map((endpoint) => candidates.get(endpoint)!);
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** Fewer parameters first; by code units, so that the order does not depend on a locale. */
function bySignature({ endpoint: left }: { endpoint: Endpoint }, { endpoint: right }: { endpoint: Endpoint }): number {
  const fewer = left.parameters.length - right.parameters.length;
  if (fewer !== 0 || left.id === right.id) return fewer;
  return left.id < right.id ? -1 : 1;
}
