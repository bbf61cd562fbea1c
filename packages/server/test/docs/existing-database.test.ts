/** The configuration of the guide for a database that Supabase or PostgREST has served. */
import { createHmac, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createGateway } from '@pgway/core';
import { freshDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { gatewayOptions } from '../../src/gateway-options.ts';
import { dropRoles } from '../support/roles.ts';
import { root } from './stage.ts';

const unique = `existing_${randomBytes(6).toString('hex')}`;
const [authenticator, anon, authenticated] = ['authenticator', 'anon', 'authenticated'].map(
  (name) => `${unique}_${name}`,
);
const secret = 'the secret of the project, of 32 bytes and more';
const [ada, bob] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'];

/** The functions of Supabase, and a policy of each kind. */
const sql = `
create role ${anon} nologin; create role ${authenticated} nologin;
create role ${authenticator} login noinherit password '${secret}'; grant ${anon}, ${authenticated} to ${authenticator};
create schema auth; grant usage on schema auth to ${anon}, ${authenticated};
create function auth.uid() returns uuid language sql stable as $$ select coalesce(
  nullif(current_setting('request.jwt.claim.sub', true), ''),
  nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid $$;
create table note (id int primary key, owner uuid, content text);
create table secret_note (id int primary key, owner text);
alter table note enable row level security;
alter table secret_note enable row level security;
create policy own on note to ${authenticated} using (owner = auth.uid());
create policy own on secret_note to ${authenticated}
  using (owner = current_setting('request.jwt.claims', true)::json ->> 'email');
grant select on note to ${anon}, ${authenticated}; grant select on secret_note to ${authenticated};
insert into note values (1, '${ada}', 'of Ada'), (2, '${bob}', 'of Bob');
insert into secret_note values (1, 'ada@example.com'), (2, 'bob@example.com');`;

function tokenOf(user: string, email: string): string {
  const [iss, aud] = ['https://id.example.com/auth/v1', 'authenticated'];
  return sign({ sub: user, email, role: authenticated, iss, aud });
}

function sign(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ ...claims, exp: Math.floor(Date.now() / 1000) + 3600 })}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

test('policies that read the claims of PostgREST see the caller, without a change', async () => {
  const database = await freshDatabase(sql);
  onTestFinished(async () => {
    await database.drop();
    await dropRoles(unique);
  });
  const page = await readFile(join(root, 'docs/guide/existing-database.md'), 'utf8');
  const anonKey = sign({ iss: 'supabase', role: anon });
  const text = /```json\n([^]*?)```/
    .exec(page)![1]!
    .replace('${JWT_SECRET}', secret)
    .replace('${ANON_KEY}', anonKey)
    .replace('${SERVICE_ROLE_KEY}', sign({ iss: 'supabase', role: 'service_role' }))
    .replace('"anonymous": "anon"', `"anonymous": "${anon}"`);
  const configuration = parseConfiguration(JSON.parse(text));
  const url = new URL(database.connectionString);
  [url.username, url.password] = [authenticator!, secret];
  const gateway = await createGateway(await gatewayOptions(configuration, url.href, {}));
  onTestFinished(() => gateway.close());
  const server = createServer(gateway.middleware);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const read = async (path: string, token: string | null): Promise<unknown> => {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/rest/v1/${path}`, {
      headers,
    });
    return [response.status, await response.json()];
  };
  const token = tokenOf(ada!, 'ada@example.com');
  expect([
    await read('note?select=id,content', token),
    await read('secret_note', token),
    await read('note', null),
    await read('note', anonKey),
    await read('note', tokenOf(bob!, 'bob@example.com')),
  ]).toEqual([
    [200, [{ id: 1, content: 'of Ada' }]],
    [200, [{ id: 1, owner: 'ada@example.com' }]],
    [200, []],
    [200, []],
    [200, [{ id: 2, owner: bob, content: 'of Bob' }]],
  ]);
});
