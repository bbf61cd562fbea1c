/** Faults of options as data: the library prints them, the server adds the place of the value in its files. */

/** The place of a value: names, keys of maps, indexes of lists. */
export type Path = readonly (string | number)[];

export interface Fault {
  readonly path: Path;
  /** What is wrong, as in `must be a number from 0 to 10`. */
  readonly message: string;
  /** The value for the message, short and on one line, as in `"abc"`; absent when the message is enough. */
  readonly shown?: string;
  /** What to do, as in `did you mean "x"?` */
  readonly hint?: string;
  /** Whether the last name of the path is not the name of an option. */
  readonly isUnknown?: true;
}

const name = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;

/** Returns `policies.strict.window`, `includeNames[1]`, `claims["a b"]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      const text = String(part);
      if (!name.test(text)) return `[${JSON.stringify(text)}]`;
      return index === 0 ? text : `.${text}`;
    })
    .join('');
}

/** Returns a fault whose message does not show the value. */
export function withoutValue(fault: Fault): Fault {
  const { shown: _, ...rest } = fault;
  return rest;
}

/** Returns one text for each fault, joined. */
export function describeFaults(faults: readonly Fault[], separator = '\n'): string {
  return faults.map(describeFault).join(separator);
}

export function describeFault({ path, message, shown, hint }: Fault): string {
  const value = shown === undefined ? '' : `, not ${shown}`;
  return `${formatPath(path) || 'options'}: ${message}${value}${hint === undefined ? '' : `; ${hint}`}`;
}
