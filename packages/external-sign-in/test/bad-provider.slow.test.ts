import { externalSignIn } from '@pgway/external-sign-in';
import { generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { startGateway, type TestGateway } from '@pgway/testing';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type BadProvider, discoveryDocument, endless, json, startBadProvider } from './bad-provider.ts';
import { TestBrowser } from './browser.ts';
import { clientId } from './openid-provider.ts';

const sql = `
create function external_login(_provider text, _email text, _name text, _profile jsonb)
returns table (id text, email text, name text) language sql as
$$ select _profile->>'sub', _email, _name $$;
create function me(_user_claims json) returns json language sql stable as $$ select _user_claims $$;
comment on function me is 'HTTP GET
authorize
user_parameters';`;

const unavailable = { status: 503, problem: 'urn:pgway:problem:provider-unavailable', session: false };
const invalid = { status: 502, problem: 'urn:pgway:problem:invalid-provider-response', session: false };

/** Responses in place of a discovery document. */
const documents: readonly (readonly [string, RequestListener, object, RegExp])[] = [
  ['no response', () => undefined, unavailable, /did not answer within 2 s/],
  ['status 404', (_, response) => response.writeHead(404).end(), invalid, /status/],
  ['another issuer', (_, response) => json(response, discoveryDocument('https://evil.example')), invalid, /issuer/],
  ['an endless document', (_, response) => endless(response), invalid, /more than 262144 bytes/],
  ['no document', (_, response) => json(response, []), invalid, /./],
];

let provider: BadProvider;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startBadProvider();
  gateway = await startGateway(sql, {
    authentication: {
      cookie: true,
      useUserParameters: true,
      loginRateLimit: { perAddress: 1_000_000 },
      externalSignIn: externalSignIn({
        providers: {
          test: { issuer: provider.issuer, clientId },
          // Each one has its own discovery document.
          ...Object.fromEntries(
            documents.map((_, index) => [`bad${index}`, { issuer: `${provider.issuer}/bad${index}`, clientId }]),
          ),
          lazy: { issuer: `${provider.issuer}/lazy`, clientId },
        },
        loginCommand: 'select * from external_login($1, $2, $3, $4::jsonb) -- $5',
        timeout: 2,
      }),
    },
  });
});
afterAll(async () => {
  await gateway?.close();
  await provider?.close();
});
beforeEach(() => {
  provider.claims = {};
  provider.forge = (token) => token;
  for (const route of Object.keys(provider.responses)) delete provider.responses[route];
});

interface Result {
  readonly status: number;
  readonly problem: string;
  /** Whether the response has begun a session. */
  readonly session: boolean;
  /** The last observation: outcome and reason. */
  readonly line: string;
}

/** Starts a sign-in and returns from the provider, for a program and for a browser. */
async function signIn(query = 'code=x'): Promise<Result> {
  const program = await attempt('application/json', query);
  const page = await attempt('text/html', query);
  expect([page.status, page.session, page.line]).toEqual([program.status, program.session, program.line]);
  return program;
}

