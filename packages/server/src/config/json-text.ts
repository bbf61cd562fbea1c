/**
 * JSON with comments and trailing commas, with the position of the first error and of each value. `JSON.parse` gives no position
 * for some errors and accepts equal keys.
 */
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { Path } from '@pgway/core/internal';

/** A syntax error in JSON text. */
export class JsonTextError extends Error {
  override readonly name = 'JsonTextError';
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;

  constructor(message: string, text: string, offset: number) {
    super(message);
    const linesBefore = text.slice(0, offset).split('\n');
    this.line = linesBefore.length;
    this.column = linesBefore.at(-1)!.length + 1;
  }
}

const descriptions: Readonly<Record<ReturnType<typeof printParseErrorCode>, string>> = {
  InvalidSymbol: 'unexpected symbol',
  InvalidNumberFormat: 'invalid number',
  PropertyNameExpected: 'a key in double quotes expected',
  ValueExpected: 'a value expected',
  ColonExpected: '":" expected',
  CommaExpected: '"," expected',
  CloseBraceExpected: '"," or "}" expected',
  CloseBracketExpected: '"," or "]" expected',
  EndOfFileExpected: 'end of file expected',
  InvalidCommentToken: 'unexpected comment',
  UnexpectedEndOfComment: 'unterminated comment',
  UnexpectedEndOfString: 'unterminated string',
  UnexpectedEndOfNumber: 'invalid number',
  InvalidUnicode: 'invalid escape in a string',
  InvalidEscapeCharacter: 'invalid escape in a string',
  InvalidCharacter: 'control character in a string',
  '<unknown ParseErrorCode>': 'invalid JSON',
};

/** The value of a text, and where its parts are. */
export interface JsonText {
  readonly value: unknown;
  /** Returns the line of the value at the path, from 1; null without one. */
  readonly lineOf: (path: Path) => number | null;
}

/**
 * Parses JSON text; a byte order mark at its start is ignored.
 * @throws JsonTextError for syntax errors and for equal keys in an object
 */
export function parseJsonText(source: string): JsonText {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const errors: ParseError[] = [];
  const root = parse(text, errors);
  const [first] = errors;
  if (first !== undefined) {
    throw new JsonTextError(
      `${descriptions[printParseErrorCode(first.error)]}${found(text, first)}${remedyFor(first)}`,
      text,
      first.offset,
    );
  }
  return { value: toValue(root!, text), lineOf: (path) => lineOf(root!, path, text) };
}

function lineOf(root: Node, path: Path, text: string): number | null {
  const keys = path.map((key) => (typeof key === 'number' ? key : String(key)));
  const node = findNodeAtLocation(root, keys);
  return node === undefined ? null : text.slice(0, node.offset).split('\n').length;
}

function parse(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { allowTrailingComma: true });
  } catch (error) {
    // The parser recurses.
    if (error instanceof RangeError) throw new JsonTextError('too many levels', text, 0);
    throw error;
  }
}

function remedyFor({ error }: ParseError): string {
  return printParseErrorCode(error) === 'InvalidSymbol' ? '; keys and texts need double quotes' : '';
}

/** Quotes a single character only: a longer token may be a secret without quotes. */
function found(text: string, { offset, length }: ParseError): string {
  if (offset >= text.length) return ', found the end of the file';
  return length > 1 ? '' : `, found ${JSON.stringify(text.slice(offset, offset + length))}`;
}

function toValue(node: Node, text: string): unknown {
  const { children = [] } = node;
  if (node.type === 'array') return children.map((item) => toValue(item, text));
  if (node.type !== 'object') return node.value as unknown;
  const members = new Map<string, unknown>();
  for (const { children: [key, value] = [] } of children) {
    const name = key!.value as string;
    if (members.has(name)) throw new JsonTextError(`duplicate key ${JSON.stringify(name)}`, text, key!.offset);
    members.set(name, toValue(value!, text));
  }
  return Object.fromEntries(members);
}
