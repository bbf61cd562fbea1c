import type { Value } from '../../postgres/port.ts';
import type { QueryStatement, ValueSource } from '../../ports/ports.ts';
import { type BoundValue, resolveValues, type TextValue } from './request-value.ts';

/** A text, one that is made when a statement is new, or the number of a value. */
type Piece = string | (() => string) | number;

/** A statement whose text is made for a new key. */
export interface FinishedStatement extends QueryStatement {
  readonly sql: () => string;
  readonly statementKey: string;
}

/**
 * A statement or a part of one, written from its beginning to its end: the order of the values is that of the text. The text consists of
 * names of the catalog and texts of the gateway only. It is joined once per statement key, and so not for most requests.
 */
export class SqlText {
  readonly #pieces: Piece[] = [];
  readonly #values: BoundValue[] = [];
  readonly #sources: ValueSource[] = [];
  #key = '';

  /** Those of `$1`, `$2`, … */
  get values(): readonly BoundValue[] {
    return this.#values;
  }

  /** The characters of its key, which has most of the text. */
  get size(): number {
    return this.#key.length;
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /**
   * Adds text.
   * @param key tells the text from others that may have its place in the statements of one endpoint
   */
  add(text: string, key: string = text): this {
    if (text === '') return this;
    this.#pieces.push(text);
    this.#key += key;
    return this;
  }

  /** Adds a text that is made only for a new statement. */
  addLazily(text: () => string, key: string): this {
    this.#pieces.push(text);
    this.#key += key;
    return this;
  }

  /** Adds the placeholder of a value, with a cast to the type in SQL. */
  bind(value: BoundValue, type: string, source: ValueSource, key: string = `$::${type}`): this {
    this.#pieces.push(this.#values.push(value), `::${type}`);
    this.#sources.push(source);
    this.#key += key;
    return this;
  }

  /** Adds a value whose placeholder is in a text that is added. */
  addValue(value: Value, source: ValueSource): this {
    this.#values.push(value);
    this.#sources.push(source);
    return this;
  }

  append(other: SqlText): this {
    const before = this.#values.length;
    for (const piece of other.#pieces) this.#pieces.push(typeof piece === 'number' ? piece + before : piece);
    for (const value of other.#values) this.#values.push(value);
    for (const source of other.#sources) this.#sources.push(source);
    this.#key += other.#key;
    return this;
  }

  /**
   * Returns the statement. The prefix distinguishes the statements of one endpoint.
   * @param texts the values of the request, where the text is for all requests of a shape
   */
  finish(prefix: string, texts: readonly TextValue[] = []): FinishedStatement {
    const pieces = this.#pieces;
    return {
      statementKey: `${prefix}:${this.#key}`,
      sql: () => pieces.map(textOf).join(''),
      values: resolveValues(this.#values, texts),
      valueSources: this.#sources,
    };
  }
}

/** Joins text of the gateway with parts. */
export function sql(strings: TemplateStringsArray, ...parts: readonly SqlText[]): SqlText {
  const whole = new SqlText();
  for (const [index, string] of strings.entries()) {
    whole.add(string);
    if (index < parts.length) whole.append(parts[index]!);
  }
  return whole;
}

export function text(value: string): SqlText {
  return new SqlText().add(value);
}

function textOf(piece: Piece): string {
  if (typeof piece === 'string') return piece;
  return typeof piece === 'number' ? `$${piece}` : piece();
}
