import {
  boolean,
  integer,
  matching,
  nonEmptyString,
  nullable,
  number,
  oneOf,
  option,
  optionalOption,
  optionGroup,
  type OptionGroup,
  recordOf,
  requiredOption,
  secret,
  string,
} from '@pgway/core/internal';
import type { ExternalProviderOptions, ExternalSignInOptions } from './options.generated.ts';
import { presetNames } from './presets.ts';

export type { ExternalProviderOptions, ExternalSignInOptions } from './options.generated.ts';

const isPartial = true;
const address = nullable(matching(/^https?:\/\/[^\s]+$/, 'a URL, such as https://id.example.org'));
const path = matching(/^\/[^\s?#]*$/, 'a path, as in /signin');

/** The name is part of paths. */
function providerNameFault(name: string): string | null {
  return /^[A-Za-z0-9][\w-]{0,63}$/.test(name)
    ? null
    : 'must be a name of at most 64 letters, digits, - and _, as it is part of paths';
}

export const externalProviderOptions: OptionGroup<ExternalProviderOptions> = optionGroup<ExternalProviderOptions>(
  'ExternalProviderOptions',
  'A provider: one of the presets, or any OpenID provider by its issuer.',
  {
    preset: optionalOption(
      nullable(oneOf(...presetNames)),
      'The preset with the addresses of the provider; by default the one with the name of the provider.',
    ),
    clientId: requiredOption(nonEmptyString, 'The id of this application at the provider.'),
    clientSecret: optionalOption(nullable(secret), 'Its secret; without one it is a public client.'),
    clientAuthentication: optionalOption(
      oneOf('post', 'basic'),
      'How the secret is sent: in the body (`post`, the default) or as HTTP Basic.',
    ),
    label: optionalOption(
      nonEmptyString,
      'The name in buttons and pages; by default that of the preset, or the name of the provider.',
    ),
    issuer: optionalOption(
      address,
      'The issuer of an OpenID provider, whose discovery document has the addresses. https, or http for a loopback address.',
    ),
    scope: optionalOption(nonEmptyString, 'The scopes, separated by spaces; `openid email profile` for OpenID.'),
    authorizationEndpoint: optionalOption(
      address,
      'An address of an OAuth 2 provider, in place of discovery or of those of the preset. Set it with `tokenEndpoint` and `userinfoEndpoint`.',
    ),
    tokenEndpoint: optionalOption(address, 'An address of an OAuth 2 provider.'),
    userinfoEndpoint: optionalOption(address, 'The address of the profile of the user.'),
    emailsEndpoint: optionalOption(
      address,
      "The address of a list of the user's email addresses, as GitHub has it; the primary one counts.",
    ),
    authorizationParameters: optionalOption(
      recordOf(string),
      'Further parameters of the authorization request, such as `{ "prompt": "select_account" }`.',
    ),
    pkce: optionalOption(boolean, 'Sends a PKCE challenge; true by default, except for LinkedIn, which refuses it.'),
    nonce: optionalOption(
      boolean,
      'Requires a nonce in the ID token; true by default, except for LinkedIn, which does not return it.',
    ),
    trustEmail: optionalOption(
      boolean,
      'Takes addresses as verified where the provider does not say so: for the directory of one organization only, whose administrator assigns the addresses.',
    ),
  },
  { isPartial },
);

export const externalSignInOptions: OptionGroup<ExternalSignInOptions> = optionGroup<ExternalSignInOptions>(
  'ExternalSignInOptions',
  'Sign-in through external providers in the browser: OpenID Connect and OAuth 2.',
  {
    providers: requiredOption(
      recordOf(externalProviderOptions, providerNameFault),
      'The providers by name. `google`, `linkedin`, `microsoft`, `github` and `facebook` are presets: `{"google": {"clientId": "…", "clientSecret": "…"}}`. Any other OpenID provider has an `issuer`: `{"company": {"issuer": "https://id.example.org", "clientId": "…", "clientSecret": "…", "label": "Company"}}`. Further options of a provider: `preset`, `clientAuthentication`, `scope`, `authorizationEndpoint`, `tokenEndpoint`, `userinfoEndpoint`, `emailsEndpoint`, `authorizationParameters`, `pkce`, `nonce`, `trustEmail`.',
    ),
    loginCommand: requiredOption(
      nonEmptyString,
      "SQL whose row is read like the row of a login: `$1` provider, `$2` email (NULL unless verified), `$3` name, `$4` the provider's JSON, `$5` browser data as JSON.",
    ),
    linkCommand: option(
      nullable(nonEmptyString),
      null,
      'SQL that adds an account at a provider to a user: the parameters of `loginCommand`, and `$6` the id of the user.',
    ),
    unlinkCommand: option(
      nullable(nonEmptyString),
      null,
      'SQL that removes it: `$1` provider, `$2` the id of the user.',
    ),
    publicOrigin: option(
      nullable(nonEmptyString),
      null,
      'The origin of the pages, such as `https://app.example.org`. Null: the origin of the request, if its host is `localhost` or another loopback name; needed for every other host. With tenants that have hosts, `{tenant}` is the name of the tenant: `https://{tenant}.example.org`.',
    ),
    path: option(path, '/signin', 'The path of the sign-in routes and the sign-in page.'),
    signOutPath: option(path, '/signout', 'The path that signs out, at the provider too.'),
    defaultReturnPath: option(path, '/', 'The path after a sign-in or sign-out without `return_to`.'),
    timeout: option(number({ above: 0, max: 300 }), 5, 'Seconds before a request to a provider times out.'),
    lifetime: option(
      integer({ min: 1, max: 86_400 }),
      600,
      'Seconds from the start of a sign-in to the return from the provider.',
    ),
  },
  { isPartial },
);
