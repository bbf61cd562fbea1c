// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** A provider: one of the presets, or any OpenID provider by its issuer. */
export interface ExternalProviderOptions {
  /** The preset with the addresses of the provider; by default the one with the name of the provider. */
  readonly preset?: 'google' | 'linkedin' | 'microsoft' | 'github' | 'facebook' | null;
  /** The id of this application at the provider. */
  readonly clientId: string;
  /** Its secret; without one it is a public client. */
  readonly clientSecret?: string | null;
  /** How the secret is sent: in the body (`post`, the default) or as HTTP Basic. */
  readonly clientAuthentication?: 'post' | 'basic';
  /** The name in buttons and pages; by default that of the preset, or the name of the provider. */
  readonly label?: string;
  /**
   * The issuer of an OpenID provider, whose discovery document has the addresses. https, or http for a loopback
   * address.
   */
  readonly issuer?: string | null;
  /** The scopes, separated by spaces; `openid email profile` for OpenID. */
  readonly scope?: string;
  /**
   * An address of an OAuth 2 provider, in place of discovery or of those of the preset. Set it with `tokenEndpoint` and
   * `userinfoEndpoint`.
   */
  readonly authorizationEndpoint?: string | null;
  /** An address of an OAuth 2 provider. */
  readonly tokenEndpoint?: string | null;
  /** The address of the profile of the user. */
  readonly userinfoEndpoint?: string | null;
  /** The address of a list of the user's email addresses, as GitHub has it; the primary one counts. */
  readonly emailsEndpoint?: string | null;
  /** Further parameters of the authorization request, such as `{ "prompt": "select_account" }`. */
  readonly authorizationParameters?: Readonly<Record<string, string>>;
  /** Sends a PKCE challenge; true by default, except for LinkedIn, which refuses it. */
  readonly pkce?: boolean;
  /** Requires a nonce in the ID token; true by default, except for LinkedIn, which does not return it. */
  readonly nonce?: boolean;
  /**
   * Takes addresses as verified where the provider does not say so: for the directory of one organization only, whose
   * administrator assigns the addresses.
   */
  readonly trustEmail?: boolean;
}

/** Sign-in through external providers in the browser: OpenID Connect and OAuth 2. */
export interface ExternalSignInOptions {
  /**
   * The providers by name. `google`, `linkedin`, `microsoft`, `github` and `facebook` are presets: `{"google":
   * {"clientId": "…", "clientSecret": "…"}}`. Any other OpenID provider has an `issuer`: `{"company": {"issuer":
   * "https://id.example.org", "clientId": "…", "clientSecret": "…", "label": "Company"}}`. Further options of a
   * provider: `preset`, `clientAuthentication`, `scope`, `authorizationEndpoint`, `tokenEndpoint`, `userinfoEndpoint`,
   * `emailsEndpoint`, `authorizationParameters`, `pkce`, `nonce`, `trustEmail`.
   */
  readonly providers: Readonly<Record<string, ExternalProviderOptions>>;
  /**
   * SQL whose row is read like the row of a login: `$1` provider, `$2` email (NULL unless verified), `$3` name, `$4`
   * the provider's JSON, `$5` browser data as JSON.
   */
  readonly loginCommand: string;
  /**
   * SQL that adds an account at a provider to a user: the parameters of `loginCommand`, and `$6` the id of the user.
   */
  readonly linkCommand?: string | null;
  /** SQL that removes it: `$1` provider, `$2` the id of the user. */
  readonly unlinkCommand?: string | null;
  /**
   * The origin of the pages, such as `https://app.example.org`. Null: the origin of the request, if its host is
   * `localhost` or another loopback name; needed for every other host. With tenants that have hosts, `{tenant}` is the
   * name of the tenant: `https://{tenant}.example.org`.
   */
  readonly publicOrigin?: string | null;
  /** The path of the sign-in routes and the sign-in page. Default `/signin`. */
  readonly path?: string;
  /** The path that signs out, at the provider too. Default `/signout`. */
  readonly signOutPath?: string;
  /** The path after a sign-in or sign-out without `return_to`. Default `/`. */
  readonly defaultReturnPath?: string;
  /** Seconds before a request to a provider times out. Default 5. */
  readonly timeout?: number;
  /** Seconds from the start of a sign-in to the return from the provider. Default 600. */
  readonly lifetime?: number;
}
