/** The grammar of a comment line of a test. */
import { nearestName } from '@pgway/core/suggestion';
import type { Expectation, ExpectationKind } from './test-file.ts';

/** A line that has a meaning; other lines are prose, or a part of the request above. */
export type Directive =
  | { readonly kind: 'test'; readonly name: string }
  | { readonly kind: 'identity'; readonly name: string; readonly json: string }
  | { readonly kind: 'request'; readonly method: string; readonly target: string; readonly identity: string | null }
  | { readonly kind: 'expect'; readonly text: string }
  | { readonly kind: 'capture'; readonly name: string; readonly path: string | null }
  | { readonly kind: 'fault'; readonly message: string };

const methodNames: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'];
const methods = new RegExp(`^(${methodNames.join('|')})\\s+(\\S+)(?:\\s+(.*))?$`);
/** A word and a path, with or without an identity: no prose has this form. */
const requestForm = /^([A-Za-z]+)\s+\/\S*(?:\s+as\s+\S+)?$/;
const identityUse = /^as\s+(\S+)$/;

/** Returns the directive of a line, or null. */
export function parseDirective(text: string): Directive | null {
  return parseRequest(text) ?? parseNamed(text) ?? findMethodMistake(text) ?? findMisspelling(text);
}

function parseRequest(text: string): Directive | null {
  const [, method, target, end = ''] = methods.exec(text) ?? [];
  if (method === undefined || target === undefined) return null;
  const rest = end.trim();
  const identity = identityUse.exec(rest)?.[1] ?? null;
  const isComplete = rest === '' || identity !== null;
  if (!target.startsWith('/'))
    return isComplete ? fault(`the path ${display(target)} does not begin with "/"; write ${method} /${target}`) : null;
  if (isComplete) return { kind: 'request', method, target, identity };
  return fault(
    `${display(rest)} is not part of a request; write ${method} ${target} as <identity>, or encode spaces of the path as %20`,
  );
}

function parseNamed(text: string): Directive | null {
  const [, word = '', rest = ''] = /^(test|identity|expect|capture)(?![\w-])\s*(.*)$/is.exec(text) ?? [];
  switch (word.toLowerCase()) {
    case 'test':
      return rest === '' ? fault('test needs a name, as in: test readers see only their loans') : test(rest);
    case 'identity':
      return parseIdentity(rest);
    case 'expect':
      return { kind: 'expect', text: rest };
    case 'capture':
      return parseCapture(rest);
    default:
      return null;
  }
}

const test = (name: string): Directive => ({ kind: 'test', name });
const fault = (message: string): Directive => ({ kind: 'fault', message });

