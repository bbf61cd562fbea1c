import { nearestName } from '../validation/suggestion.ts';
import type { FileComment } from './scan.ts';

/** What the comments of a file say of a parameter. */
export interface ParameterDirective {
  /** The name in the statement: `first_name` or `$1`. */
  readonly name: string;
  /** The public name of `$1`. */
  rename?: string;
  /** The type in SQL. */
  type?: string;
  /** The line of `type`. */
  typeLine?: number;
  /** The default in PostgreSQL's text format; null: NULL. */
  default?: string | null;
  /** The name of the claim that the value is taken from. */
  claim?: string;
  /** The line of `claim`. */
  claimLine?: number;
  /** Whether no statement needs to use it. */
  isDefined?: true;
  readonly line: number;
}

/** What the comments of a file say of one statement. */
export interface StatementDirective {
  name?: string;
  isSingle?: true;
  /** The line of the word `scalar`: the statement must have one column. */
  scalarLine?: number;
  isSkipped?: true;
}

export interface Directives {
  /** By the name in the statement. */
  readonly parameters: ReadonlyMap<string, ParameterDirective>;
  readonly statements: ReadonlyMap<number, StatementDirective>;
  /** Names by the number of a result, from 1: `result2 films`. */
  readonly resultNames: ReadonlyMap<number, { readonly name: string; readonly line: number }>;
  readonly isVoid: boolean;
  /** Whether the response is the result of the last statement alone. */
  readonly isLast: boolean;
  /** The lines of the file that are left for the annotations of endpoints, without those that were read here. */
  readonly comment: string;
  readonly faults: readonly { readonly line: number; readonly message: string }[];
}

interface Reading {
  readonly parameters: Map<string, ParameterDirective>;
  readonly statements: Map<number, StatementDirective>;
  readonly resultNames: Map<number, { readonly name: string; readonly line: number }>;
  readonly names: ReadonlySet<string>;
  readonly renames: ReadonlyMap<string, string>;
  readonly faults: { readonly line: number; readonly message: string }[];
  isVoid: boolean;
  isLast: boolean;
}

/** The parameters of the statements. */
interface StatementNames {
  readonly names: ReadonlySet<string>;
  /** `listRenames` of the comments. */
  readonly renames: ReadonlyMap<string, string>;
}

/** Reads the comments. */
export function readDirectives(comments: readonly FileComment[], { names, renames }: StatementNames): Directives {
  const reading: Reading = {
    parameters: new Map(),
    statements: new Map(),
    resultNames: new Map(),
    names,
    renames,
    faults: [],
    isVoid: false,
    isLast: false,
  };
  const lines: string[] = [];
  for (const comment of comments) {
    if (!isAnnotation(comment)) continue;
    const text = readLine(reading, comment);
    if (text === null) continue;
    while (lines.length < comment.line) lines.push('');
    const before = lines[comment.line - 1]!;
    lines[comment.line - 1] = before === '' ? text : `${before} ${text}`;
  }
  return { ...reading, comment: lines.join('\n') };
}

/** Whether annotations are read from the comment: within a statement, those with `@` only. */
export function isAnnotation({ isInside, text }: FileComment): boolean {
  return !isInside || text.startsWith('@');
}

/** Returns the statement's name of each parameter that a comment gives a name: `$1` of `param $1 is id`. */
export function listRenames(comments: readonly FileComment[]): ReadonlyMap<string, string> {
  const renames = new Map<string, string>();
  for (const comment of comments) {
    const [, number, rest] = /^(?:@\s*)?param(?:eter)?\s+(\$\d+)\s+([^]*)$/i.exec(comment.text) ?? [];
    const name = rest === undefined || otherSources.test(rest) ? undefined : findNewName(rest)?.name;
    if (name !== undefined && isAnnotation(comment)) renames.set(name, number!);
  }
  return renames;
}

const typeName =
  /^(?:"[^"]+"|[a-z_][\w$]*)(?:\.(?:"[^"]+"|[a-z_][\w$]*))?(?: (?:varying|precision|with time zone|without time zone))?(?:\(\d+(?:, ?\d+)?\))?(?:\[\])*$/i;

/** Returns null for a line that was read, or else the text for the annotations of endpoints. */
function readLine(reading: Reading, comment: FileComment): string | null {
  const text = comment.text.replace(/^@\s*/, '').trim();
  const [keyword = '', ...rest] = text.split(/\s+/);
  const word = keyword.toLowerCase();
  if (rest.length === 0 && readFlag(reading, word, comment)) return null;
  switch (word) {
    case 'param':
    case 'parameter':
      return readParameter(reading, text.slice(keyword.length).trim(), comment) ? null : comment.text;
    case 'define_param':
      return defineParameter(reading, rest, comment);
    case 'result':
      return readResult(reading, rest, comment);
    default:
      return readNumberedResult(reading, word, rest, comment.line) ? null : comment.text;
  }
}

const singleWords: ReadonlySet<string> = new Set(['single', 'single_record', 'single_result']);
const skipWords: ReadonlySet<string> = new Set(['skip', 'skip_result', 'no_result']);

/** Reads a line of one word. */
function readFlag(reading: Reading, word: string, comment: FileComment): boolean {
  if (word === 'void' || word === 'void_result') reading.isVoid = true;
  else if (singleWords.has(word)) statementOf(reading, comment).isSingle = true;
  else if (word === 'scalar')
    Object.assign(statementOf(reading, comment), { isSingle: true, scalarLine: comment.line });
  else if (skipWords.has(word)) statementOf(reading, comment).isSkipped = true;
  else return false;
  return true;
}

