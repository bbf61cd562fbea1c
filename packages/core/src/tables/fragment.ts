import type { Value } from '../postgres/port.ts';
import type { QueryStatement, ValueSource } from '../ports/ports.ts';

/** Returns the next placeholder: `$1`, `$2`, … */
export type NextPlaceholder = () => string;

export interface BoundValue {
  readonly value: Value;
  readonly source: ValueSource;
}

/** A part of a statement. Its text consists of catalog names only, and is built once per statement key. */
export interface Fragment {
  /** Fragments with one key have the same text. */
  readonly key: string;
  /** Takes one placeholder per value, in their order. */
  readonly text: (next: NextPlaceholder) => string;
  readonly values: readonly BoundValue[];
}

const noValues: readonly BoundValue[] = [];

/** Returns a fragment without values. A function is called once per statement key, and so not for most requests. */
export function textFragment(key: string, text: string | (() => string)): Fragment {
  return { key, text: typeof text === 'string' ? () => text : text, values: noValues };
}

export function joinFragments(fragments: readonly Fragment[], separator: string): Fragment {
  const keys: string[] = [];
  const all: BoundValue[] = [];
  for (const { key, values } of fragments) {
    keys.push(key);
    for (const value of values) all.push(value);
  }
  return {
    // With the separator: conditions that are joined by `and` and by `or` are different texts.
    key: keys.join(`${separator},`),
    text: (next) => fragments.map(({ text }) => text(next)).join(separator),
    values: all,
  };
}

/** Returns the statement. The prefix distinguishes the statements of one endpoint. */
export function toStatement(
  prefix: string,
  { key, text, values }: Fragment,
): QueryStatement & { readonly statementKey: string } {
  return {
    statementKey: `${prefix}:${key}`,
    sql: () => {
      let count = 0;
      return text(() => `$${++count}`);
    },
    values: values.map(({ value }) => value),
    valueSources: values.map(({ source }) => source),
  };
}
