import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { clientId, stop } from './openid-provider.ts';

/** A provider under the control of an attacker, or with faults. */
export interface BadProvider {
  readonly issuer: string;
  /** The requests of the gateway. */
  readonly requests: readonly string[];
  /** Answers in place of the correct responses, by path. */
  readonly responses: Record<string, RequestListener>;
  /** The claims of the next ID token, besides the correct ones; undefined removes a claim. */
  claims: JWTPayload;
  /** Changes the signed ID token. */
  forge: (token: string) => string | Promise<string>;
  /** Signs a token with the key of the provider. */
  sign(claims: JWTPayload): Promise<string>;
  close(): Promise<void>;
}

export async function startBadProvider(): Promise<BadProvider> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url!.split('?', 1)[0]!;
    requests.push(`${request.method} ${path}`);
    const answer = provider.responses[path];
    if (answer === undefined) void (correct[path] ?? notFound)(response);
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sign = (claims: JWTPayload): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'key' }).sign(privateKey);
  const provider: BadProvider = {
    issuer,
    requests,
    responses: {},
    claims: {},
    forge: (token) => token,
    sign,
    close: () => stop(server),
  };
  const notFound = (response: ServerResponse): void => void response.writeHead(404).end();
  const correct: Readonly<Record<string, (response: ServerResponse) => void | Promise<void>>> = {
    '/.well-known/openid-configuration': (response) => json(response, discoveryDocument(issuer)),
    '/jwks': async (response) =>
      json(response, { keys: [{ ...(await exportJWK(publicKey)), kid: 'key', alg: 'RS256', use: 'sig' }] }),
    '/token': async (response) => {
      const seconds = Math.floor(Date.now() / 1000);
      const claims = { iss: issuer, aud: clientId, sub: 'ada', iat: seconds, exp: seconds + 600, ...provider.claims };
      json(response, {
        access_token: 'access',
        token_type: 'Bearer',
        id_token: await provider.forge(await sign(claims)),
      });
    },
    '/userinfo': (response) => json(response, { sub: 'ada', name: 'Ada' }),
  };
  return provider;
}

export function discoveryDocument(issuer: string): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    userinfo_endpoint: `${issuer}/userinfo`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Sends data until the client closes the connection. */
export function endless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = (): void => {
    while (!response.destroyed && response.write(' '.repeat(65_536)));
  };
  response.on('drain', more);
  more();
}
