import { endpointDefaults, type EndpointOptions } from './options.ts';

/** Where a value of an endpoint comes from. */
export interface Origin {
  /**
   * - `comment`: a line of the comment
   * - `routine`: the name, kind or volatility of the routine, the operation on a table, or the dialect of its source
   * - `option`: an option of the gateway that differs from its default
   * - `default`: a default of the gateway
   * - `hook`: the hook `endpointCreated`
   */
  readonly origin: 'comment' | 'routine' | 'option' | 'default' | 'hook';
  /** The line of the comment; null for other origins. */
  readonly line: number | null;
  /** Why, as in `the name begins with get_`. */
  readonly reason: string;
}

/** A value of an endpoint with its origin. */
export interface Resolved<Value> extends Origin {
  readonly value: Value;
}

/** Returns another value with the same origin. Faster than a spread, and called several times for each endpoint. */
export function withValue<Value>({ origin, line, reason }: Origin, value: Value): Resolved<Value> {
  return { value, origin, line, reason };
}

export function fromRoutine<Value>(value: Value, reason: string): Resolved<Value> {
  return { value, origin: 'routine', line: null, reason };
}

export function fromDefault<Value>(value: Value, reason: string): Resolved<Value> {
  return { value, origin: 'default', line: null, reason };
}

/** @param reason the name of the option */
export function fromOption<Value>(value: Value, reason: string): Resolved<Value> {
  return { value, origin: 'option', line: null, reason };
}

/** Returns the value of options, which is a default unless the host has changed it. @param reason the name of the option */
export function fromOptions<Value>(
  options: EndpointOptions,
  reason: string,
  select: (options: EndpointOptions) => Value,
): Resolved<Value> {
  const value = select(options);
  return value === select(endpointDefaults) ? fromDefault(value, reason) : fromOption(value, reason);
}
