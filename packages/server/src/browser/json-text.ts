/** JSON for readers. The text is indented without parsing it, so that numbers keep all digits, and a part of a document is legible too. */

export interface JsonToken {
  readonly kind: 'key' | 'string' | 'number' | 'word' | 'space';
  readonly text: string;
}

// The second alternative is a string without an end. `[^"\\]+` would take exponential time there.
const pattern = /("(?:[^"\\]|\\.)*")(\s*:)?|"[^]*|[[\]{},]|[^\s[\]{},"]+/gs;
/** Deeper lines are not indented further, which would make the text grow with the square of the depth. */
const maxIndent = 24;

/** Yields the tokens of one or several JSON values. */
export function* formatJson(text: string): Generator<JsonToken> {
  let depth = 0;
  let previous = '';
  for (const [token, key, colon] of text.matchAll(pattern)) {
    if (isClosing(token)) depth = Math.max(0, depth - 1);
    if (needsNewLine(token, previous, depth)) {
      yield { kind: 'space', text: `\n${'  '.repeat(Math.min(depth, maxIndent))}` };
    }
    if (colon === undefined) {
      yield { kind: kindOf(token), text: token };
      previous = token;
    } else {
      yield { kind: 'key', text: key! };
      yield { kind: 'space', text: ': ' };
      previous = ':';
    }
    if (isOpening(token)) depth += 1;
  }
}

const isOpening = (token: string): boolean => token === '{' || token === '[';
const isClosing = (token: string): boolean => token === '}' || token === ']';

/** @param depth of the token */
function needsNewLine(token: string, previous: string, depth: number): boolean {
  if (isClosing(token)) return !isOpening(previous);
  if (token === ',' || previous === ':' || previous === '') return false;
  return isOpening(previous) || previous === ',' || depth === 0;
}

function kindOf(token: string): JsonToken['kind'] {
  if (token.startsWith('"')) return 'string';
  if (/^-?\d/.test(token)) return 'number';
  return /^[[\]{},]$/.test(token) ? 'space' : 'word';
}
