/**
 * Reads JSON and says where it is broken. `JSON.parse` gives a position for some errors only, differently in every
 * version of Node, and lets the last of two equal keys win in silence.
 */
export class JsonTextError extends Error {
  /** Both from 1. */
  readonly line: number;
  readonly column: number;

  constructor(message: string, text: string, offset: number) {
    super(message);
    this.name = 'JsonTextError';
    const before = text.slice(0, offset).split('\n');
    this.line = before.length;
    this.column = before.at(-1)!.length + 1;
  }
}

const deepest = 64;
const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
// The control characters are what JSON forbids inside of strings.
// eslint-disable-next-line no-control-regex
const quoted = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** @throws JsonTextError with line and column */
export function parseJsonText(text: string): unknown {
  return new JsonReader(text).readAll();
}

class JsonReader {
  readonly #text: string;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith('\uFEFF') ? 1 : 0;
  }

  readAll(): unknown {
    const value = this.#readValue(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail(`nothing more expected, ${this.#found()}`);
    return value;
  }

  #readValue(depth: number): unknown {
    if (depth > deepest) this.#fail('too many levels');
    if (this.#takes('{')) return this.#readMembers(depth);
    if (this.#takes('[')) return this.#readItems(depth);
    if (this.#text[this.#at] === '"') return this.#readString('a string');
    const match = this.#take(literal);
    if (match === null) this.#fail(`a value expected, ${this.#found()}`);
    return JSON.parse(match) as unknown;
  }

  #readMembers(depth: number): unknown {
    const members = new Map<string, unknown>();
    if (this.#takes('}')) return {};
    do {
      this.#skipSpace();
      const start = this.#at;
      const key = this.#readString('a key in double quotes');
      if (members.has(key)) this.#fail(`the key ${JSON.stringify(key)} stands here twice`, start);
      if (!this.#takes(':')) this.#fail(`":" expected, ${this.#found()}`);
      members.set(key, this.#readValue(depth + 1));
    } while (this.#takes(','));
    if (!this.#takes('}')) this.#fail(`"," or "}" expected, ${this.#found()}`);
    return Object.fromEntries(members);
  }

  #readItems(depth: number): unknown {
    const items: unknown[] = [];
    if (this.#takes(']')) return items;
    do items.push(this.#readValue(depth + 1));
    while (this.#takes(','));
    if (!this.#takes(']')) this.#fail(`"," or "]" expected, ${this.#found()}`);
    return items;
  }

  #readString(what: string): string {
    const match = this.#take(quoted);
    if (match !== null) return JSON.parse(match) as string;
    const isBegun = this.#text[this.#at] === '"';
    return this.#fail(
      isBegun ? 'a string that does not end, or has a bad escape' : `${what} expected, ${this.#found()}`,
    );
  }

  #take(expression: RegExp): string | null {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.#text)?.[0] ?? null;
    if (match !== null) this.#at += match.length;
    return match;
  }

  #takes(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    while (this.#at < this.#text.length && ' \t\r\n'.includes(this.#text[this.#at]!)) this.#at += 1;
  }

  #found(): string {
    return this.#at < this.#text.length ? `found ${JSON.stringify(this.#text[this.#at])}` : 'the file ends here';
  }

  #fail(message: string, offset: number = this.#at): never {
    throw new JsonTextError(message, this.#text, offset);
  }
}
