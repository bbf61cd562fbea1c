import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { problem, problemOf } from '../behaviour/support.ts';
import { cookieOf, hashOfSecret, ownPage } from './people.ts';

/** Routines that write, by every method that a cross-site page can use. `visits` counts the writes. */
const sql = `
  create table visit (n int);
  create function visits() returns bigint language sql stable as $$ select count(*) from visit $$;
  comment on function visits is 'HTTP GET';
  create function get_visit() returns int language sql as $$ insert into visit values (1) returning n $$;
  comment on function get_visit is 'HTTP GET';
  create function add_visit(_n int default 1) returns int language sql as $$ insert into visit values (_n) returning n $$;
  comment on function add_visit is 'HTTP POST';
  create function look_up(_n int default 1) returns int language sql stable as $$ select _n $$;
  comment on function look_up is 'HTTP POST';
  create function my_visit() returns int language sql as $$ insert into visit values (1) returning n $$;
  comment on function my_visit is 'HTTP GET
  authorize';
  create function my_visits() returns bigint language sql stable as $$ select count(*) from visit $$;
  comment on function my_visits is 'HTTP GET
  authorize';
  create function basic_visit() returns int language sql as $$ insert into visit values (1) returning n $$;
  comment on function basic_visit is 'HTTP GET
  basic_auth ada ${hashOfSecret}';
  create function told_visit(_user_id text) returns int language sql as $$ insert into visit values (1) returning n $$;
  comment on function told_visit is 'HTTP GET
  user_parameters';
  create function over(_a int) returns int language sql stable as $$ select 1 $$;
  create function over(_b text) returns int language sql as $$ insert into visit values (1) returning n $$;
  comment on function over(int) is 'HTTP GET';
  comment on function over(text) is 'HTTP GET';
  create function enter() returns table (id text) language sql as $$ select '7' $$;
  comment on function enter is 'HTTP
  login';
`;

const crossSite = { 'sec-fetch-site': 'cross-site' };
const evil = { origin: 'https://evil.example', ...crossSite };

describe('by default', () => {
  const gateway = useGateway(sql, {
    authentication: { cookie: true, allowedOrigins: ['https://app.example.org'] },
    refreshEndpointEnabled: true,
    refreshMethod: 'POST',
  });
  const visits = async (): Promise<string> => (await gateway.send('GET /api/visits')).body;
  const cookie = async (): Promise<string> => cookieOf(await gateway.send('POST /api/enter'));
  const authorization = `Basic ${Buffer.from('ada:secret').toString('base64')}`;

  test.each([
    ['GET /api/get-visit', crossSite],
    ['HEAD /api/get-visit', crossSite],
    ['POST /api/add-visit', evil],
    ['POST /api/add-visit', { ...evil, 'content-type': 'text/plain' }],
    ['POST /api/add-visit', { 'sec-fetch-site': 'same-site' }],
    ['POST /api/add-visit', { origin: 'null' }],
    ['POST /api/look-up', evil],
    ['GET /api/told-visit', crossSite],
    ['GET /api/over?b=x', crossSite],
    ['POST /api/gateway/refresh', evil],
  ])('an anonymous cross-site request is refused and writes nothing: %s %j', async (line, headers) => {
    const before = await visits();
    expect((await gateway.send(line, { headers })).status).toBe(403);
    expect(await visits()).toBe(before);
  });

  test.each([
    ['GET /api/get-visit', {}],
    ['GET /api/get-visit', { 'sec-fetch-site': 'none' }],
    ['POST /api/add-visit', {}],
    ['POST /api/add-visit', ownPage],
    ['POST /api/add-visit', { origin: 'https://app.example.org', ...crossSite }],
    ['GET /api/visits', crossSite],
  ])('an anonymous request is allowed: %s %j', async (line, headers) => {
    expect((await gateway.send(line, { headers })).status).toBe(200);
  });

  test.each([
    ['GET /api/my-visit', crossSite, 403],
    ['HEAD /api/my-visit', crossSite, 403],
    ['GET /api/my-visit', {}, 403],
    ['GET /api/my-visit', ownPage, 200],
    ['HEAD /api/my-visit', ownPage, 200],
    ['GET /api/my-visits', crossSite, 200],
  ])('with a cookie: %s %j is %d', async (line, headers, status) => {
    const before = await visits();
    const answer = await gateway.send(line, { headers: { cookie: await cookie(), ...headers } });
    const written = Number(await visits()) - Number(before);
    expect([answer.status, written]).toEqual([status, status === 200 && line.endsWith('/my-visit') ? 1 : 0]);
  });

  test.each([
    ['GET /api/basic-visit', crossSite, 403],
    ['GET /api/basic-visit', {}, 200],
  ])('with HTTP Basic: %s %j is %d', async (line, headers, status) => {
    expect((await gateway.send(line, { headers: { authorization, ...headers } })).status).toBe(status);
  });

  test('the response names the origin and the options', async () => {
    expect(problem(await gateway.send('POST /api/add-visit', { headers: evil }))).toEqual(
      problemOf(403, {
        type: 'urn:pgway:problem:cross-site-request',
        title: 'Requests from pages of other sites are not allowed',
        detail:
          'The request comes from a page of another site (origin: "https://evil.example"), and may change data. Add that origin to allowedOrigins, or set crossSiteRequests to "allow" for callers who are not signed in.',
      }),
    );
    const unmarked = await gateway.send('GET /api/my-visit', { headers: { cookie: await cookie() } });
    expect(problem(unmarked).problem['detail']).toBe(
      'The request has neither Origin nor Sec-Fetch-Site. Send one of them, or an antiforgery token.',
    );
  });
});

describe('crossSiteRequests: allow', () => {
  const gateway = useGateway(sql, { authentication: { cookie: true, crossSiteRequests: 'allow' } });

  test('anonymous requests of every page are allowed; logins and cookies stay guarded', async () => {
    const send = async (line: string, headers: Record<string, string> = {}): Promise<number> =>
      (await gateway.send(line, { headers: { ...evil, ...headers } })).status;
    const cookie = cookieOf(await gateway.send('POST /api/enter'));
    expect([await send('POST /api/add-visit'), await send('GET /api/get-visit')]).toEqual([200, 200]);
    expect([await send('POST /api/enter'), await send('GET /api/my-visit', { cookie })]).toEqual([403, 403]);
  });
});
