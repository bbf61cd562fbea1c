import { randomBytes } from 'node:crypto';
import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { PostgrestClient } from '@supabase/postgrest-js';
import { useGateway } from '@pgway/testing';
import { SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { ask } from './support.ts';

/* A database of Supabase: its roles, its functions of the caller, its keys, and its client. */

const suffix = randomBytes(4).toString('hex');
const [anon, authenticated, service] = ['anon', 'authenticated', 'service_role'].map((role) => `${role}_${suffix}`) as [
  string,
  string,
  string,
];
const secret = 'super-secret-jwt-token-with-at-least-32-characters-long';
const ada = '6b1a7f0e-5c0b-4c8f-9b59-1f6f3a1d2c01';

async function sign(claims: Readonly<Record<string, unknown>>, key = secret): Promise<string> {
  const jwt = new SignJWT({ exp: 4_000_000_000, ...claims }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' });
  return jwt.sign(new TextEncoder().encode(key));
}

const anonKey = await sign({ iss: 'supabase', ref: 'abc', role: anon });
const serviceKey = await sign({ iss: 'supabase', ref: 'abc', role: service });
const unlisted = await sign({ iss: 'supabase', ref: 'other', role: service });

const gateway = useGateway(
  `
  create role ${anon}; create role ${authenticated}; create role ${service} bypassrls;
  grant ${anon}, ${authenticated}, ${service} to current_user;
  create schema auth; grant usage on schema auth to public;
  create function auth.uid() returns uuid language sql stable as $$
    select (current_setting('request.jwt.claims', true)::jsonb ->> 'sub')::uuid $$;
  create function auth.role() returns text language sql stable as $$
    select current_setting('request.jwt.claims', true)::jsonb ->> 'role' $$;
  create table todo (id int generated always as identity primary key, owner uuid not null default auth.uid(), task text not null);
  insert into todo (owner, task) values ('${ada}', 'write'), (gen_random_uuid(), 'read');
  alter table todo enable row level security;
  create policy own on todo to ${authenticated} using ((select auth.uid()) = owner) with check ((select auth.uid()) = owner);
  grant all on todo to ${authenticated}, ${service};
  create table news (id int primary key, title text);
  insert into news values (1, 'Hello');
  grant select on news to ${anon};
  `,
  {
    routineSources: [functionsSource(), postgrestSource({ path: '/rest/v1' })],
    commentsMode: 'parseAll',
    includeSchemas: ['public'],
    authentication: {
      production: true,
      jwt: {
        keys: [{ secret }],
        issuer: ['https://id.example.com/auth/v1'],
        audience: ['authenticated'],
        apiKeys: [anonKey, serviceKey],
      },
      databaseRole: { claim: 'role', anonymous: anon },
    },
  },
);

let userToken: string;
beforeAll(async () => {
  userToken = await sign({
    iss: 'https://id.example.com/auth/v1',
    aud: 'authenticated',
    sub: ada,
    role: authenticated,
  });
});

const client = (token: string): PostgrestClient =>
  new PostgrestClient(`${gateway.url}/rest/v1`, { headers: { apikey: anonKey, authorization: `Bearer ${token}` } });

test('the anonymous key reads what everybody may read', async () => {
  expect((await client(anonKey).from('news').select('title')).data).toEqual([{ title: 'Hello' }]);
  expect((await client(anonKey).from('todo').select()).error?.code).toBe('42501');
});

test('a user reads and writes own rows', async () => {
  const user = client(userToken).from('todo');
  expect((await user.select('task')).data).toEqual([{ task: 'write' }]);
  expect((await user.insert({ task: 'think' }).select('task,owner').single()).data).toEqual({
    task: 'think',
    owner: ada,
  });
  expect((await user.insert({ task: 'x', owner: '00000000-0000-0000-0000-000000000000' })).error?.code).toBe('42501');
});

test('the service key reads all rows', async () => {
  expect((await client(serviceKey).from('todo').select('*', { count: 'exact', head: true })).count).toBeGreaterThan(1);
});

describe('other tokens', () => {
  test.each([
    ['a key that is not listed', async () => unlisted, 'PGRST303', 'The token is from another issuer'],
    [
      'another audience',
      () => sign({ iss: 'https://id.example.com/auth/v1', aud: 'x', sub: ada }),
      'PGRST303',
      'JWT not in audience',
    ],
    [
      'an old token',
      () => sign({ iss: 'https://id.example.com/auth/v1', aud: 'authenticated', exp: 1_000 }),
      'PGRST303',
      'JWT expired',
    ],
    [
      'another key',
      () => sign({ iss: 'https://id.example.com/auth/v1', aud: 'authenticated' }, 'x'.repeat(40)),
      'PGRST301',
      'No suitable key or wrong key type',
    ],
  ])('%s', async (_, token, code, message) => {
    const headers = { authorization: `Bearer ${await token()}` };
    const response = await ask(gateway, 'GET /rest/v1/news', { headers });
    const details = code === 'PGRST301' ? 'None of the keys was able to decode the JWT' : null;
    expect(response.split('\n').at(-1)).toBe(JSON.stringify({ code, message, details, hint: null }));
    expect(response).toMatch(/^401\n/);
    expect(response).toContain(`www-authenticate: Bearer error="invalid_token", error_description="${message}"`);
  });
});
