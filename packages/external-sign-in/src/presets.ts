/** The facts of well-known providers, from their public documentation. Each one can be overridden by an option. */
export interface Preset {
  readonly label: string;
  /** An issuer with a discovery document; for OAuth 2, the issuer that authorization responses may name. */
  readonly issuer: string | null;
  readonly scope: string;
  /** OAuth 2 without OpenID Connect: the provider has no usable discovery document. */
  readonly endpoints?: {
    readonly authorizationEndpoint: string;
    readonly tokenEndpoint: string;
    readonly userinfoEndpoint: string;
    readonly emailsEndpoint?: string;
  };
  readonly pkce?: false;
  readonly nonce?: false;
}

const openIdScope = 'openid email profile';

export type PresetName = 'google' | 'linkedin' | 'microsoft' | 'github' | 'facebook';

export const presets: Readonly<Record<PresetName, Preset>> = {
  google: { label: 'Google', issuer: 'https://accounts.google.com', scope: openIdScope },
  // The token endpoint refuses a code verifier, and ID tokens have no nonce.
  linkedin: {
    label: 'LinkedIn',
    issuer: 'https://www.linkedin.com/oauth',
    scope: openIdScope,
    pkce: false,
    nonce: false,
  },
  // All kinds of accounts. The issuer of a token names its tenant.
  microsoft: { label: 'Microsoft', issuer: 'https://login.microsoftonline.com/common/v2.0', scope: openIdScope },
  github: {
    label: 'GitHub',
    issuer: 'https://github.com/login/oauth',
    scope: 'read:user user:email',
    endpoints: {
      authorizationEndpoint: 'https://github.com/login/oauth/authorize',
      tokenEndpoint: 'https://github.com/login/oauth/access_token',
      userinfoEndpoint: 'https://api.github.com/user',
      emailsEndpoint: 'https://api.github.com/user/emails',
    },
  },
  // Its discovery document has no token endpoint.
  facebook: {
    label: 'Facebook',
    issuer: 'https://www.facebook.com',
    scope: 'public_profile email',
    endpoints: {
      authorizationEndpoint: 'https://www.facebook.com/v23.0/dialog/oauth',
      tokenEndpoint: 'https://graph.facebook.com/v23.0/oauth/access_token',
      userinfoEndpoint: 'https://graph.facebook.com/v23.0/me?fields=id,name,email,picture',
    },
  },
};

export const presetNames: readonly PresetName[] = Object.keys(presets) as PresetName[];

export const defaultScope: string = openIdScope;
