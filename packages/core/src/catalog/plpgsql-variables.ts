import type { SqlToken } from './tokenize-sql.ts';

/** Statements that assign to variables which occur in them, in ways that are not analyzed. */
const assigningStatements: ReadonlySet<string> = new Set(['foreach', 'fetch', 'move', 'get', 'call']);
const segmentEdges: ReadonlySet<string> = new Set([';', 'begin', 'declare', 'then', 'else', 'loop', 'exception']);
/** Returns the variables that the outermost block declares, which hide parameters of the same name. */
export function readDeclared(tokens: readonly SqlToken[]): ReadonlySet<string> {
  const declared = new Set<string>();
  // A label has five tokens: `<<name>>`.
  let index = tokens[0]?.text === '<' ? 5 : 0;
  if (wordAt(tokens, index) !== 'declare') return declared;
  for (index++; index < tokens.length && wordAt(tokens, index) !== 'begin'; index = endOfStatement(tokens, index) + 1) {
    if (!otherDeclarations.has(wordAt(tokens, index + 1))) declared.add(wordAt(tokens, index));
  }
  return declared;
}

/** Words behind the name of what is not a variable. */
const otherDeclarations: ReadonlySet<string> = new Set(['alias', 'cursor']);

/** Returns the index of the next semicolon. */
function endOfStatement(tokens: readonly SqlToken[], start: number): number {
  const end = tokens.findIndex(({ kind, text }, index) => index >= start && kind === 'symbol' && text === ';');
  return end === -1 ? tokens.length : end;
}

function wordAt(tokens: readonly SqlToken[], index: number): string {
  const token = tokens[index];
  return token?.kind === 'word' ? token.text : '';
}

/** Yields the positions of the expressions that are assigned to a variable, also in its declaration. */
export function* assignments(tokens: readonly SqlToken[], name: string): Iterable<number> {
  for (const [start, end] of segments(tokens)) {
    if (!tokens.slice(start, end).some((token) => token.kind === 'word' && token.text === name)) continue;
    const sign = assignmentSign(tokens, start, end);
    if (sign === null) continue;
    const target = tokens.slice(start, sign.at).some((token) => token.kind === 'word' && token.text === name);
    if (target) yield sign.at + sign.length;
  }
}

/** These begin a statement or a clause in which `=` compares. */
const comparingWords: ReadonlySet<string> = new Set(
  'if elsif while when case select perform return raise update assert exit continue open execute'.split(' '),
);

/** Returns the first assignment of a statement: `:=`, `=`, or DEFAULT of a declaration. Only a target or a type is before it. */
function assignmentSign(
  tokens: readonly SqlToken[],
  start: number,
  end: number,
): { readonly at: number; readonly length: number } | null {
  for (let at = start; at < end; at++)
    if (tokens[at]!.text === ':' && tokens[at + 1]?.text === '=') return { at, length: 2 };
  for (let at = start; at < end; at++) {
    const { kind, text } = tokens[at]!;
    if (kind === 'symbol' && text === '=') return { at, length: 1 };
    if (kind === 'word' && text === 'default') return { at, length: 1 };
    if (kind === 'word' && comparingWords.has(text)) return null;
  }
  return null;
}

/** Returns whether a statement assigns to the variable by INTO, FOR, or as a parameter. */
export function isAssignedElsewhere(tokens: readonly SqlToken[], name: string): boolean {
  for (const [start, end] of segments(tokens)) {
    const words = tokens.slice(start, end).map(({ kind, text }) => (kind === 'word' ? text : ''));
    if (!words.includes(name)) continue;
    if (words.some((word) => assigningStatements.has(word))) return true;
    const into = words.indexOf('into');
    const using = words.indexOf('using', into);
    if (into !== -1 && words.slice(into, using === -1 ? undefined : using).includes(name)) return true;
    const loop = words.indexOf('for');
    // Without IN: `open cursor for execute …`.
    const list = loop === -1 ? -1 : words.indexOf('in', loop);
    if (list !== -1 && words.slice(loop, list).includes(name)) return true;
  }
  return false;
}

/** Yields the statements, and the parts between their keywords. */
function* segments(tokens: readonly SqlToken[]): Iterable<readonly [start: number, end: number]> {
  let start = 0;
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind === 'literal' || !segmentEdges.has(text)) continue;
    yield [start, index];
    start = index + 1;
  }
  yield [start, tokens.length];
}
