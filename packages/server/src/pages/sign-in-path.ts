import type { Configuration } from '../config/schema.ts';

/** The path of the sign-in page; null: there is none. */
export function signInPagePath({ externalSignIn }: Configuration): string | null {
  const { providers, path } = externalSignIn;
  return Object.keys(providers).length > 0 ? path : null;
}
