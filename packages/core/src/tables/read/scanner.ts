import type { Field, JsonStep } from './query.ts';

import { type ReadFault, syntaxFault } from './read-fault.ts';

/** Steps of a JSON path. Each number of steps is a statement, and PostgreSQL parses steps as nested expressions. */
const maxPathSteps = 32;

/** Reads the text of one parameter from left to right. */
export class Scanner {
  readonly #parameter: string;
  readonly #text: string;
  #position = 0;

  constructor(parameter: string, text: string) {
    this.#parameter = parameter;
    this.#text = text;
    if (text.includes('\0')) throw this.problem('PostgreSQL has no text with a zero byte; the value read has one');
  }

  get parameter(): string {
    return this.#parameter;
  }

  get position(): number {
    return this.#position;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#text.length;
  }

  /** Whether the rest begins with the text. */
  sees(text: string): boolean {
    return this.#text.startsWith(text, this.#position);
  }

  /** Passes the text if the rest begins with it. */
  accept(text: string): boolean {
    if (!this.sees(text)) return false;
    this.#position += text.length;
    return true;
  }

  /** @throws ReadFault */
  require(text: string): void {
    if (!this.accept(text)) throw this.problem(`"${text}" is expected`);
  }

  /** Passes the longest match of a sticky pattern, which may be empty. */
  match(pattern: RegExp): string {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#position += found.length;
    return found;
  }

  /** Returns to the position before the last `match`. */
  back(length: number): void {
    this.#position -= length;
  }

  /** Reads a name, plain or in double quotes. */
  name(): string {
    const name = this.sees('"') ? this.quoted() : this.match(plainName).trim();
    if (name === '') throw this.problem('a name is expected');
    return name;
  }

  /** Reads text in double quotes, in which a backslash escapes. */
  quoted(): string {
    const text = this.match(quotedText);
    if (text === '') throw this.problem('text in double quotes is expected');
    return unquote(text);
  }

  /** Reads an element of a list: text in double quotes, or text up to a comma or parenthesis. */
  element(): string {
    const quoted = this.match(quotedElement);
    return quoted === '' ? this.match(plainElement) : unquote(quoted);
  }

  /** Reads a column with its JSON path: `data->tags->>0`. */
  field(): Field {
    const position = this.#position;
    return { column: this.name(), path: this.path(), position };
  }

  path(): readonly JsonStep[] {
    const steps: JsonStep[] = [];
    while (this.sees('->')) {
      const gives = this.accept('->>') ? 'text' : 'json';
      if (gives === 'json') this.require('->');
      if (steps.length === maxPathSteps) throw this.problem(`a JSON path has more than ${maxPathSteps} steps`);
      steps.push({ gives, key: this.#key() });
    }
    return steps;
  }

  #key(): string {
    const key = this.sees('"') ? this.quoted() : this.match(plainKey).trim();
    if (key === '') throw this.problem('a key is expected');
    if (/^-(?!\d+$)/.test(key)) throw this.problem('a number is expected after "-"');
    return key;
  }

  /**
   * Requires the end of the text. Parentheses and apostrophes that are too many have no effect, as in PostgREST.
   * @throws ReadFault
   */
  finish(expected: string): void {
    this.match(superfluous);
    if (!this.isAtEnd) throw this.problem(`${expected} is expected`);
  }

  problem(reason: string): ReadFault {
    return syntaxFault(this.#parameter, reason, this.#position);
  }
}

/** A hyphen is part of a name unless it begins an arrow. Blanks after a name are not. */
const plainName = /(?:[^\s,():!."\->]|-(?!>)|[ ](?=[^\s,():!."\->]))+ */uy;
const quotedText = /"(?:[^"\\]|\\.)*"/suy;
/** A key of a JSON path has more characters than a name. */
const plainKey = /(?:[^\s,():."\->]|-(?!>)|[ ](?=[^\s,():."\->]))+ */uy;
/** The end of an element follows. */
const quotedElement = /"(?:[^"\\]|\\.)*"(?=[,)])/suy;
const plainElement = /[^,)]*/uy;
const superfluous = /[)']*/y;

function unquote(text: string): string {
  return text.slice(1, -1).replaceAll(/\\(.)/gsu, '$1');
}
