import { parseArgs } from 'node:util';
import { toError } from '@pgway/core/internal';

/** The message names the invalid argument. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The values of an option that takes a whole number. */
export interface Count {
  readonly byDefault: number;
  /** The default with `--quick`; without it, `byDefault`. */
  readonly quick?: number;
  /** 1 by default. */
  readonly min?: number;
  /** 9999 by default. */
  readonly max?: number;
}

/** The arguments of a benchmark: `--name=value` or `--name value` for its options, `--quick`, and its other flags. */
export class Arguments<Name extends string, Flag extends string = never> {
  readonly isQuick: boolean;
  readonly #values: Readonly<Record<string, readonly string[] | boolean | undefined>>;

  /**
   * @param names the options with a value
   * @param flags the options without one, besides `--quick`
   * @throws UsageError for any other argument
   */
  constructor(args: readonly string[], names: readonly Name[], flags: readonly Flag[] = []) {
    this.#values = parse(args, names, ['quick', ...flags]);
    this.isQuick = this.#values['quick'] === true;
  }

  has(flag: Flag): boolean {
    return this.#values[flag] === true;
  }

  /** Returns all values of an option that may be repeated. */
  list(name: Name): readonly string[] {
    const values = this.#values[name];
    return Array.isArray(values) ? (values as readonly string[]) : [];
  }

  /** Returns the last value of an option, or null. */
  text(name: Name): string | null {
    return this.list(name).at(-1) ?? null;
  }

  /** @throws UsageError for a value outside of the limits */
  count(name: Name, { byDefault, quick = byDefault, min = 1, max = 9999 }: Count): number {
    const text = this.text(name);
    if (text === null) return this.isQuick ? quick : byDefault;
    return readCount(name, text, { min, max });
  }
}

/** @throws UsageError for a value outside of the limits */
export function readCount(
  name: string,
  text: string,
  { min = 1, max = 9999 }: Pick<Count, 'min' | 'max'> = {},
): number {
  const number = /^(?:0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : -1;
  if (number >= min && number <= max) return number;
  throw new UsageError(`--${name} takes a number from ${min} to ${max}, not '${text}'`);
}

function parse(
  args: readonly string[],
  names: readonly string[],
  flags: readonly string[],
): Readonly<Record<string, readonly string[] | boolean | undefined>> {
  const options = Object.fromEntries([
    ...names.map((name) => [name, { type: 'string', multiple: true }] as const),
    ...flags.map((flag) => [flag, { type: 'boolean' }] as const),
  ]);
  try {
    return parseArgs({ args: [...args], options }).values as Record<string, string[] | boolean | undefined>;
  } catch (error) {
    throw new UsageError(toError(error).message);
  }
}
