import type { Diagnostic, Endpoint } from '@pgway/core';
import { boolean, groupBy, nullable, option, type OptionTable, string } from '@pgway/core/internal';
import { escapeLine, quote } from './source-text.ts';

/** Options for the names of client functions and OpenAPI operations. */
export const namingOptions: OptionTable<NamingOptions> = {
  urlPathPrefix: option(nullable(string), '/api', 'The prefix of generated paths, which names omit.'),
  useRoutineNameInsteadOfEndpoint: option(
    boolean,
    false,
    'Functions and operations are named after routines instead of paths.',
  ),
};

/** Options for the names of client functions and OpenAPI operations. */
export interface NamingOptions {
  readonly urlPathPrefix: string | null;
  readonly useRoutineNameInsteadOfEndpoint: boolean;
}

/** An endpoint with the name of its function or operation. */
export interface NamedEndpoint {
  readonly endpoint: Endpoint;
  /** Unique among all endpoints. */
  readonly name: string;
  /** The endpoint that has the name without a number; null without a collision, and for overloads. */
  readonly collidesWith: Endpoint | null;
}

/**
 * Names that no function may have: reserved words of JavaScript and TypeScript, globals that generated modules use, variables
 * of CommonJS, and `then`, which would make the module a thenable for `import()`.
 */
const reserved: ReadonlySet<string> = new Set(
  `arguments as async await break case catch class const continue crypto debugger default delete do else encodeURIComponent
  enum eval export exports extends false fetch finally for from function globalThis if implements import in instanceof
  interface let module new null of package private protected public require return setTimeout static super switch then this
  throw true try type typeof undefined using var void while with yield NaN Infinity`.split(/\s+/),
);

/** Characters of words. Symbols are replaced by their code points; all other characters separate words. */
const wordCharacter = /[\p{ID_Continue}\p{S}]/u;
const symbol = /[^\p{ID_Continue}]/u;
const separator = /[_$+<=>^`|~]|\p{Default_Ignorable_Code_Point}/u;

const codePointName = (character: string): string => `u${character.codePointAt(0)!.toString(16)}`;

/** Splits a name or path into words: `/get_user-by.id` has four. A symbol such as an emoji is a separate word, `u1f600`. */
export function splitWords(text: string): readonly string[] {
  const words: string[] = [];
  let inWord = false;
  for (const character of text) {
    const isPart = wordCharacter.test(character) && !separator.test(character);
    if (isPart && symbol.test(character)) {
      words.push(codePointName(character));
      inWord = false;
    } else if (isPart && inWord) {
      words.push(words.pop()! + character);
    } else {
      if (isPart) words.push(character);
      inWord = isPart;
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

/** Returns a name in Pascal case: `GetUserById`. A name without letters and digits becomes its code points. */
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

/** Returns a name in camel case: `getUserById`. It may be a reserved word. */
function camelCase(text: string): string {
  const pascal = pascalCase(text);
  const [first = '', ...rest] = splitWords(text);
  const camel = first === '' ? uncapitalize(pascal || 'root') : uncapitalize(first) + rest.map(capitalize).join('');
  return /^\p{ID_Start}/u.test(camel) ? camel : `_${camel}`;
}

function avoidReserved(name: string): string {
  return reserved.has(name) ? `${name}_` : name;
}

/** Returns the name with the lowest free number, from 2. */
export function numberedName(name: string, isUsed: (name: string) => boolean): string {
  for (let number = 2; ; number++) {
    if (!isUsed(`${name}${number}`)) return `${name}${number}`;
  }
}

/** Returns `-on-conflict-do-nothing-returning` for `insertOnConflictDoNothingReturning`. */
function operationPattern(operation: string): string {
  return operation.replace(/^(select|insert|update|delete)/, '').replaceAll(/[A-Z]/g, '-$&');
}

function baseName(endpoint: Endpoint, { urlPathPrefix, useRoutineNameInsteadOfEndpoint }: NamingOptions): string {
  const { table, name, path, method } = endpoint;
  const base = useRoutineNameInsteadOfEndpoint
    ? `${name}${table === null ? '' : operationPattern(table.operation)}`
    : withoutPrefix(path, urlPathPrefix ?? '');
  return table === null ? base : `${base}-${method.toLowerCase()}`;
}

function withoutPrefix(path: string, prefix: string): string {
  const root = `/${prefix.replaceAll(/^\/+|\/+$/g, '')}/`;
  return path.startsWith(root) ? path.slice(root.length) : path;
}

/** An endpoint with its preferred name. */
interface Candidate {
  readonly endpoint: Endpoint;
  /** In camel case; may be a reserved word. */
  readonly camel: string;
  /** The index among the overloads, from 0. */
  readonly overload: number;
}

/**
 * Names all endpoints, in their order. Endpoints with the same path and different methods end with the method, as operations
 * on tables always do. Overloads are numbered from 2 in the order of their signatures. On a collision the first endpoint keeps
 * the name, and the others take the next free number.
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
  // Numbered names come last: a number must not take the name of another path, such as `list2`.
  for (const { endpoint, camel, overload } of candidates.toSorted((left, right) => left.overload - right.overload)) {
    if (named.has(endpoint)) continue;
    const owner = ownersByName.get(avoidReserved(camel))!;
    const name = numberedName(camel, (candidate) => ownersByName.has(candidate));
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

/** Orders by number of parameters, then by code units: the order must not depend on a locale. */
function bySignature({ endpoint: left }: { endpoint: Endpoint }, { endpoint: right }: { endpoint: Endpoint }): number {
  const fewer = left.parameters.length - right.parameters.length;
  if (fewer !== 0 || left.id === right.id) return fewer;
  return left.id < right.id ? -1 : 1;
}

/** Returns a warning for each endpoint whose name has a number because of a collision. */
export function nameCollisions(named: readonly NamedEndpoint[]): readonly Diagnostic[] {
  return named.flatMap(({ endpoint, name, collidesWith }) =>
    collidesWith === null
      ? []
      : [collisionDiagnostic(endpoint, `${requestLine(endpoint)} is called ${quote(name)}`, collidesWith)],
  );
}

/** @param what the numbered item with its name, as in `GET /a is called "a2"` */
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
