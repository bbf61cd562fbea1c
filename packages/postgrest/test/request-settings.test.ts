import { postgrestSource } from '@pgway/postgrest';
import { randomBytes } from 'node:crypto';
import { functionsSource } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { SignJWT } from 'jose';
import { expect, test } from 'vitest';

/* Policies and functions find the request where they have it from PostgREST. */

const suffix = randomBytes(4).toString('hex');
/** Roles belong to the cluster. */
const anonymous = `anonymous_${suffix}`;
const user = `user_${suffix}`;
const secret = 'a secret of at least thirty-two bytes';
const names = ['request.jwt.claims', 'request.headers', 'request.cookies', 'request.method', 'request.path'];
const gateway = useGateway(
  `
  create role ${anonymous}; create role ${user};
  grant ${anonymous}, ${user} to current_user;
  create table note (id int primary key, owner text not null);
  insert into note values (1, 'ada'), (2, 'bob');
  alter table note enable row level security;
  create policy own on note using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
  grant select on note to ${anonymous}, ${user};
  create function setting(name text) returns text language sql stable as $$ select current_setting(name, true) $$;
  `,
  {
    routineSources: [functionsSource(), postgrestSource()],
    commentsMode: 'parseAll',
    poolSize: 1,
    requestHeadersExclude: [
      'host',
      'authorization',
      'user-agent',
      'accept-language',
      'sec-fetch-mode',
      'connection',
      'accept-encoding',
    ],
    customRequestHeaders: { 'X-Region': 'north' },
    authentication: {
      jwt: { keys: [{ secret }], issuer: ['https://id.example.org'], audience: ['app'] },
      databaseRole: { claim: 'role', anonymous: anonymous },
    },
  },
);

async function token(claims: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, string>>> {
  const jwt = new SignJWT({ iss: 'https://id.example.org', aud: 'app', exp: 4_000_000_000, ...claims });
  const signed = await jwt.setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret));
  return { authorization: `Bearer ${signed}` };
}

async function settings(headers: Readonly<Record<string, string>>): Promise<unknown> {
  const values = names.map(async (name) => {
    const { body } = await gateway.send(`GET /rest/rpc/setting?name=${name}`, { headers });
    const text = JSON.parse(body) as string;
    return [name, text.startsWith('{') ? JSON.parse(text) : text] as const;
  });
  return Object.fromEntries(await Promise.all(values));
}

test('a request without a token', async () => {
  const headers = { 'X-Mixed-Case': 'a', 'X-Region': 'forged', cookie: 'a=1; b=two%20words' };
  expect(await settings(headers)).toEqual({
    'request.jwt.claims': { role: anonymous },
    'request.headers': { accept: '*/*', cookie: headers.cookie, 'x-mixed-case': 'a', 'x-region': 'north' },
    'request.cookies': { a: '1', b: 'two words' },
    'request.method': 'GET',
    'request.path': '/rpc/setting',
  });
});

test('every claim of a token, the registered ones too', async () => {
  const headers = await token({ sub: 'ada', role: user, app_metadata: { plan: 'pro' }, big: 12 });
  expect(await settings(headers)).toMatchObject({
    'request.jwt.claims': {
      iss: 'https://id.example.org',
      aud: 'app',
      exp: 4_000_000_000,
      sub: 'ada',
      role: user,
      app_metadata: { plan: 'pro' },
      big: 12,
    },
  });
});

test('a token without a role has that of anonymous requests', async () => {
  expect(await settings(await token({ sub: 'ada' }))).toMatchObject({
    'request.jwt.claims': { sub: 'ada', role: anonymous },
  });
});

test('a policy finds the user of each request on one connection', async () => {
  const read = async (headers: Readonly<Record<string, string>>): Promise<string> =>
    (await gateway.send('GET /rest/note?select=owner', { headers })).body;
  expect(await read(await token({ sub: 'ada' }))).toBe('[{"owner":"ada"}]');
  expect(await read({})).toBe('[]');
  expect(await read(await token({ sub: 'bob', role: user }))).toBe('[{"owner":"bob"}]');
});
