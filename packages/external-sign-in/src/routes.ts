import type { ExternalSignInServices, SchemeRoute } from '@pgway/core';
import type { ExternalSignInOptions } from './options.ts';
import { PendingSignIns } from './pending-sign-in.ts';
import { Provider } from './provider.ts';
import { providerFetch } from './provider-fetch.ts';
import { providerSettings } from './provider-settings.ts';
import { parsePublicOrigin } from './public-origin.ts';
import { parseReturnPath } from './return-path.ts';
import { SignInCommands } from './sign-in-commands.ts';
import type { RouteSettings } from './sign-in-context.ts';
import { signInRoutes } from './sign-in-routes.ts';
import { signOutRoute } from './sign-out.ts';

/**
 * Returns the routes of sign-in through external providers. No provider is called before the first sign-in.
 * @throws TypeError for options that are incomplete or contradict each other
 */
export function externalSignInRoutes(
  options: ExternalSignInOptions,
  services: ExternalSignInServices,
  publicOrigin: string | null,
): readonly SchemeRoute[] {
  const settings = routeSettings(options, publicOrigin);
  const { loginCommand, linkCommand = null, unlinkCommand = null, timeout = 5 } = options;
  const texts = { loginCommand, linkCommand, unlinkCommand };
  const context = {
    ...services,
    settings,
    commands: new SignInCommands(texts, services.query, services.names, services.login),
    pending: new PendingSignIns(services.encryption, settings.lifetime),
  };
  const fetchFromProvider = providerFetch(timeout);
  const providers = Object.entries(options.providers).map(
    ([name, provider]) => [name, new Provider(providerSettings(name, provider), fetchFromProvider)] as const,
  );
  return [
    ...providers.flatMap(([, provider]) => signInRoutes(provider, context)),
    signOutRoute(new Map(providers), context),
  ];
}

/** @throws TypeError */
function routeSettings(options: ExternalSignInOptions, publicOrigin: string | null): RouteSettings {
  const { path = '/signin', signOutPath = '/signout', defaultReturnPath = '/' } = options;
  const { lifetime = 600 } = options;
  for (const [name, value] of Object.entries({ path, signOutPath, defaultReturnPath })) {
    if (parseReturnPath(value) === value && (name === 'defaultReturnPath' || /^(?:\/[\w.~-]+)+$/.test(value))) continue;
    throw new TypeError(`${name}: ${JSON.stringify(value)} must be a path such as /signin`);
  }
  return {
    publicOrigin: publicOrigin === null ? null : parsePublicOrigin(publicOrigin),
    path,
    signOutPath,
    defaultReturnPath,
    lifetime,
  };
}
