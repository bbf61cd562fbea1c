import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { escapeLine, quote } from './source-text.ts';

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
const wordCharacter = /[\p{ID_Continue}\p{S}]/u;
const symbol = /[^\p{ID_Continue}]/u;
const separator = /[_$+<=>^`|~]|\p{Default_Ignorable_Code_Point}/u;

const codePointName = (character: string): string => `u${character.codePointAt(0)!.toString(16)}`;

/** The words of a name or path: `/get_user-by.id` has four. A symbol such as an emoji is a word of its own, `u1f600`. */
export function splitWords(text: string): readonly string[] {
  const words: string[] = [];
  let inWord = false;
  for (const character of text) {
    const counts = wordCharacter.test(character) && !separator.test(character);
    if (counts && symbol.test(character)) {
      words.push(codePointName(character));
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

function capitalize(word: string): string {
  const [first = '', ...rest] = word;
  return first.toUpperCase() + rest.join('');
}

function uncapitalize(word: string): string {
  const [first = '', ...rest] = word;
  return first.toLowerCase() + rest.join('');
}

/** `GetUserById` of any name; of one without letters and digits, its characters spelt. */
export function pascalCase(text: string): string {
  const words = splitWords(text);
  const all =
    words.length > 0
      ? words
      : Array.from(text)
          .filter((character) => character !== '/')
          .map(codePointName);
  return all.map(capitalize).join('');
}

/** A name in camel case, which may be a reserved word: `getUserById`. */
function camelCase(text: string): string {
  const pascal = pascalCase(text);
  const [first = '', ...rest] = splitWords(text);
  const camel = first === '' ? uncapitalize(pascal || 'root') : uncapitalize(first) + rest.map(capitalize).join('');
  return /^\p{ID_Start}/u.test(camel) ? camel : `_${camel}`;
}

/** A name that a function can have. */
function avoidReserved(name: string): string {
  return reserved.has(name) ? `${name}_` : name;
}

/** The name with the lowest number, from 2, that is not among the used ones. */
export function numberedName(name: string, isUsed: (name: string) => boolean): string {
  for (let number = 2; ; number++) {
    if (!isUsed(`${name}${number}`)) return `${name}${number}`;
  }
}

/** `insertOnConflictDoNothingReturning` is the pattern `on-conflict-do-nothing-returning`. */
function operationPattern(operation: string): string {
  return operation.replace(/^(select|insert|update|delete)/, '').replaceAll(/[A-Z]/g, '-$&');
}

function baseName(endpoint: Endpoint, { urlPathPrefix, useRoutineNameInsteadOfEndpoint }: NamingOptions): string {
  const { table, name, path, method } = endpoint;
  const own = useRoutineNameInsteadOfEndpoint
    ? `${name}${table === null ? '' : operationPattern(table.operation)}`
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
  const candidates = toCandidates(endpoints, options);
  const ownersByName = new Map<string, Endpoint>();
  const named = new Map<Endpoint, NamedEndpoint>();
  const assign = (endpoint: Endpoint, name: string, collidesWith: Endpoint | null): void => {
    ownersByName.set(name, endpoint);
    named.set(endpoint, { endpoint, name, collidesWith });
  };
  for (const { endpoint, camel, overload } of candidates) {
    const name = avoidReserved(camel);
    if (overload === 0 && !ownersByName.has(name)) assign(endpoint, name, null);
  }
  // Numbers come last, so that no number takes the name that another path has by itself.
  for (const { endpoint, camel, overload } of candidates.toSorted((left, right) => left.overload - right.overload)) {
    if (named.has(endpoint)) continue;
    const owner = ownersByName.get(avoidReserved(camel))!;
    const name = numberedName(camel, (one) => ownersByName.has(one));
    assign(endpoint, name, overload === 0 ? owner : null);
  }
  return endpoints.map((endpoint) => named.get(endpoint)!);
}

function toCandidates(endpoints: readonly Endpoint[], options: NamingOptions): readonly Candidate[] {
  const titled = endpoints.map((endpoint) => ({ endpoint, title: baseName(endpoint, options) }));
  const siblings = groupBy(titled, ({ endpoint, title }) => `${endpoint.path}\n${title}`);
  const candidates = new Map<Endpoint, Candidate>();
  for (const group of siblings.values()) {
    const methods = groupBy(group, ({ endpoint }) => endpoint.method);
    for (const [method, overloads] of methods) {
      const suffix = methods.size > 1 && overloads[0]!.endpoint.table === null ? `-${method.toLowerCase()}` : '';
      overloads.toSorted(bySignature).forEach(({ endpoint, title }, overload) => {
        candidates.set(endpoint, { endpoint, camel: camelCase(title + suffix), overload });
      });
    }
  }
  return endpoints.map((endpoint) => candidates.get(endpoint)!);
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
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

/** A warning for each endpoint whose name has a number because another endpoint has the name without it. */
export function nameCollisions(named: readonly NamedEndpoint[]): readonly Diagnostic[] {
  return named.flatMap(({ endpoint, name, collidesWith }) =>
    collidesWith === null
      ? []
      : [collisionDiagnostic(endpoint, `${requestLine(endpoint)} is called ${quote(name)}`, collidesWith)],
  );
}

/** @param what what is called otherwise than it would be without the other endpoint */
export function collisionDiagnostic(endpoint: Endpoint, what: string, other: Endpoint): Diagnostic {
  return {
    severity: 'warning',
    code: 'name-collision',
    routine: endpoint.id,
    line: null,
    message:
      `${what} by generated clients and documents, because ${escapeLine(other.id)} (${requestLine(other)}) has the name ` +
      'without the number; give one of them another path to choose the names yourself',
  };
}

function requestLine({ method, path }: Endpoint): string {
  return `${method} ${escapeLine(path)}`;
}
