/** `${NAME}` and `${NAME:default}` in the strings of configuration files. */
import type { Environment } from './environment.ts';

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::([^}]*))?\}/g;

export interface Substitution {
  readonly text: string;
  /** Whether the text has a reference. */
  readonly changed: boolean;
  /** The variables that are not set and have no default; their references remain in the text. */
  readonly missing: readonly string[];
}

/** Replaces the references by variables. A default also replaces an empty variable. */
export function substitute(text: string, environment: Environment): Substitution {
  const missing: string[] = [];
  let changed = false;
  const replaced = text.replace(reference, (whole, name: string, byDefault: string | undefined) => {
    changed = true;
    const value = environment[name];
    if (byDefault !== undefined) return value === undefined || value === '' ? byDefault : value;
    if (value === undefined) missing.push(name);
    return value ?? whole;
  });
  return { text: replaced, changed, missing };
}
