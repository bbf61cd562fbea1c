import type * as OpenIdClient from 'openid-client';
import {
  type ExternalIdentity,
  isObject,
  mergeClaims,
  type ProviderObject,
  toIdentity,
  withPrimaryEmail,
} from './identity.ts';
import { ProviderError, toProviderError } from './provider-error.ts';
import { isLoopback, type ProviderSettings } from './provider-settings.ts';

/** The values that bind an authorization response to its request. */
export interface AuthorizationChecks {
  readonly state: string;
  /** Null where the provider does not return it. */
  readonly nonce: string | null;
  /** The PKCE code verifier; null where the provider refuses it. */
  readonly verifier: string | null;
  readonly redirectUri: string;
}

export interface AuthorizedUser {
  readonly identity: ExternalIdentity;
  /** For the sign-out at the provider; null without one, or where the provider has no sign-out. */
  readonly idToken: string | null;
}

interface Client {
  readonly library: typeof OpenIdClient;
  readonly configuration: OpenIdClient.Configuration;
}

/** Milliseconds after which the discovery document is read again. */
const discoveryMaxAgeMs = 3_600_000;
/** The pause after a failed discovery, so that requests do not wait for an unavailable provider. */
const retryDelayMs = 5000;

/** A client of a provider. It reads the discovery document at the first sign-in, never at the start. */
export class Provider {
  readonly settings: ProviderSettings;
  readonly #fetch: OpenIdClient.CustomFetch;
  readonly #now: () => number;
  #client: { readonly value: Client; readonly readAt: number } | null = null;
  #reading: Promise<Client> | null = null;
  #failure: { readonly error: ProviderError; readonly at: number } | null = null;

  /**
   * @param fetchFromProvider bounded in time and size
   * @param now milliseconds
   */
  constructor(settings: ProviderSettings, fetchFromProvider: OpenIdClient.CustomFetch, now: () => number = Date.now) {
    this.settings = settings;
    this.#fetch = fetchFromProvider;
    this.#now = now;
  }

  /** @throws ProviderError when the provider is unavailable */
  async authorizationUrl({ state, nonce, verifier, redirectUri }: AuthorizationChecks): Promise<URL> {
    const { library, configuration } = await this.#connect();
    const { scope, authorizationParameters } = this.settings;
    return library.buildAuthorizationUrl(configuration, {
      ...authorizationParameters,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope,
      state,
      ...(nonce === null ? {} : { nonce }),
      ...(verifier === null
        ? {}
        : {
            code_challenge: await library.calculatePKCECodeChallenge(verifier),
            code_challenge_method: 'S256',
          }),
    });
  }

  /**
   * Exchanges the code of an authorization response for the user.
   * @param query the query string of the callback
   * @throws ProviderError
   */
  async authorize(
    query: string,
    { state, nonce, verifier, redirectUri }: AuthorizationChecks,
  ): Promise<AuthorizedUser> {
    const client = await this.#connect();
    const { library, configuration } = client;
    try {
      const tokens = await library.authorizationCodeGrant(configuration, new URL(`${redirectUri}?${query}`), {
        expectedState: state,
        idTokenExpected: this.settings.endpoints === null,
        ...(nonce === null ? {} : { expectedNonce: nonce }),
        ...(verifier === null ? {} : { pkceCodeVerifier: verifier }),
      });
      const claims =
        this.settings.endpoints === null
          ? await openIdClaims(client, tokens)
          : await this.#profile(client, tokens.access_token);
      const canSignOut = configuration.serverMetadata().end_session_endpoint !== undefined;
      return {
        identity: toIdentity(claims, this.settings),
        idToken: canSignOut ? (tokens.id_token ?? null) : null,
      };
    } catch (error) {
      throw toProviderError(error);
    }
  }

  /** Returns the address of the sign-out (OpenID Connect RP-Initiated Logout 1.0); null where the provider has none. */
  async signOutUrl(idToken: string | null, returnUrl: string): Promise<URL | null> {
    const { library, configuration } = await this.#connect();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
    return library.buildEndSessionUrl(configuration, {
      post_logout_redirect_uri: returnUrl,
      ...(idToken === null ? {} : { id_token_hint: idToken }),
    });
  }

