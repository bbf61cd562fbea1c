import { createGateway } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { cookieOf, ownPage, people } from './people.ts';

const login = { body: { user: 'ada', password: 'secret' } };

// Only the clock is fake: the gateway is in this process, and the test advances the time.
beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterAll(() => void vi.useRealTimers());

function pass(seconds: number): void {
  vi.setSystemTime(Date.now() + seconds * 1000);
}

describe('a cookie in the second half of its time', () => {
  const gateway = useGateway(
    `${people}
    create function cacheable() returns int language sql stable as $$ select 1 $$;
    comment on function cacheable is 'HTTP
    authorize
    Cache-Control: public, max-age=60';
    create function streamed() returns setof text language sql stable as $$ select repeat('x', 1000) from generate_series(1, 1000) $$;
    comment on function streamed is 'HTTP
    authorize
    Cache-Control: public';
    create function fails(_code text) returns int language plpgsql stable as $$ begin raise exception 'no' using errcode = _code; end $$;
    comment on function fails is 'HTTP
    authorize';
    create function for_all() returns int language sql stable as $$ select 1 $$;
    comment on function for_all is 'HTTP
    Cache-Control: public';
    create function hooked() returns int language sql stable as $$ select 1 $$;
    comment on function hooked is 'HTTP
    authorize';`,
    {
      authentication: { cookie: { sliding: 3600 }, antiforgeryPath: '/api/antiforgery' },
      batchPath: '/api/batch',
      commandCallback: ({ endpoint }) =>
        endpoint.name === 'hooked' ? { status: 418, headers: { 'Cache-Control': 'public' } } : undefined,
    },
  );
  const aged = async (): Promise<Record<string, string>> => {
    const cookie = cookieOf(await gateway.send('POST /api/login', login));
    pass(1800);
    return { cookie, ...ownPage };
  };

  test('any response renews the cookie, and is not cacheable', async () => {
    const headers = await aged();
    const answers = [
      ['GET /api/cacheable', 200],
      ['HEAD /api/cacheable', 200],
      ['GET /api/streamed', 200],
      ['GET /api/fails?code=P0001', 400],
      ['GET /api/fails?code=23505', 409],
      ['GET /api/fails?code=57014', 205],
      ['GET /api/fails?code=XX000', 500],
      ['GET /api/fails', 400],
      ['GET /api/hooked', 418],
      ['GET /api/antiforgery', 200],
    ] as const;
    for (const [line, status] of answers) {
      const answer = await gateway.send(line, { headers });
      const lines = answer.headers.getSetCookie().filter((one) => one.startsWith('pgway='));
      expect([line, answer.status, lines.length]).toEqual([line, status, 1]);
      expect(new Set(answer.headers.get('cache-control')!.split(', '))).toEqual(new Set(['no-store']));
      expect(lines[0]).toMatch(
        /^pgway=[\w-]+\.\.[\w.-]+; Max-Age=3600; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
      );
    }
  });

  test('a batch renews the cookie once, in its headers, which scripts cannot read', async () => {
    const item = { method: 'GET', path: '/api/cacheable' };
    const answer = await gateway.send('POST /api/batch', { headers: await aged(), body: [item, item] });
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^pgway=[^;]+; Max-Age=3600; .*HttpOnly/)]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const result = { status: 200, headers: { 'cache-control': 'no-store' }, body: '1' };
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, [result, result]]);
  });

  test('an endpoint that needs no caller renews nothing and stays cacheable', async () => {
    const answer = await gateway.send('GET /api/for-all', { headers: await aged() });
    expect([answer.headers.getSetCookie(), answer.headers.get('cache-control')]).toEqual([[], 'public']);
  });

  test('a recent cookie is not renewed; a renewed one is valid, and of the same session', async () => {
    const cookie = cookieOf(await gateway.send('POST /api/login', login));
    const young = await gateway.send('GET /api/cacheable', { headers: { cookie } });
    expect([young.status, young.headers.getSetCookie(), young.headers.get('cache-control')]).toEqual([
      200,
      [],
      'public, max-age=60',
    ]);
    const old = await aged();
    const next = cookieOf(await gateway.send('GET /api/cacheable', { headers: old }));
    expect((await gateway.send('GET /api/cacheable', { headers: { cookie: next } })).status).toBe(200);
    const left = await gateway.send('POST /api/logout', { headers: { cookie: next, ...ownPage } });
    expect([left.status, left.headers.getSetCookie().length]).toEqual([200, 1]);
    expect((await gateway.send('GET /api/cacheable', { headers: old })).status).toBe(401);
  });

  test('a login and a logout renew nothing: the response has one cookie', async () => {
    const headers = await aged();
    const answer = await gateway.send('POST /api/login', { ...login, headers });
    expect(answer.headers.getSetCookie().length).toBe(1);
  });
});

describe('keys shared by several gateways', () => {
  test('a cookie of one gateway is valid at the other, even if its key is newer than the start of the other', async () => {
    const dataProtection = {
      readCommand: 'select text from gateway_key',
      writeCommand: 'insert into gateway_key (id, text) values ($1, $2) on conflict (id) do nothing',
      secret: 'a secret of sixteen or more',
    };
    const options = { authentication: { cookie: true, dataProtection } } as const;
    const here = await startGateway(
      `${people} create table gateway_key (id text primary key, text text not null);`,
      options,
    );
    const there = await startGateway('', { ...options, connectionString: here.database.connectionString });
    const count = async (): Promise<number> => (await here.database.query('select id from gateway_key')).length;
    const status = async (cookie: string): Promise<number> =>
      (await there.send('POST /api/for-members', { headers: { cookie, ...ownPage } })).status;
    const first = cookieOf(await here.send('POST /api/login', login));
    expect([await status(first), await count()]).toEqual([200, 1]);
    // A key encrypts for 90 days; a cookie encrypted in that time stays valid until its own expiry.
    pass(91 * 86_400);
    const second = cookieOf(await here.send('POST /api/login', login));
    expect([await status(second), await status(first), (await count()) > 1]).toEqual([200, 401, true]);
    // The stored keys are useless without the secret.
    const [key] = (await here.database.query('select text from gateway_key')) as [{ text: string }];
    expect(key.text).toMatch(/^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
    await expect(
      createGateway({
        connectionString: here.database.connectionString,
        authentication: { cookie: true, dataProtection: { ...dataProtection, secret: 'another secret of sixteen' } },
      }),
    ).rejects.toThrow(/encrypted with another secret/);
    await there.close();
    await here.close();
  });
});
