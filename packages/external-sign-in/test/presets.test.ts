import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ExternalProviderOptions } from '../src/options.ts';
import { mergeClaims } from '../src/identity.ts';
import { Provider } from '../src/provider.ts';
import { providerFetch } from '../src/provider-fetch.ts';
import { providerSettings } from '../src/provider-settings.ts';
import { json } from './bad-provider.ts';
import { stop } from './openid-provider.ts';

const clientId = 'our-client';
const checks = {
  state: 'state-of-the-request',
  nonce: 'nonce-of-the-request',
  verifier: 'verifier-of-the-request-with-43-characters-0',
  redirectUri: 'https://app.example.org/signin/callback',
};

/** The documents of the providers, by their addresses. Those of discovery are as published; `issuer` of Microsoft is a template. */
const documents: Record<string, unknown> = {
  'https://accounts.google.com/.well-known/openid-configuration': recorded('google'),
  'https://www.linkedin.com/oauth/.well-known/openid-configuration': recorded('linkedin'),
  'https://login.microsoftonline.com/common/v2.0/.well-known/openid-configuration': recorded('microsoft'),
};

function recorded(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`discovery/${name}.json`, import.meta.url), 'utf8'));
}

let server: Server;
let sign: (claims: JWTPayload) => Promise<string>;
/** The last request of a token, and the authorization of other requests. */
let tokenRequest: URLSearchParams;
let authorizations: string[] = [];
let answers: Record<string, unknown> = {};

