import { randomBytes } from 'node:crypto';
import { startGateway } from '@pgway/testing';
import { SignJWT } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { ask, postgrest } from './support.ts';

/* `jwt-role-claim-key` of PostgREST is a path in the token: here it is `claims` of the scheme. */

const suffix = randomBytes(4).toString('hex');
const [guest, author] = [`guest_${suffix}`, `author_${suffix}`];
const secret = randomBytes(32);

const tokenOf = (claims: Readonly<Record<string, unknown>>): Promise<string> =>
  new SignJWT({ exp: 4_000_000_000, ...claims }).setProtectedHeader({ alg: 'HS256' }).sign(secret);

const url = 'https://example.org/role';
const list = { app: { roles: ['other', author] } };

test.each([
  ['$.role', 'role', { role: author }, author],
  ['$.app.role', 'app.role', { app: { role: author } }, author],
  ['$["https://example.org/role"]', url, { [url]: author }, author],
  ['$["https://example.org/role"].key', [url, 'key'], { [url]: { key: author } }, author],
  ['$.app.roles[1]', 'app.roles.1', list, author],
  ['an element that does not exist', 'app.roles.2', list, guest],
  ['the length of an array', 'app.roles.length', list, guest],
  ['a method of an array', 'app.roles.at', list, guest],
  ['a path through a text', 'role.0', { role: author }, guest],
])('%s', async (_, path, claims, role) => {
  const gateway = await startGateway(
    `create role ${guest}; create role ${author}; grant ${guest}, ${author} to current_user;
     create view me as select current_user::text as role;
     grant select on me to ${guest}, ${author};`,
    {
      ...postgrest(),
      authentication: {
        // `jwt-secret-is-base64`
        jwt: {
          keys: [{ jwk: { kty: 'oct', k: secret.toString('base64url') } }],
          issuer: null,
          audience: null,
          claims: { role: path },
        },
        databaseRole: { claim: 'role', anonymous: guest },
      },
    },
  );
  onTestFinished(async () => {
    await gateway.database.query(`drop owned by ${guest}, ${author}; drop role ${guest}, ${author}`);
    await gateway.close();
  });
  const headers = { authorization: `Bearer ${await tokenOf(claims)}` };
  expect(await ask(gateway, 'GET /rest/me', { headers })).toBe(`200
cache-control: private
content-range: 0-0/*
content-type: application/json; charset=utf-8

[{"role":"${role}"}]`);
});