function parseIdentity(rest: string): Directive {
  const [, name, json] = /^(\S+)\s+(\{.*)$/s.exec(rest) ?? [];
  if (name === undefined || json === undefined)
    return fault('identity needs a name and its claims, as in: identity ada {"sub": "1", "role": "author"}');
  return { kind: 'identity', name, json };
}

function parseCapture(rest: string): Directive {
  const [, name, path = null] = /^([A-Za-z_]\w*)(?:\s*=\s*(\$\S*))?$/.exec(rest) ?? [];
  if (name === undefined)
    return fault(
      'capture needs a name and a path in the body, as in: capture id = $.items[0].id; after a statement, a name',
    );
  return { kind: 'capture', name, path };
}

/** A request whose method is misspelled would be read as prose, and its expectations would be those of the request above. */
function findMethodMistake(text: string): Directive | null {
  const [, word] = requestForm.exec(text) ?? [];
  if (word === undefined) return null;
  const upper = word.toUpperCase();
  const near = methodNames.includes(upper) ? upper : nearestName(upper, methodNames);
  if (near === null && word !== upper) return null;
  return fault(`${display(word)} is not a method; write ${near ?? methodNames.join(', ')}`);
}

/** Words that would be read as prose if they were misspelled: what they expect would not be checked. `test` is too short. */
const checkedWords: readonly string[] = ['expect', 'identity', 'capture'];

function findMisspelling(text: string): Directive | null {
  const [, word = ''] = /^@?([A-Za-z]+)(?![\w-])/.exec(text) ?? [];
  const near = word.length < 5 ? null : nearestName(word, checkedWords);
  if (near === null) return null;
  return fault(`${display(word)} is not a word of tests; write ${near}, or begin the comment with another word`);
}

/** Returns the keys and indexes of a path such as `$.items[0].id`; null for another text. */
export function parsePath(path: string): readonly (string | number)[] | null {
  if (!/^\$(?:\.[A-Za-z_][\w-]*|\[\d+\])*$/.test(path)) return null;
  return [...path.matchAll(/\.([A-Za-z_][\w-]*)|\[(\d+)\]/g)].map(([, key, index]) => key ?? Number(index));
}

const ofRequests: ReadonlySet<ExpectationKind> = new Set([
  'status',
  'rows',
  'problem',
  'header',
  'text',
  'body',
  'contains',
]);
const ofStatements: ReadonlySet<ExpectationKind> = new Set(['true', 'rows', 'error']);

type Part = Expectation extends infer Each ? (Each extends Expectation ? Omit<Each, 'line'> : never) : never;
type Item = readonly [pattern: RegExp, create: (found: RegExpExecArray) => Part];

const items: readonly Item[] = [
  [/^(?:status\s+)?([1-5]\d\d)(?!\S)/, ([, status]) => ({ kind: 'status', status: Number(status) })],
  [/^rows\s+(\d{1,9})(?!\S)/, ([, count]) => ({ kind: 'rows', count: Number(count) })],
  [/^problem\s+([\w-]+)(?!\S)/, ([, code]) => ({ kind: 'problem', code: code! })],
  [/^true(?!\S)/, () => ({ kind: 'true' })],
  [/^error\s+([\dA-Z]{5})(?!\S)/, ([, code]) => ({ kind: 'error', code: code! })],
  [/^header\s+([\w-]+)\s*:\s*(.*)$/s, ([, name, value]) => ({ kind: 'header', name: name!, value: value!.trim() })],
  [/^body\s+text(?:\s+(.*))?$/s, ([, text = '']) => ({ kind: 'text', text })],
  [/^body\s+contains\s+(.+)$/s, ([, json]) => ({ kind: 'contains', json: json! })],
  [/^body\s+(?!text\b|contains\b)(.+)$/s, ([, json]) => ({ kind: 'body', json: json! })],
];

/** Returns the expectations of a line, or why they are not valid. */
export function parseExpectations(
  text: string,
  line: number,
  step: 'request' | 'statement',
): readonly Expectation[] | string {
  const known = step === 'request' ? ofRequests : ofStatements;
  const found: Expectation[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const [part, length] = parseItem(rest) ?? [];
    if (part === undefined || length === undefined) return `${display(rest)} is not an expectation; ${help(step)}`;
    if (!known.has(part.kind)) return `a ${step} has no expectation ${display(rest.slice(0, length))}; ${help(step)}`;
    found.push({ line, ...part });
    rest = rest.slice(length).trim();
  }
  return found.length === 0 ? `expect has no expectation; ${help(step)}` : found;
}

function parseItem(rest: string): readonly [Part, number] | null {
  for (const [pattern, create] of items) {
    const match = pattern.exec(rest);
    if (match !== null) return [create(match), match[0].length];
  }
  return null;
}

function help(step: 'request' | 'statement'): string {
  return step === 'request'
    ? 'a request has a status, rows <n>, problem <code>, header <name>: <value>, body <JSON>, body contains <JSON>, body text <text>'
    : 'a statement has true, rows <n>, error <SQLSTATE>';
}

const shownCharacters = 60;

function display(text: string): string {
  return JSON.stringify(text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text);
}
