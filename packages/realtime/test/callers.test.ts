import { randomBytes } from 'node:crypto';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { CompactSign, SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { connect, join, useRealtime } from './support.ts';

/* A database of Supabase: its roles, its function of the caller, its keys. */

const suffix = randomBytes(4).toString('hex');
const [anon, authenticated] = ['anon', 'authenticated'].map((role) => `${role}_${suffix}`) as [string, string];
const secret = 'super-secret-jwt-token-with-at-least-32-characters-long';
const ada = '6b1a7f0e-5c0b-4c8f-9b59-1f6f3a1d2c01';
const bob = '6b1a7f0e-5c0b-4c8f-9b59-1f6f3a1d2c02';

async function sign(claims: Readonly<Record<string, unknown>>, key = secret): Promise<string> {
  const jwt = new SignJWT({ exp: 4_000_000_000, ...claims }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' });
  return jwt.sign(new TextEncoder().encode(key));
}

/** Signs a payload as it is written, with numbers that JavaScript would round. */
async function signText(claims: string): Promise<string> {
  const payload = `{"iss":"https://id.example.com/auth/v1","aud":"authenticated","role":"${authenticated}",${claims}}`;
  const jwt = new CompactSign(new TextEncoder().encode(payload)).setProtectedHeader({ alg: 'HS256', typ: 'JWT' });
  return jwt.sign(new TextEncoder().encode(secret));
}

const anonKey = await sign({ iss: 'supabase', ref: 'abc', role: anon });

const gateway = useGateway(
  `
  create role ${anon}; create role ${authenticated};
  grant ${anon}, ${authenticated} to current_user;
  create schema auth; grant usage on schema auth to public;
  create function auth.uid() returns uuid language sql stable as $$
    select (current_setting('request.jwt.claims', true)::jsonb ->> 'sub')::uuid $$;
  create table todo (id int primary key, owner uuid not null, task text not null);
  alter table todo enable row level security;
  create policy own on todo to ${authenticated} using ((select auth.uid()) = owner);
  grant select on todo to ${authenticated};
  create table news (id int primary key, title text);
  grant select on news to ${anon}, ${authenticated};
  create table account (id int primary key, member bigint, tenant int);
  alter table account enable row level security;
  create policy own on account to ${authenticated} using (
    (current_setting('request.jwt.claims')::jsonb ->> 'member')::bigint = member
    or (current_setting('request.jwt.claims')::jsonb #>> '{app_metadata,tenant}')::int = tenant);
  grant select on account to ${authenticated};
  create publication pgway_changes for table todo, news, account;
  `,
  {
    routineSources: [postgrestSource({ path: '/rest/v1' })],
    commentsMode: 'parseAll',
    includeSchemas: ['public'],
    changes: { window: 0 },
    authentication: {
      production: true,
      jwt: {
        keys: [{ secret }],
        issuer: ['https://id.example.com/auth/v1'],
        audience: ['authenticated'],
        apiKeys: [anonKey],
        claims: { provider: 'app_metadata.provider' },
      },
      databaseRole: { claim: 'role', anonymous: anon },
    },
  },
);
const server = useRealtime(() => gateway.gateway);

let tokens: Readonly<Record<'ada' | 'bob' | 'newerAda', string>>;
beforeAll(async () => {
  const of = (sub: string, more: object = {}): Promise<string> =>
    sign({ iss: 'https://id.example.com/auth/v1', aud: 'authenticated', role: authenticated, sub, ...more });
  tokens = { ada: await of(ada), bob: await of(bob), newerAda: await of(ada, { exp: 4_000_000_001, jti: 'b' }) };
});

const todo = { event: '*', schema: 'public', table: 'todo' };
const keysOf = (received: readonly Record<string, unknown>[]): readonly unknown[] =>
  received.map(({ eventType, new: row, old }) => [
    eventType,
    ((eventType === 'DELETE' ? old : row) as { id: unknown }).id,
  ]);

describe('row level security', () => {
  test('each caller gets the changes of the rows that policies show, deletes too', async () => {
    const first = await join(connect(server, { apikey: anonKey, token: tokens.ada }), [todo]);
    const second = await join(connect(server, { apikey: anonKey, token: tokens.bob }), [todo]);
    await gateway.database.query(`insert into todo values (1, '${ada}', 'a'), (2, '${bob}', 'b')`);
    await expect
      .poll(() => [first, second].map(({ received }) => keysOf(received[0]!)))
      .toEqual([[['INSERT', 1]], [['INSERT', 2]]]);
    await gateway.database.query(`update todo set owner = '${bob}' where id = 1`);
    await expect
      .poll(() => [first, second].map(({ received }) => keysOf(received[0]!)))
      .toEqual([
        [
          ['INSERT', 1],
          ['DELETE', 1],
        ],
        [
          ['INSERT', 2],
          ['INSERT', 1],
        ],
      ]);
    await gateway.database.query(`delete from todo`);
    await expect
      .poll(() => keysOf(second.received[0]!).slice(2))
      .toEqual([
        ['DELETE', 2],
        ['DELETE', 1],
      ]);
    expect(first.received[0]).toHaveLength(2);
  });

  test('a caller without the privilege is refused; with "*", the other tables remain', async () => {
    const client = connect(server, { apikey: anonKey });
    expect((await join(client, [todo])).status).toBe('CHANNEL_ERROR: permission denied for table todo');
    const { status, received } = await join(client, [{ event: '*', schema: 'public' }], { name: 'all' });
    expect(status).toBe('SUBSCRIBED');
    await gateway.database.query(`insert into todo values (3, '${ada}', 'a')`);
    await gateway.database.query(`insert into news values (1, 'Hello')`);
    await expect.poll(() => keysOf(received[0]!)).toEqual([['INSERT', 1]]);
    await gateway.database.query(`delete from todo; delete from news`);
  });

  test('a revoked privilege ends the channel', async () => {
    const { channel, system } = await join(connect(server, { apikey: anonKey }), [{ ...todo, table: 'news' }]);
    await gateway.database.query(`revoke select on news from ${anon}`);
    await gateway.database.query(`insert into news values (2, 'x')`);
    await expect
      .poll(() => system.at(-1))
      .toMatchObject({
        status: 'error',
        message: 'You may not read public.news any more',
      });
    await expect.poll(() => channel.state).toBe('closed');
    await gateway.database.query(`grant select on news to ${anon}; delete from news`);
  });
});

describe('claims that are not those of the gateway', () => {
  const account = { ...todo, table: 'account' };
  const exp = '"exp":4000000000';
  const tenant = (id: number): Promise<string> => signText(`${exp},"sub":"x","app_metadata":{"tenant":${id}}`);

  test.each([
    [
      'numbers beyond 2⁵³',
      [signText(`${exp},"member":1096512345678901234`), signText(`${exp},"member":1096512345678901235`)],
      `(1, 1096512345678901234, null), (2, 1096512345678901235, null)`,
    ],
    ['members of a mapped path', [tenant(1), tenant(2)], `(1, null, 1), (2, null, 2)`],
  ])('distinguish callers: %s', async (_, signed, rows) => {
    const [first, second] = await Promise.all(
      signed.map(async (token) => join(connect(server, { apikey: anonKey, token: await token }), [account])),
    );
    await gateway.database.query(`insert into account values ${rows}`);
    await expect
      .poll(() => [first, second].map((channel) => keysOf(channel!.received[0]!)))
      .toEqual([[['INSERT', 1]], [['INSERT', 2]]]);
    await gateway.database.query(`delete from account`);
  });

  test('a newer token with another tenant continues with the rows of that tenant', async () => {
    const client = connect(server, { apikey: anonKey, token: await tenant(1) });
    const { received, channel } = await join(client, [account]);
    await client.setAuth(await tenant(2));
    // The reply to a message of the channel follows the change of the identity.
    await channel.send({ type: 'presence', event: 'track' });
    await gateway.database.query(`insert into account values (1, null, 1), (2, null, 2)`);
    await expect.poll(() => keysOf(received[0]!)).toEqual([['INSERT', 2]]);
    await gateway.database.query(`delete from account`);
  });
});

describe('tokens', () => {
  test('a newer token of the same user continues; one of another user continues with the rows of that user', async () => {
    const client = connect(server, { apikey: anonKey, token: tokens.ada });
    const { received, channel } = await join(client, [todo]);
    await client.setAuth(tokens.newerAda);
    await gateway.database.query(`insert into todo values (4, '${ada}', 'a')`);
    await expect.poll(() => keysOf(received[0]!)).toEqual([['INSERT', 4]]);
    await client.setAuth(tokens.bob);
    // The reply to a message of the channel follows the change of the identity.
    await channel.send({ type: 'presence', event: 'track' });
    await gateway.database.query(`insert into todo values (5, '${ada}', 'a'), (6, '${bob}', 'b')`);
    await expect
      .poll(() => keysOf(received[0]!))
      .toEqual([
        ['INSERT', 4],
        ['INSERT', 6],
      ]);
    await gateway.database.query(`delete from todo`);
  });

  test('a refused token ends the channel', async () => {
    const client = connect(server, { apikey: anonKey, token: tokens.ada });
    const { system, channel } = await join(client, [todo]);
    await client.setAuth(
      await sign({ iss: 'https://id.example.com/auth/v1', aud: 'authenticated', sub: ada }, 'x'.repeat(40)),
    );
    await expect
      .poll(() => system.at(-1))
      .toEqual({
        extension: 'postgres_changes',
        status: 'error',
        message: 'The credentials are refused: The signature of the token is not valid.',
        channel: 'room',
      });
    await expect.poll(() => channel.state).toBe('closed');
  });

  test('a join with an expired token is refused', async () => {
    const expired = await sign({ iss: 'https://id.example.com/auth/v1', aud: 'authenticated', exp: 1_000 });
    const { status } = await join(connect(server, { apikey: anonKey, token: expired }), [todo]);
    expect(status).toBe('CHANNEL_ERROR: The credentials are refused: The token has expired.');
  });
});
