import { presets } from '@pgway/external-sign-in/internal';
import { z } from 'zod';
import { flag, optionalText, secret, servedPath } from './fields.ts';

const presetNames = Object.keys(presets) as (keyof typeof presets)[];

const providerName = z
  .string()
  .regex(/^[A-Za-z0-9][\w-]{0,63}$/, 'must be a name of at most 64 letters, digits, - and _, as it is part of paths');

const endpoint = (description: string): z.ZodOptional<z.ZodURL> => z.url().optional().describe(description);

const provider = z.strictObject({
  preset: z.enum(presetNames).optional().describe('The preset; by default the one with the name of the provider.'),
  clientId: z.string().min(1).describe('The id of this application at the provider.'),
  clientSecret: secret(z.string().min(1).optional().describe('Its secret; without one it is a public client.')),
  clientAuthentication: z.enum(['post', 'basic']).optional().describe('How the secret is sent; `post` by default.'),
  label: z.string().min(1).optional().describe('The name in buttons and pages.'),
  issuer: endpoint('The issuer of an OpenID provider, whose discovery document has the addresses.'),
  scope: z.string().min(1).optional().describe('The scopes; `openid email profile` for OpenID.'),
  authorizationEndpoint: endpoint('An address of an OAuth 2 provider.'),
  tokenEndpoint: endpoint('An address of an OAuth 2 provider.'),
  userinfoEndpoint: endpoint('The address of the profile of the user.'),
  emailsEndpoint: endpoint("The address of a list of the user's email addresses, as GitHub has it."),
  authorizationParameters: z.record(z.string(), z.string()).optional().describe('Further parameters of the request.'),
  pkce: z.boolean().optional().describe('Sends a PKCE challenge; true by default, except for LinkedIn.'),
  nonce: z.boolean().optional().describe('Requires a nonce in the ID token; true by default, except for LinkedIn.'),
  trustEmail: z.boolean().optional().describe('Takes addresses as verified where the provider does not say so.'),
});

/** The section `externalSignIn`: OpenID Connect and OAuth 2 in the browser. */
export const externalSignInSection = z
  .strictObject({
    providers: z
      .record(providerName, provider)
      .default({})
      .describe(
        'The providers by name. `google`, `linkedin`, `microsoft`, `github` and `facebook` are presets: `{"google": {"clientId": "…", "clientSecret": "…"}}`. Any other OpenID provider has an `issuer`: `{"company": {"issuer": "https://id.example.org", "clientId": "…", "clientSecret": "…", "label": "Company"}}`. Further options of a provider: `preset`, `clientAuthentication`, `scope`, `authorizationEndpoint`, `tokenEndpoint`, `userinfoEndpoint`, `emailsEndpoint`, `authorizationParameters`, `pkce`, `nonce`, `trustEmail`.',
      ),
    loginCommand: optionalText(
      "SQL whose row is read like the row of a login: `$1` provider, `$2` email (NULL unless verified), `$3` name, `$4` the provider's JSON, `$5` browser data as JSON.",
    ),
    linkCommand: optionalText(
      'SQL that adds an account at a provider to a user: the parameters of `loginCommand`, and `$6` the id of the user.',
    ),
    unlinkCommand: optionalText('SQL that removes it: `$1` provider, `$2` the id of the user.'),
    publicOrigin: optionalText(
      'The origin of the pages, such as `https://app.example.org`. Null: the origin of the request, if its host is `localhost` or another loopback name; needed for every other host. With tenants that have hosts, `{tenant}` is the name of the tenant: `https://{tenant}.example.org`.',
    ),
    path: servedPath.default('/signin').describe('The path of the sign-in routes and the sign-in page.'),
    signOutPath: servedPath.default('/signout').describe('The path that signs out, at the provider too.'),
    defaultReturnPath: servedPath.default('/').describe('The path after a sign-in or sign-out without `return_to`.'),
    timeout: z.number().positive().max(300).default(5).describe('Seconds before a request to a provider times out.'),
    lifetime: z
      .int()
      .min(1)
      .max(86_400)
      .default(600)
      .describe('Seconds from the start of a sign-in to the return from the provider.'),
  })
  .prefault({})
  .describe('Sign-in with Google, GitHub and other OpenID Connect and OAuth 2 providers, enabled by `providers`.');

/** The section `signInPage`. */
export const signInPageSection = z
  .strictObject({
    enabled: flag(
      true,
      'Serves the page at `externalSignIn.path`, if there are providers. An endpoint at that path takes precedence.',
    ),
  })
  .prefault({})
  .describe(
    'The sign-in page, with a button for each provider of `externalSignIn`, and a form if there is a login routine with user and password.',
  );
