import { installIdempotency } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { type OpenStream, openStream } from '../events/support.ts';

const secret = 'a secret of at least 32 bytes, really';
const [first, second] = ['https://first.example', 'https://second.example'];

/** The `Authorization` of a user of an issuer. */
async function as(name: string, issuer: string): Promise<{ readonly authorization: string }> {
  const token = await new SignJWT({ name })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(issuer)
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(secret));
  return { authorization: `Bearer ${token}` };
}

const sql = `
${installIdempotency({ schema: 'pgway', roles: ['public'] }).join(';\n')};
create function pay(_user_claims json default null) returns text language sql volatile as $$
  select (_user_claims ->> 'name') || ' of ' || (_user_claims ->> 'issuer')
$$;
comment on function pay is 'HTTP POST
authorize
user_parameters
idempotent';
create function limited() returns text language sql stable as $$ select 'hello' $$;
comment on function limited is 'HTTP GET
authorize
rate_limit personal';
create function tell(_text text, _hint text) returns void language plpgsql as $$
begin raise info '%', _text using hint = _hint; end $$;
comment on function tell is 'HTTP POST
info_path
info_scope authorize';`;

const options = {
  batchPath: '/api/batch',
  rateLimits: { policies: { personal: { type: 'fixed-window', limit: 1, window: 3600, partitionBy: 'user' } } },
  authentication: {
    jwt: { keys: [{ secret }], issuer: [first, second], audience: null, claims: { issuer: 'iss' } },
  },
} as const;

describe('users of one name and two issuers are two users', () => {
  const gateway = useGateway(sql, options);

  test('a key of one of them does not return the stored response of the other; `iss` can be a claim', async () => {
    const pay = async (issuer: string): Promise<unknown> => {
      const headers = { ...(await as('alice', issuer)), 'idempotency-key': 'k1' };
      const answer = await gateway.send('POST /api/pay', { headers });
      return [answer.status, answer.body, answer.headers.get('idempotent-replayed')];
    };
    expect([await pay(first), await pay(second), await pay(first)]).toEqual([
      [200, `alice of ${first}`, null],
      [200, `alice of ${second}`, null],
      [200, `alice of ${first}`, 'true'],
    ]);
  });

  test('nor a key of a batch', async () => {
    const pay = async (issuer: string): Promise<unknown> => {
      const headers = { ...(await as('alice', issuer)), 'idempotency-key': 'k2' };
      const { body } = await gateway.send('POST /api/batch', {
        headers,
        body: [{ method: 'POST', path: '/api/pay' }],
      });
      return body.includes(`alice of ${issuer}`);
    };
    expect([await pay(first), await pay(second)]).toEqual([true, true]);
  });

  test('each has a rate limit', async () => {
    const call = async (issuer: string): Promise<number> =>
      (await gateway.send('GET /api/limited', { headers: await as('alice', issuer) })).status;
    expect([await call(first), await call(first), await call(second), await call(second)]).toEqual([
      200, 429, 200, 429,
    ]);
  });

  test('events for a user reach that of the first issuer, or of the issuer that the hint names', async () => {
    const open = async (issuer: string): Promise<OpenStream> =>
      openStream(gateway.url, '/api/tell/info', await as('alice', issuer));
    const streams = [await open(first), await open(second)];
    const headers = await as('bob', second);
    const tell = async (text: string, hint: string): Promise<void> => {
      const { status } = await gateway.send('POST /api/tell', { headers, body: { text, hint } });
      expect(status).toBe(204);
    };
    await tell('to the first', 'authorize user:alice');
    await tell('to the second', `authorize user:alice issuer:${second}`);
    await tell('to both', `authorize user:alice issuer:${first} issuer:${second}`);
    await tell('to no user', 'authorize user:alice issuer:https://third.example');
    await tell('last', 'all');
    const received = await Promise.all(streams.map((stream) => stream.messages(3)));
    expect(received).toEqual([
      ['to the first', 'to both', 'last'],
      ['to the second', 'to both', 'last'],
    ]);
  });
});
