import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';
import { vi } from 'vitest';

/** A user of the provider. */
export interface Account {
  readonly sub: string;
  readonly name?: string;
  readonly email?: string;
  readonly email_verified?: boolean;
}

export interface TestProvider {
  readonly issuer: string;
  /** The user that the provider signs in at the next interaction; null: the user cancels. */
  account: Account | null;
  /** The requests of the gateway and of browsers, such as `POST /token`. */
  readonly requests: readonly string[];
  /** Registers the client with the addresses of gateways at these origins. */
  register(...origins: readonly string[]): void;
  close(): Promise<void>;
}

export const clientId = 'library';
export const clientSecret = 'a-secret-of-the-library';

interface ProviderSetup extends Configuration {
  /** Whether users sign in on the pages of the provider, by any name. */
  readonly hasPages?: boolean;
}

/** Starts an OpenID provider that signs in its current account without asking. It has no client before `register`. */
export async function startProvider({ hasPages = false, ...options }: ProviderSetup = {}): Promise<TestProvider> {
  const requests: string[] = [];
  const accounts = new Map<string, Account>();
  let account: Account | null = null;
  let provider: Provider | null = null;
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url!.split('?', 1)[0]}`);
    if (hasPages || !request.url!.startsWith('/interaction/')) return void provider!.callback()(request, response);
    if (account !== null) accounts.set(account.sub, account);
    void interact(provider!, account, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // With pages, a site of its own for browsers: they ignore ports.
  const issuer = `http://${hasPages ? 'localhost' : '127.0.0.1'}:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    requests,
    get account() {
      return account;
    },
    set account(next) {
      account = next;
    },
    register: (...origins) => {
      provider = createProvider(issuer, {
        findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...(accounts.get(sub) ?? accountOf(sub)) }) }),
        clients: [
          {
            client_id: clientId,
            client_secret: clientSecret,
            token_endpoint_auth_method: 'client_secret_post',
            redirect_uris: origins.flatMap((origin) =>
              ['test', 'github', 'company'].map((name) => `${origin}/signin/${name}/callback`),
            ),
            post_logout_redirect_uris: origins.flatMap((origin) => [`${origin}/`, `${origin}/bye`]),
          },
        ],
        ...(hasPages ? {} : { interactions: { url: (_, { uid }) => `/interaction/${uid}` } }),
        ...options,
        features: { devInteractions: { enabled: hasPages }, ...options.features },
      });
    },
    close: () => stop(server),
  };
}

/** The library prints warnings about its test setup. */
function createProvider(issuer: string, options: Configuration): Provider {
  const silenced = (['info', 'warn'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation(() => undefined),
  );
  try {
    return new Provider(issuer, {
      cookies: { keys: ['a key of the provider'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
      pkce: { required: () => true },
      ...options,
    });
  } finally {
    for (const spy of silenced) spy.mockRestore();
  }
}

function accountOf(sub: string): Account {
  return { sub, name: sub, email: `${sub}@example.org`, email_verified: true };
}

/** Answers a login or consent of the provider at once. */
async function interact(
  provider: Provider,
  account: Account | null,
  ...[request, response]: Parameters<ReturnType<Provider['callback']>>
): Promise<void> {
  if (account === null) return provider.interactionFinished(request, response, { error: 'access_denied' });
  const { params, prompt } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: account.sub } });
  }
  const grant = new provider.Grant({ accountId: account.sub, clientId: String(params['client_id']) });
  grant.addOIDCScope(String(params['scope']));
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

export async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
