import { type JsonSlice, readElements, sliceToText } from './json-slice.ts';
import { Problem } from './problem.ts';

/** A syntax error, a duplicate key or too deep nesting. */
export class JsonError extends Error {
  /** From 0, in UTF-16 units. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = 'JsonError';
    this.position = position;
  }
}

/** Levels of nesting. */
const maxDepth = 64;
/** Keys of the outermost object, which are parameters: no routine has more. */
const maxKeys = 1_000;

const literals = { t: 'true', f: 'false', n: 'null' } as const;
const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** The text between escapes. A single character class: alternatives would need stack for each character. */
// oxlint-disable-next-line no-control-regex
const runPattern = /[^"\\\u0000-\u001f]*/y;
const escapePattern = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Reads one JSON document and returns the position of its value.
 * @throws JsonError for text that is not JSON (RFC 8259), for duplicate keys and `__proto__` at any depth, and past a
 * depth of 64
 * @throws Problem `malformed-body` for an object of more than 1,000 keys at the top level
 */
export function readJson(text: string): JsonSlice {
  const reader = new Reader(text, maxKeys);
  const value = reader.value(reader.space(0), 0);
  const rest = reader.space(value.end);
  if (rest < text.length) throw new JsonError('unexpected text after the value', rest);
  return value;
}

/**
 * Returns the elements of a JSON array as text, without nulls. Numbers keep their digits, nested values their JSON text.
 * @throws JsonError for text that is not JSON
 */
export function arrayTexts(json: string): readonly string[] {
  return readElements(readJson(json)).flatMap((item) => (item.kind === 'null' ? [] : [sliceToText(item)]));
}

/** Returns the end of a match of the sticky pattern at `start`; null without one. */
function matchEnd(pattern: RegExp, text: string, start: number): number | null {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : null;
}

function tooManyKeys(): Problem {
  return new Problem('malformed-body', { detail: `The object in the body has more than ${maxKeys} keys.` });
}

class Reader {
  readonly #text: string;
  readonly #maxKeys: number;

  /** @param keys the maximum number of keys of the outermost object */
  constructor(text: string, keys = Infinity) {
    this.#text = text;
    this.#maxKeys = keys;
  }

  space(start: number): number {
    let position = start;
    for (;;) {
      const code = this.#text.charCodeAt(position);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return position;
      position++;
    }
  }

  value(start: number, depth: number): JsonSlice {
    if (depth > maxDepth) throw new JsonError(`nested deeper than ${maxDepth} levels`, start);
    const text = this.#text;
    switch (text[start]) {
      case '"':
        return this.#slice('string', start, this.#string(start));
      case '{':
        return this.#slice('object', start, this.#object(start, depth));
      case '[':
        return this.#slice('array', start, this.#array(start, depth));
      case 't':
      case 'f':
        return this.#slice('boolean', start, this.#literal(start));
      case 'n':
        return this.#slice('null', start, this.#literal(start));
      default:
        return this.#slice('number', start, this.#number(start));
    }
  }

  #slice(kind: JsonSlice['kind'], start: number, end: number): JsonSlice {
    return { kind, text: this.#text, start, end };
  }

  #unexpected(position: number): never {
    if (position >= this.#text.length) throw new JsonError('unexpected end', position);
    throw new JsonError(
      `unexpected ${JSON.stringify(String.fromCodePoint(this.#text.codePointAt(position)!))}`,
      position,
    );
  }

  #string(start: number): number {
    const text = this.#text;
    if (text[start] !== '"') this.#unexpected(start);
    let position = start + 1;
    for (;;) {
      position = matchEnd(runPattern, text, position) ?? position;
      if (text[position] === '"') return position + 1;
      const escaped = matchEnd(escapePattern, text, position);
      if (escaped === null) break;
      position = escaped;
    }
    throw new JsonError('a string that is not closed, or with a control character or an unknown escape', start);
  }

  #literal(start: number): number {
    const literal = literals[this.#text[start] as keyof typeof literals];
    if (!this.#text.startsWith(literal, start)) this.#unexpected(start);
    return start + literal.length;
  }

  #number(start: number): number {
    return matchEnd(numberPattern, this.#text, start) ?? this.#unexpected(start);
  }

  #array(start: number, depth: number): number {
    let position = this.space(start + 1);
    if (this.#text[position] === ']') return position + 1;
    for (;;) {
      const item = this.value(position, depth + 1);
      position = this.space(item.end);
      const next = this.#text[position];
      if (next === ']') return position + 1;
      if (next !== ',') this.#unexpected(position);
      position = this.space(position + 1);
    }
  }

  #object(start: number, depth: number): number {
    const keys = new Set<string>();
    let position = this.space(start + 1);
    if (this.#text[position] === '}') return position + 1;
    for (;;) {
      const keyEnd = this.#string(position);
      const key = sliceToText(this.#slice('string', position, keyEnd));
      if (keys.has(key))
        throw new JsonError(`the key ${JSON.stringify(truncateKey(key))} appears twice in one object`, position);
      if (key === '__proto__') throw new JsonError('the key "__proto__" is not allowed', position);
      keys.add(key);
      if (depth === 0 && keys.size > this.#maxKeys) throw tooManyKeys();
      position = this.space(keyEnd);
      if (this.#text[position] !== ':') this.#unexpected(position);
      const member = this.value(this.space(position + 1), depth + 1);
      position = this.space(member.end);
      const next = this.#text[position];
      if (next === '}') return position + 1;
      if (next !== ',') this.#unexpected(position);
      position = this.space(position + 1);
    }
  }
}

const longestKey = 100;

/** Returns a key of the client's as a response repeats it. */
export function truncateKey(key: string): string {
  return truncate(key, longestKey);
}

/** Returns a text of the client's as a response repeats it: a refusal must not be as large as what it refuses. */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Half of a surrogate pair is not a character.
  return `${text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '')}…`;
}
