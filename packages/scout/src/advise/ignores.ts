/** Findings that are left out: by `--ignore`, and by `AdviseIgnore` of `pgscout.json` with a reason. */
import { type NamedObject, nameMatcher } from '../ddl/select-objects.ts';
import { UsageError } from '../process/errors.ts';
import { nearest } from '../process/nearest.ts';
import type { Finding } from './finding.ts';

export interface Ignore {
  /** As written: a code, or a code and the name of an object. */
  readonly text: string;
  readonly matches: (code: string, finding: Finding) => boolean;
}

/**
 * Reads a code such as `rls-off`, which can be followed by a name such as `shop.film` or `shop.*`.
 * @throws UsageError for an unknown code
 */
export function parseIgnore(text: string, codes: readonly string[], origin: string): Ignore {
  const [code, ...words] = text.trim().split(/\s+/) as [string, ...string[]];
  if (!codes.includes(code))
    throw new UsageError(`${origin}: no finding has the code ${JSON.stringify(code)}${nearest(code, codes)}`);
  const name = words.join(' ');
  const isNamed = name === '' ? () => true : namesFinding(name);
  return { text, matches: (found, finding) => found === code && isNamed(finding) };
}

/** Returns whether a finding is one of an object, or of a part of it, that has the name. */
export function namesFinding(name: string): (finding: Finding) => boolean {
  const matches = nameMatcher(name);
  return ({ object }) => namesOf(object).some(matches);
}

function namesOf({ owner, ...object }: Finding['object']): readonly NamedObject[] {
  return owner === null ? [object] : [object, owner];
}
