import {
  boolean,
  integer,
  nonEmptyString,
  nullable,
  number,
  oneOf,
  optionGroup,
  type OptionValidators,
  recordOf,
  secret,
  string,
  type Validator,
} from '@pgway/core/internal';
import { type PresetName, presetNames } from './presets.ts';

/** A provider: one of the presets, or any OpenID provider by its issuer. */
export interface ExternalProviderOptions {
  /** The preset with the addresses of the provider. Default: the preset with the provider's name, if there is one. */
  readonly preset?: PresetName | null;
  /** The id of this application at the provider. */
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret?: string | null;
  /** How the client secret is sent: in the body (`post`, the default) or as HTTP Basic. */
  readonly clientAuthentication?: 'post' | 'basic';
  /** The text of buttons and pages. Default: that of the preset, or the name. */
  readonly label?: string;
  /** The issuer of an OpenID provider, whose discovery document has the addresses. https, or http for a loopback address. */
  readonly issuer?: string | null;
  /** The scopes, separated by spaces. Default for OpenID `openid email profile`. */
  readonly scope?: string;
  /** Addresses of an OAuth 2 provider, in place of discovery or of those of the preset. Set the first three together. */
  readonly authorizationEndpoint?: string | null;
  readonly tokenEndpoint?: string | null;
  /** The address of the profile of the user. */
  readonly userinfoEndpoint?: string | null;
  /** The address of a list of the user's email addresses, as GitHub has it; the primary one counts. */
  readonly emailsEndpoint?: string | null;
  /** Further parameters of the authorization request, such as `{ prompt: 'select_account' }`. */
  readonly authorizationParameters?: Readonly<Record<string, string>>;
  /** Whether requests have a PKCE challenge. Default true, except for LinkedIn, which refuses it. */
  readonly pkce?: boolean;
  /** Whether the ID token must have the nonce of the request. Default true, except for LinkedIn, which does not return it. */
  readonly nonce?: boolean;
  /**
   * Whether an email address counts as verified where the provider does not say so: for the directory of one organization only, whose
   * administrator assigns the addresses. Default false.
   */
  readonly trustEmail?: boolean;
}

/** Sign-in through external providers in the browser: OpenID Connect and OAuth 2. */
export interface ExternalSignInOptions {
  /** The providers by name. The name is the first parameter of the commands, and part of the paths. */
  readonly providers: Readonly<Record<string, ExternalProviderOptions>>;
  /**
   * SQL whose row is read like the row of a login routine: `$1` provider, `$2` email (NULL unless verified), `$3` name, `$4` the
   * provider's JSON, `$5` browser data as JSON.
   */
  readonly loginCommand: string;
  /**
   * SQL that adds the account at the provider to a user: the parameters of `loginCommand`, and `$6` the id of the user. Null: accounts
   * cannot be linked.
   */
  readonly linkCommand?: string | null;
  /** SQL that removes the account at a provider from a user: `$1` provider, `$2` the id of the user. */
  readonly unlinkCommand?: string | null;
  /**
   * The origin of the pages, such as `https://app.example.org`, for the addresses that the provider redirects to. Null: the origin of
   * the request, if its host is a loopback name; other hosts are refused. With tenants that have hosts, `{tenant}` is the name of the
   * tenant: `https://{tenant}.example.org`.
   */
  readonly publicOrigin?: string | null;
  /** The path of the sign-in routes. Default `/signin`: `/signin/google`, `/signin/google/callback`. */
  readonly path?: string;
  /** The path that ends the session, and the session at the provider. Default `/signout`. */
  readonly signOutPath?: string;
  /** The path after a sign-in or sign-out without `return_to`. Default `/`. */
  readonly defaultReturnPath?: string;
  /** Seconds before a request to the provider times out. Default 5. */
  readonly timeout?: number;
  /** Seconds from the start of a sign-in to the return from the provider. Default 600. */
  readonly lifetime?: number;
}

/** The name is part of paths. */
function providerNameFault(name: string): string | null {
  return /^[A-Za-z0-9][\w-]{0,63}$/.test(name) ? null : 'must be a name of at most 64 letters, digits, - and _';
}

const provider: OptionValidators<ExternalProviderOptions> = {
  preset: nullable(oneOf(...presetNames)),
  clientId: nonEmptyString,
  clientSecret: nullable(secret),
  clientAuthentication: oneOf('post', 'basic'),
  label: nonEmptyString,
  issuer: nullable(string),
  scope: nonEmptyString,
  authorizationEndpoint: nullable(string),
  tokenEndpoint: nullable(string),
  userinfoEndpoint: nullable(string),
  emailsEndpoint: nullable(string),
  authorizationParameters: recordOf(string),
  pkce: boolean,
  nonce: boolean,
  trustEmail: boolean,
};

const members: OptionValidators<ExternalSignInOptions> = {
  providers: recordOf(optionGroup(provider, ['clientId']), providerNameFault),
  loginCommand: nonEmptyString,
  linkCommand: nullable(nonEmptyString),
  unlinkCommand: nullable(nonEmptyString),
  publicOrigin: nullable(string),
  path: string,
  signOutPath: string,
  defaultReturnPath: string,
  timeout: number({ above: 0, max: 300 }),
  lifetime: integer({ min: 1, max: 86_400 }),
};

/** The validator of the options. */
export const externalSignInOptions: Validator<ExternalSignInOptions> = optionGroup(members, [
  'providers',
  'loginCommand',
]);
