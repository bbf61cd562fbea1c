import type { Value } from '../../postgres/port.ts';

/** A value of a request as its text has it: a list for `in`. */
export type TextValue = string | readonly string[];

/** A value of a statement that is compiled once: each request has its own. */
export class RequestValue {
  /** The index among the values of a request. */
  readonly index: number;
  readonly #convert: (text: TextValue) => Value;

  constructor(index: number, convert: (text: TextValue) => Value) {
    this.index = index;
    this.#convert = convert;
  }

  resolve(texts: readonly TextValue[]): Value {
    return this.#convert(texts[this.index]!);
  }
}

/** A value that is known, or that each request has. */
export type BoundValue = Value | RequestValue;

/** Returns the values of a statement for a request. */
export function resolveValues(values: readonly BoundValue[], texts: readonly TextValue[]): readonly Value[] {
  return values.map((value) => (value instanceof RequestValue ? value.resolve(texts) : value));
}

/**
 * Returns a value of a statement.
 * @param index absent: the statement is for one request
 */
export function boundValue(
  text: TextValue,
  index: number | undefined,
  convert: (text: TextValue) => Value = (only) => only as string,
): BoundValue {
  return index === undefined ? convert(text) : new RequestValue(index, convert);
}