  async #profile({ library, configuration }: Client, accessToken: string): Promise<ProviderObject> {
    const { userinfoEndpoint, emailsEndpoint } = this.settings.endpoints!;
    const read = async (url: string): Promise<unknown> => {
      const headers = new Headers({ accept: 'application/json' });
      const request = [configuration, accessToken, new URL(url), 'GET', null, headers] as const;
      const response = await library.fetchProtectedResource(...request);
      if (response.status === 200) return response.json();
      throw new ProviderError('invalid-response', `${new URL(url).host} answered with status ${response.status}`);
    };
    const profile = await read(userinfoEndpoint);
    if (!isObject(profile)) throw new ProviderError('invalid-response', 'the profile of the user is no JSON object');
    return emailsEndpoint === null ? profile : withPrimaryEmail(profile, await read(emailsEndpoint));
  }

  /** Returns the client. Concurrent requests share one discovery. An old document is used until a new one could be read. */
  async #connect(): Promise<Client> {
    const current = this.#client;
    if (current !== null && this.#now() - current.readAt < discoveryMaxAgeMs) return current.value;
    const paused = this.#failure !== null && this.#now() - this.#failure.at < retryDelayMs ? this.#failure : null;
    if (paused === null) this.#reading ??= this.#open().finally(() => (this.#reading = null));
    if (current !== null) {
      // A failure pauses the next attempt.
      this.#reading?.catch(() => undefined);
      return current.value;
    }
    if (paused !== null) throw paused.error;
    return this.#reading!;
  }

  async #open(): Promise<Client> {
    try {
      const library = await import('openid-client');
      const value = { library, configuration: await this.#configure(library) };
      this.#client = { value, readAt: this.#now() };
      this.#failure = null;
      return value;
    } catch (cause) {
      const error = toProviderError(cause);
      this.#failure = { error, at: this.#now() };
      throw error;
    }
  }

  async #configure(library: typeof OpenIdClient): Promise<OpenIdClient.Configuration> {
    const { issuer, endpoints, clientId, clientSecret, clientAuthentication } = this.settings;
    const authentication =
      clientSecret === null
        ? library.None()
        : clientAuthentication === 'basic'
          ? library.ClientSecretBasic(clientSecret)
          : library.ClientSecretPost(clientSecret);
    const insecure = isLoopback(new URL(issuer)) ? [library.allowInsecureRequests] : [];
    if (endpoints !== null) {
      const metadata = {
        issuer,
        authorization_endpoint: endpoints.authorizationEndpoint,
        token_endpoint: endpoints.tokenEndpoint,
      };
      const configuration = new library.Configuration(metadata, clientId, {}, authentication);
      configuration[library.customFetch] = this.#fetch;
      for (const extend of insecure) extend(configuration);
      return configuration;
    }
    return library.discovery(new URL(issuer), clientId, {}, authentication, {
      [library.customFetch]: this.#fetch,
      // The signature of ID tokens is verified although they come over TLS.
      execute: [library.enableNonRepudiationChecks, ...insecure],
    });
  }
}

/** Returns the claims of the ID token, with those of the userinfo endpoint when the ID token has no address or name. */
async function openIdClaims(
  { library, configuration }: Client,
  tokens: Awaited<ReturnType<typeof OpenIdClient.authorizationCodeGrant>>,
): Promise<ProviderObject> {
  const claims = tokens.claims()!;
  const { azp, iss } = claims;
  // OpenID Connect Core 1.0, 3.1.3.7: a token with one audience may name its authorized party, too.
  if (azp !== undefined && azp !== configuration.clientMetadata().client_id) {
    throw new ProviderError('invalid-response', `the ID token of ${iss} is for another client (azp)`);
  }
  const isComplete = claims['email'] !== undefined && claims['name'] !== undefined;
  if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  return mergeClaims(claims, await library.fetchUserInfo(configuration, tokens.access_token, claims.sub));
}