async function attempt(accept: string, query: string, name = 'test'): Promise<Result> {
  const browser = new TestBrowser();
  const started = await browser.visit(`${gateway.url}/signin/${name}?return_to=/api/me`, {
    follow: false,
    headers: { accept },
  });
  const location = started.headers.get('location');
  const parameters = location === null ? null : new URL(location).searchParams;
  // The nonce of the request, unless a test has another one.
  const { claims } = provider;
  if (parameters !== null) provider.claims = { nonce: parameters.get('nonce'), ...claims };
  const state = parameters?.get('state') ?? '';
  const response =
    location === null
      ? started
      : await browser.visit(`${gateway.url}/signin/test/callback?${query}&state=${state}`, { headers: { accept } });
  provider.claims = claims;
  const last = gateway.observations.findLast(({ kind }) => kind === 'external-sign-in');
  return {
    status: response.status,
    problem: response.headers.get('content-type')!.includes('problem')
      ? (JSON.parse(response.body) as { type: string }).type
      : '',
    session: browser.cookies(gateway.url).has('pgway'),
    line: last?.kind === 'external-sign-in' ? `${last.outcome}: ${last.reason}` : '',
  };
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test('the correct response of this provider signs in', async () => {
  expect(await attempt('text/html', 'code=x')).toMatchObject({ status: 200, session: true, line: 'succeeded: null' });
});

describe('ID tokens that are refused', () => {
  const claims: readonly (readonly [string, () => Record<string, unknown>, RegExp])[] = [
    ['another nonce', () => ({ nonce: 'other' }), /nonce/],
    ['no nonce', () => ({ nonce: undefined }), /nonce/],
    ['a foreign issuer', () => ({ iss: 'https://evil.example' }), /issuer/],
    ['another audience', () => ({ aud: 'another-client' }), /audience/],
    ['several audiences without azp', () => ({ aud: [clientId, 'other'] }), /untrusted audiences/],
    ['a foreign azp with one audience', () => ({ azp: 'another-client' }), /for another client \(azp\)/],
    ['an expired token', () => ({ exp: Math.floor(Date.now() / 1000) - 60 }), /"exp"/],
    ['a token without an expiry', () => ({ exp: undefined }), /exp/],
    ['a token of the future', () => ({ nbf: Math.floor(Date.now() / 1000) + 600 }), /nbf/],
    ['no subject', () => ({ sub: undefined }), /sub/],
  ];
  test.each(claims)('%s', async (_, make, reason) => {
    provider.claims = make();
    const result = await signIn();
    expect(result).toMatchObject(invalid);
    expect(result.line).toMatch(/^failed: /);
    expect(result.line).toMatch(reason);
  });

  const foreignKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const payloadOf = (token: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
  const forgeries: readonly (readonly [string, BadProvider['forge'], RegExp])[] = [
    ['an unsigned token', (token) => `${part({ alg: 'none' })}.${token.split('.')[1]}.`, /alg/],
    ['a token without its signature', (token) => token.replace(/[^.]+$/, ''), /./],
    [
      'a changed token',
      (token) => {
        const [header, , signature] = token.split('.');
        return `${header}.${part({ ...payloadOf(token), sub: 'admin' })}.${signature}`;
      },
      /signature/i,
    ],
    [
      'a token of a foreign key',
      (token) => new SignJWT(payloadOf(token)).setProtectedHeader({ alg: 'RS256', kid: 'key' }).sign(foreignKey),
      /signature/i,
    ],
    [
      'a token signed with the client id as a secret',
      (token) =>
        new SignJWT(payloadOf(token))
          .setProtectedHeader({ alg: 'HS256' })
          .sign(new TextEncoder().encode(clientId.padEnd(32))),
      /alg/,
    ],
    ['no token', () => 'no token', /./],
  ];
  test.each(forgeries)('%s', async (_, forge, reason) => {
    provider.forge = forge;
    const result = await signIn();
    expect(result).toMatchObject(invalid);
    expect(result.line).toMatch(reason);
  });

  test('a userinfo response of another user', async () => {
    provider.responses['/userinfo'] = (_, response) => json(response, { sub: 'admin', email: 'admin@example.org' });
    expect(await signIn()).toMatchObject(invalid);
  });
});

describe('error redirects', () => {
  test('the user has cancelled: 403; the provider has failed: 503; its error: 502', async () => {
    expect(await signIn('error=access_denied')).toEqual({
      status: 403,
      problem: 'urn:pgway:problem:sign-in-denied',
      session: false,
      line: 'refused: the provider answered with the error "access_denied"',
    });
    expect(await signIn('error=temporarily_unavailable')).toMatchObject(unavailable);
    expect(await signIn('error=invalid_scope&error_description=no%20such%20scope')).toEqual({
      ...invalid,
      line: 'failed: the provider answered with the error "invalid_scope", "no such scope"',
    });
  });

  test('an error with control characters, and a long one, are escaped and cut', async () => {
    const { line } = await signIn(`error=${encodeURIComponent('x\n\u001b[31m')}&error_description=${'y'.repeat(2000)}`);
    expect(line).toBe(`failed: the provider answered with the error "x\\n\\u001b[31m", "${'y'.repeat(200)}"`);
  });

  test('no code, two codes, and a foreign issuer in the response (RFC 9207)', async () => {
    for (const query of ['', 'code=x&code=y', 'code=x&iss=https://evil.example', 'id_token=x', 'response=x']) {
      expect(await signIn(query)).toMatchObject({ ...invalid });
    }
  });
});

describe('responses of the token endpoint', () => {
  const answers: readonly (readonly [string, RequestListener, object, RegExp])[] = [
    ['a refused code', (_, response) => json(response, { error: 'invalid_grant' }, 400), invalid, /"invalid_grant"/],
    ['status 500', (_, response) => response.writeHead(500).end(), unavailable, /status 500/],
    ['a redirect', (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(), invalid, /./],
    [
      'HTML',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      invalid,
      /content-type/,
    ],
    [
      'invalid JSON',
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      invalid,
      /pars/,
    ],
    ['no tokens', (_, response) => json(response, {}), invalid, /access_token/],
    ['no ID token', (_, response) => json(response, { access_token: 'x', token_type: 'Bearer' }), invalid, /id_token/],
    ['an endless response', (_, response) => endless(response), invalid, /more than 262144 bytes/],
    ['a closed connection', (request) => request.socket.destroy(), unavailable, /cannot be reached/],
    ['no response', () => undefined, unavailable, /did not answer within 2 s/],
    ['half a response', (_, response) => response.writeHead(200).write('{'), unavailable, /did not answer within 2 s/],
  ];
  test.each(answers)('%s', async (_, listener, expected, reason) => {
    provider.responses['/token'] = listener;
    const result = await attempt('application/json', 'code=x');
    expect(result).toMatchObject(expected);
    expect(result.line).toMatch(reason);
    const page = await attempt('text/html', 'code=x');
    expect([page.status, page.session]).toEqual([result.status, false]);
  });
});

describe('discovery', () => {
  test.each(documents.map(([name], index) => [name, index] as const))(
    '%s: the start says so at once, and again without asking',
    async (_, index) => {
      const [, listener, expected, reason] = documents[index]!;
      const path = `/bad${index}/.well-known/openid-configuration`;
      provider.responses[path] = listener;
      const asked = provider.requests.length;
      const start = (): Promise<Result> => attempt('application/json', '', `bad${index}`);
      const [first, ...others] = await Promise.all(Array.from({ length: 10 }, start));
      expect(first).toMatchObject(expected);
      expect(first!.line).toMatch(reason);
      expect([...others, await start()]).toEqual(Array.from({ length: 10 }, () => first));
      expect(provider.requests.slice(asked)).toEqual([`GET ${path}`]);
    },
  );

  test('the document is read at the first sign-in, once', async () => {
    const path = '/lazy/.well-known/openid-configuration';
    provider.responses[path] = (_, response) => json(response, discoveryDocument(`${provider.issuer}/lazy`));
    expect(provider.requests).not.toContain(`GET ${path}`);
    await Promise.all(Array.from({ length: 10 }, () => gateway.send('POST /signin/lazy')));
    expect(provider.requests.filter((line) => line.includes('/lazy/'))).toEqual([`GET ${path}`]);
  });
});
