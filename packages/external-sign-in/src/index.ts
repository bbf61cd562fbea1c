/** Sign-in through external providers in the browser: OpenID Connect and OAuth 2. */
import type { ExternalSignIn } from '@pgway/core';
import { describeFaults } from '@pgway/core/internal';
import { type ExternalSignInOptions, externalSignInOptions } from './options.ts';
import { externalSignInRoutes } from './routes.ts';

export type { ExternalProviderOptions, ExternalSignInOptions } from './options.ts';

/**
 * Creates the option `authentication.externalSignIn` of a gateway.
 * @throws RangeError with one line for each invalid option
 */
export function externalSignIn(options: ExternalSignInOptions): ExternalSignIn {
  const faults = externalSignInOptions.validate(options, []);
  if (faults.length > 0) throw new RangeError(`externalSignIn: ${describeFaults(faults)}`);
  return {
    publicOrigin: options.publicOrigin ?? null,
    routes: (services, publicOrigin) => externalSignInRoutes(options, services, publicOrigin),
  };
}