/** One server stands for all hosts of the providers: requests carry their original address in the path. */
beforeAll(async () => {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'key', alg: 'RS256', use: 'sig' }] };
  sign = (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'key' }).sign(privateKey);
  const answer = async (request: IncomingMessage): Promise<unknown> => {
    const url = decodeURIComponent(request.url!.slice(1));
    if (request.method === 'POST') tokenRequest = new URLSearchParams(await text(request));
    else if (request.headers.authorization !== undefined)
      authorizations.push(`${url} ${request.headers.authorization}`);
    return answers[url] ?? documents[url] ?? (/certs|jwks|keys/.test(url) ? keys : null);
  };
  server = createServer((request, response) => {
    void answer(request).then((value) => json(response, value, value === null ? 404 : 200));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => stop(server));
beforeEach(() => {
  answers = {};
  authorizations = [];
});

function open(name: string, options: Partial<ExternalProviderOptions> = {}): Provider {
  const settings = providerSettings(name, { clientId, clientSecret: 'our-secret', ...options });
  const request = providerFetch(5);
  const { port } = server.address() as AddressInfo;
  return new Provider(settings, (url, init) => request(`http://127.0.0.1:${port}/${encodeURIComponent(url)}`, init));
}

async function authorizationRequest(provider: Provider): Promise<readonly [string, Record<string, string>]> {
  const { nonce, pkce, endpoints } = provider.settings;
  const url = await provider.authorizationUrl({
    ...checks,
    nonce: nonce && endpoints === null ? checks.nonce : null,
    verifier: pkce ? checks.verifier : null,
  });
  return [`${url.origin}${url.pathname}`, Object.fromEntries(url.searchParams)];
}

const request = {
  redirect_uri: checks.redirectUri,
  response_type: 'code',
  client_id: clientId,
  state: checks.state,
};
const pkce = { code_challenge: expect.stringMatching(/^[\w-]{43}$/), code_challenge_method: 'S256' };
const openId = { ...request, scope: 'openid email profile' };

describe('authorization requests', () => {
  test('Google, LinkedIn and Microsoft by their discovery documents, GitHub and Facebook by their endpoints', async () => {
    const requests = await Promise.all(
      ['google', 'linkedin', 'microsoft', 'github', 'facebook'].map((name) => authorizationRequest(open(name))),
    );
    expect(requests).toEqual([
      ['https://accounts.google.com/o/oauth2/v2/auth', { ...openId, nonce: checks.nonce, ...pkce }],
      ['https://www.linkedin.com/oauth/v2/authorization', openId],
      ['https://login.microsoftonline.com/common/oauth2/v2.0/authorize', { ...openId, nonce: checks.nonce, ...pkce }],
      ['https://github.com/login/oauth/authorize', { ...request, scope: 'read:user user:email', ...pkce }],
      ['https://www.facebook.com/v23.0/dialog/oauth', { ...request, scope: 'public_profile email', ...pkce }],
    ]);
  });

  test('every part of a preset can be overridden', async () => {
    const provider = open('work', {
      preset: 'github',
      authorizationEndpoint: 'https://github.example.org/login/oauth/authorize',
      scope: 'read:user',
      pkce: false,
      authorizationParameters: { prompt: 'select_account', state: 'not this one' },
    });
    expect(await authorizationRequest(provider)).toEqual([
      'https://github.example.org/login/oauth/authorize',
      { ...request, scope: 'read:user', prompt: 'select_account' },
    ]);
  });
});

/** Answers a token request with an ID token of these claims. */
async function answerTokens(url: string, claims: JWTPayload | null): Promise<void> {
  const seconds = Math.floor(Date.now() / 1000);
  const common = { aud: clientId, iat: seconds, exp: seconds + 600, nonce: checks.nonce };
  answers[url] = {
    access_token: 'the-access-token',
    token_type: 'bearer',
    ...(claims === null ? {} : { id_token: await sign({ ...common, ...claims }) }),
  };
}

const query = `code=the-code&state=${checks.state}`;

describe('users', () => {
  test('Google: an address is verified if the provider says so', async () => {
    const token = 'https://oauth2.googleapis.com/token';
    const claims = { iss: 'https://accounts.google.com', sub: '117', name: 'Ada', email: 'ada@gmail.com' };
    const verified: (string | null)[] = [];
    for (const value of [true, 'true', false, 'false', undefined, 'yes', { toString: 'true' }]) {
      await answerTokens(token, { ...claims, email_verified: value });
      verified.push((await open('google').authorize(query, checks)).identity.email);
    }
    expect(verified).toEqual(['ada@gmail.com', 'ada@gmail.com', null, null, null, null, null]);
    expect(Object.fromEntries(tokenRequest)).toEqual({
      grant_type: 'authorization_code',
      code: 'the-code',
      redirect_uri: checks.redirectUri,
      code_verifier: checks.verifier,
      client_id: clientId,
      client_secret: 'our-secret',
    });
  });

  test('LinkedIn: without nonce and PKCE', async () => {
    const linkedIn = { ...checks, nonce: null, verifier: null };
    await answerTokens('https://www.linkedin.com/oauth/v2/accessToken', {
      iss: 'https://www.linkedin.com/oauth',
      sub: 'X1',
      name: 'Ada',
      email: 'ada@example.org',
      email_verified: true,
      nonce: undefined,
    });
    const { identity } = await open('linkedin').authorize(query, linkedIn);
    expect([identity.email, identity.name, JSON.parse(identity.json)]).toMatchObject([
      'ada@example.org',
      'Ada',
      { sub: 'X1', iss: 'https://www.linkedin.com/oauth' },
    ]);
    expect(tokenRequest.has('code_verifier')).toBe(false);
  });

  test('Microsoft: the issuer is that of the tenant, and an address is verified by xms_edov only', async () => {
    const token = 'https://login.microsoftonline.com/common/oauth2/v2.0/token';
    const tenant = '11111111-2222-3333-4444-555555555555';
    const claims = {
      iss: `https://login.microsoftonline.com/${tenant}/v2.0`,
      tid: tenant,
      sub: 'pairwise',
      name: 'Ada',
      email: 'ceo@example.org',
      email_verified: true,
    };
    await answerTokens(token, claims);
    expect((await open('microsoft').authorize(query, checks)).identity.email).toBe(null);
    await answerTokens(token, { ...claims, xms_edov: 1 });
    const { identity, idToken } = await open('microsoft').authorize(query, checks);
    expect([identity.email, idToken]).toEqual(['ceo@example.org', expect.stringMatching(/^eyJ/)]);
    await answerTokens(token, { ...claims, iss: 'https://login.microsoftonline.com/other/v2.0' });
    await expect(open('microsoft').authorize(query, checks)).rejects.toThrow(/"iss" \(issuer\)/);
    await answerTokens(token, { ...claims, iss: 'https://evil.example/v2.0', tid: undefined });
    await expect(open('microsoft').authorize(query, checks)).rejects.toThrow(/"iss" \(issuer\)/);
  });

  test('GitHub: the id is a number, the address is the primary one', async () => {
    await answerTokens('https://github.com/login/oauth/access_token', null);
    answers['https://api.github.com/user'] = { id: 583_231, login: 'ada', name: null, email: 'public@example.org' };
    answers['https://api.github.com/user/emails'] = [
      { email: 'old@example.org', primary: false, verified: true },
      { email: 'ada@example.org', primary: true, verified: true },
    ];
    const { identity, idToken } = await open('github').authorize(query, { ...checks, nonce: null });
    expect([identity.email, identity.name, idToken, JSON.parse(identity.json)]).toEqual([
      'ada@example.org',
      'ada',
      null,
      { id: 583_231, login: 'ada', name: null, email: 'ada@example.org', email_verified: true, sub: '583231' },
    ]);
    expect(authorizations).toEqual([
      'https://api.github.com/user Bearer the-access-token',
      'https://api.github.com/user/emails Bearer the-access-token',
    ]);
    answers['https://api.github.com/user/emails'] = [{ email: 'ada@example.org', primary: true, verified: false }];
    const unverified = await open('github').authorize(query, { ...checks, nonce: null });
    expect(unverified.identity.email).toBe(null);
    answers['https://api.github.com/user/emails'] = [];
    const without = await open('github').authorize(query, { ...checks, nonce: null });
    expect(without.identity.email).toBe(null);
  });

  test('Facebook: the address is not verified', async () => {
    await answerTokens('https://graph.facebook.com/v23.0/oauth/access_token', null);
    const me = 'https://graph.facebook.com/v23.0/me?fields=id,name,email,picture';
    answers[me] = { id: '10', name: 'Ada', email: 'ada@example.org' };
    const { identity } = await open('facebook').authorize(query, { ...checks, nonce: null });
    expect([identity.email, identity.name, JSON.parse(identity.json)]).toEqual([
      null,
      'Ada',
      { id: '10', name: 'Ada', email: 'ada@example.org', sub: '10' },
    ]);
    const trusted = await open('facebook', { trustEmail: true }).authorize(query, { ...checks, nonce: null });
    expect(trusted.identity.email).toBe('ada@example.org');
  });

  test('a profile without an id, and one that is no profile, is refused', async () => {
    await answerTokens('https://github.com/login/oauth/access_token', null);
    for (const profile of [{}, { id: '' }, { id: 1.5 }, { id: null }, [], 'ada', { sub: { toString: 1 } }]) {
      answers['https://api.github.com/user'] = profile;
      answers['https://api.github.com/user/emails'] = [];
      await expect(open('github').authorize(query, { ...checks, nonce: null })).rejects.toThrow(/profile of the user/);
    }
  });

  test('displayed texts that PostgreSQL or a log cannot take are dropped, each as a whole', async () => {
    await answerTokens('https://graph.facebook.com/v23.0/oauth/access_token', null);
    answers['https://graph.facebook.com/v23.0/me?fields=id,name,email,picture'] = {
      id: '10',
      name: 'A\u0000da',
      email: 'a\nb@example.org',
      given_name: 'A\ud800da',
      picture: { data: { url: 'https://example.org/ada.png' } },
    };
    const { identity } = await open('facebook', { trustEmail: true }).authorize(query, { ...checks, nonce: null });
    expect([identity.email, identity.name]).toEqual([null, null]);
    expect(JSON.parse(identity.json)).toEqual({
      sub: '10',
      id: '10',
      email: 'a\nb@example.org',
      picture: { data: { url: 'https://example.org/ada.png' } },
    });
  });
});

describe('identifiers', () => {
  test.each([
    { sub: 'u1\u0000' },
    { sub: 'u1', id: 'u1\ud800' },
    { sub: 'u1', oid: '\u0000' },
    { sub: 'u1', email: 'a\u0000@b' },
    { sub: 'u1', groups: ['staff', 'admin\u0000s'] },
    { sub: 'u1', hd: 'example.org\u0000' },
    { sub: 'u1', organization: { 'id\u0000': 1 } },
  ])('%j is refused, never cleaned: it would be another user', async (profile) => {
    await answerTokens('https://github.com/login/oauth/access_token', null);
    answers['https://api.github.com/user'] = profile;
    answers['https://api.github.com/user/emails'] = [];
    await expect(open('github').authorize(query, { ...checks, nonce: null })).rejects.toThrow(
      /has a NUL character or an unpaired surrogate, which PostgreSQL cannot store/,
    );
  });

  test('the ID token does not vouch for the address of the userinfo endpoint, nor the other way round', () => {
    const address = { email: 'eve@example.org' };
    const merged = [
      mergeClaims({ sub: '1', email_verified: true, xms_edov: true }, { ...address, name: 'Eve' }),
      mergeClaims({ sub: '1', ...address }, { sub: '1', email: 'x@example.org', email_verified: true }),
      mergeClaims({ sub: '1' }, { ...address, email_verified: true }),
    ];
    expect(merged).toEqual([
      { sub: '1', name: 'Eve', ...address },
      { sub: '1', ...address },
      { sub: '1', ...address, email_verified: true },
    ]);
  });
});

describe('options that cannot work', () => {
  const cases: readonly (readonly [string, Partial<ExternalProviderOptions>, RegExp])[] = [
    ['company', {}, /company: set issuer, the address of an OpenID provider, or preset, one of google, linkedin/],
    ['company', { issuer: 'http://id.example.org' }, /company\.issuer: must be a URL of https/],
    ['company', { issuer: 'https://user:password@id.example.org' }, /company\.issuer/],
    ['company', { issuer: 'id.example.org' }, /company\.issuer/],
    ['company', { tokenEndpoint: 'https://id.example.org' }, /set authorizationEndpoint and userinfoEndpoint too/],
    ['github', { userinfoEndpoint: 'http://api.example.org' }, /github\.userinfoEndpoint: must be a URL of https/],
  ];
  test.each(cases)('%s %j', (name, options, message) => {
    expect(() => open(name, options)).toThrow(message);
  });
});