function statementOf({ statements }: Reading, { statement }: FileComment): StatementDirective {
  let found = statements.get(statement);
  if (found === undefined) statements.set(statement, (found = {}));
  return found;
}

function readResult(reading: Reading, rest: readonly string[], comment: FileComment): string | null {
  const name = readResultName(rest);
  if (name === null) return comment.text;
  if (name.toLowerCase() === 'last') reading.isLast = true;
  else statementOf(reading, comment).name = name;
  return null;
}

/** Reads `result2 films` or `result2 is films`, as NpgsqlRest names results. */
function readNumberedResult(reading: Reading, word: string, rest: readonly string[], line: number): boolean {
  const number = /^result([1-9]\d{0,2})$/.exec(word)?.[1];
  const name = number === undefined ? null : readResultName(rest);
  if (name === null) return false;
  reading.resultNames.set(Number(number), { name, line });
  return true;
}

/** Returns null for words that are not a name. */
function readResultName(rest: readonly string[]): string | null {
  const [name, ...more] = rest[0]?.toLowerCase() === 'is' ? rest.slice(1) : rest;
  return name !== undefined && more.length === 0 && /^[A-Za-z_]\w*$/.test(name) ? name : null;
}

function defineParameter(reading: Reading, [name, ...rest]: readonly string[], { line }: FileComment): null {
  const type = rest.join(' ').replace(/^(?:type )?(?:is )?/i, '') || 'text';
  if (name === undefined || !/^[A-Za-z_]\w*$/.test(name) || !typeName.test(type)) {
    reading.faults.push({
      line,
      message: 'define_param needs a name and, unless it is text, a type: define_param page int',
    });
    return null;
  }
  reading.parameters.set(name, { ...reading.parameters.get(name), name, type, typeLine: line, isDefined: true, line });
  return null;
}

/** Sources of values that annotations of routines know. */
const otherSources =
  /^(?:is\s+(?:hash\b|upload\b|user_id$|user_name$|user_roles$|user_claims$|ip_address$)|:?=\s*(?:\(|(?:select|with|values|table)\b))/i;

/** Returns whether the line concerns a parameter of the file: its name, type, default or claim. */
function readParameter(reading: Reading, text: string, { line }: FileComment): boolean {
  const [written = ''] = text.split(/[\s=]+/, 1);
  let rest = text.slice(written.length).trim();
  if (otherSources.test(rest)) return false;
  const name = reading.renames.get(written) ?? written;
  if (!reading.names.has(name) && !reading.parameters.has(name)) return refuseUnknown(reading, name, rest, line);
  const parameter = reading.parameters.get(name) ?? { name, line };
  // The word behind a name that `$1` has got is a type.
  if (written.startsWith('$')) rest = readName(parameter, rest);
  const isRead = readClauses(parameter, rest, line);
  if (!isRead && written.startsWith('$')) return report(reading, written, rest, line);
  if (!isRead) return /^(?:default|type|=|(?:is\s+)?claim)/i.test(rest) ? report(reading, written, rest, line) : false;
  reading.parameters.set(name, parameter);
  return true;
}

/** Reads the name of `$1`. Returns the text behind it. */
function readName(parameter: ParameterDirective, text: string): string {
  const found = findNewName(text);
  if (found === null) return text;
  parameter.rename = found.name;
  return found.rest;
}

/** Returns the name that the words behind `$1` give it, and the text behind the name; null without one. */
function findNewName(text: string): { readonly name: string; readonly rest: string } | null {
  const [whole, name] = /^(?:is\s+)?([A-Za-z_]\w*)\b\s*/i.exec(text) ?? [];
  if (whole === undefined || /^(?:default|type|claim)$/i.test(name!)) return null;
  return { name: name!, rest: text.slice(whole.length) };
}

function report(reading: Reading, name: string, rest: string, line: number): true {
  const message = `"${rest}" says nothing of the parameter ${name}; write param ${name} type int, param ${name} default 20 or param ${name} is claim sub`;
  reading.faults.push({ line, message });
  return true;
}

function refuseUnknown(reading: Reading, name: string, rest: string, line: number): boolean {
  if (!/^(?:default\b|type\b|=|is\s+claim\b)/i.test(rest) && !/^\$\d+$/.test(name)) return false;
  const near = nearestName(name, [...reading.names]);
  const hint = near === null ? 'correct the name, or remove the line' : `did you mean "${near}"?`;
  reading.faults.push({ line, message: `no statement of the file has the parameter "${name}"; ${hint}` });
  return true;
}

/** Reads `[type [is]] <type> [default <value>]`, `= <value>` and `is claim <name>`. */
function readClauses(parameter: ParameterDirective, text: string, line: number): boolean {
  const claim = /^is\s+claim\s+(\S+)$/i.exec(text);
  if (claim !== null) {
    Object.assign(parameter, { claim: claim[1]!, claimLine: line });
    return true;
  }
  // One character of space: a search for several would take a time that grows with the square of their number.
  const found = /(?:^|\s)default(?=\s|$)|=/i.exec(text);
  const before = found === null ? text : text.slice(0, found.index);
  const type = before
    .replace(/^type\s+/i, '')
    .replace(/^is\s+/i, '')
    .trim();
  if (type !== '') {
    if (!typeName.test(type)) return false;
    Object.assign(parameter, { type, typeLine: line });
  }
  if (found !== null) parameter.default = readDefault(text.slice(found.index + found[0].length).trim());
  return true;
}

/** NULL by `null` or nothing; text in quotes; anything else as it is written. */
function readDefault(value: string): string | null {
  if (value === '' || value.toLowerCase() === 'null') return null;
  const quoted = /^'((?:[^']|'')*)'$/.exec(value);
  return quoted === null ? value : quoted[1]!.replaceAll("''", "'");
}
