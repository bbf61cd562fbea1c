import type { Value } from '../postgres/port.ts';
import type { QueryStatement, ValueSource } from '../ports/ports.ts';

/** Gives the next placeholder: `$1`, `$2`, … */
export type NextPlaceholder = () => string;

export interface BoundValue {
  readonly value: Value;
  readonly owner: ValueSource;
}

/** A piece of a statement. Its text is made of names of the catalog alone, and only when its form is not known yet. */
export interface Fragment {
  /** Pieces of one form have one text. */
  readonly form: string;
  /** Asks for one placeholder for each of the values, in their order. */
  readonly text: (next: NextPlaceholder) => string;
  readonly values: readonly BoundValue[];
}

/** A piece that binds nothing. */
export function textFragment(form: string, text: string): Fragment {
  return { form, text: () => text, values: [] };
}

/** Pieces as one, with something between them. */
export function joinFragments(fragments: readonly Fragment[], between: string): Fragment {
  return {
    form: fragments.map(({ form }) => form).join(),
    text: (next) => fragments.map(({ text }) => text(next)).join(between),
    values: fragments.flatMap(({ values }) => values),
  };
}

/** A whole statement; the prefix tells it from other statements of the same endpoint. */
export function toStatement(
  prefix: string,
  { form, text, values }: Fragment,
): QueryStatement & { readonly statementKey: string } {
  return {
    statementKey: `${prefix}:${form}`,
    sql: () => {
      let count = 0;
      return text(() => `$${++count}`);
    },
    values: values.map(({ value }) => value),
    valueSources: values.map(({ owner }) => owner),
  };
}
