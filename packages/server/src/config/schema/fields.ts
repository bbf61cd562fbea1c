/** Options that several sections of the server have. */
import {
  arrayOf,
  boolean,
  integer,
  matching,
  nonEmptyString,
  nullable,
  number,
  option,
  type Option,
  recordOf,
  secret,
  string,
  type Validator,
} from '@pgway/core/internal';

export const flag = (byDefault: boolean, description: string): Option<boolean> =>
  option(boolean, byDefault, description);

/** True, false, or null for a value that is derived from other settings. */
export const optionalFlag = (description: string): Option<boolean | null> =>
  option(nullable(boolean), null, description);

export const text = (byDefault: string, description: string): Option<string> =>
  option(nonEmptyString, byDefault, description);

export const optionalText = (description: string): Option<string | null> =>
  option(nullable(nonEmptyString), null, description);

/** A text that messages do not show. */
export const optionalSecret = (description: string): Option<string | null> =>
  option(nullable(secret), null, description);

export const textList = (byDefault: readonly string[], description: string): Option<readonly string[]> =>
  option(arrayOf(string), byDefault, description);

export const optionalTextList = (description: string): Option<readonly string[] | null> =>
  option(nullable(arrayOf(string)), null, description);

export const textMap = (description: string): Option<Readonly<Record<string, string>>> =>
  option(recordOf(string), {}, description);

/** An integer from 1 to `max`, a million unless given. */
export const count = (byDefault: number, description: string, max = 1_000_000): Option<number> =>
  option(integer({ min: 1, max }), byDefault, description);

/** @param min inclusive; null: above 0 */
export const seconds = (
  byDefault: number,
  { min, max = 86_400 }: { readonly min: number | null; readonly max?: number },
  description: string,
): Option<number> => option(number(min === null ? { above: 0, max } : { min, max }), byDefault, description);

/** A path that the server itself answers. */
export const servedPath: Validator<string> = matching(/^\/[^\s?#]*$/, 'a path, as in /openapi.json');

export const optionalPath = (description: string): Option<string | null> =>
  option(nullable(servedPath), null, description);
