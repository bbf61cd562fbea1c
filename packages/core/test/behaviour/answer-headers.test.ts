import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { people } from '../events/people.ts';
import { openStream } from '../events/support.ts';
import { sendRaw } from './support.ts';

const sql = `
  create function one() returns int language sql stable as $$ select 1 $$;
  comment on function one is 'HTTP GET';
  create function many() returns setof int language sql stable as $$ select generate_series(1, 100000) $$;
  comment on function many is 'HTTP GET';
  create function nothing() returns void language sql as $$ $$;
  comment on function nothing is 'HTTP POST
  info_path
  info_scope all';
  create function fails() returns int language sql stable as $$ select 1 / 0 $$;
  comment on function fails is 'HTTP GET';
  create function of_author() returns text language sql stable as $$ select '<b>' $$;
  comment on function of_author is 'HTTP GET
  X-Content-Type-Options: sniff
  Cache-Control: max-age=60';
  create function mine(_user_id text) returns text language sql stable as $$ select _user_id $$;
  comment on function mine is 'HTTP GET
  user_parameters';
  create function members_only() returns setof int language sql stable as $$ select 1 $$;
  comment on function members_only is 'HTTP GET
  authorize';
  create function members_fail() returns int language sql stable as $$ select 1 / 0 $$;
  comment on function members_fail is 'HTTP GET
  authorize';
  create function members_author() returns int language sql stable as $$ select 1 $$;
  comment on function members_author is 'HTTP GET
  authorize
  Cache-Control: max-age=60';
  create function members_cached() returns int language sql stable as $$ select 1 $$;
  comment on function members_cached is 'HTTP GET
  authorize
  cached
  cache_expires_in 5 min';
  create function cached_for_all() returns int language sql stable as $$ select 1 $$;
  comment on function cached_for_all is 'HTTP GET
  cached';
  create function leave() returns void language sql as $$ $$;
  comment on function leave is 'HTTP GET
  logout';
`;

const gateway = useGateway(sql, {
  authentication: { schemes: [people().scheme], bearer: true },
  refreshEndpointEnabled: true,
  refreshMethod: 'POST',
});

describe('X-Content-Type-Options: nosniff, once', () => {
  test.each([
    ['GET', '/api/one', 200],
    ['HEAD', '/api/one', 200],
    ['OPTIONS', '/api/one', 204],
    ['PUT', '/api/one', 405],
    ['GET', '/api/many', 200],
    ['POST', '/api/nothing', 204],
    ['GET', '/api/fails', 400],
    ['GET', '/api/one?x=1', 400],
    ['GET', '/api/members-only', 401],
    ['GET', '/api/of-author', 200],
    ['GET', '/nowhere', 404],
    ['POST', '/api/gateway/refresh', 204],
    ['POST', '/api/auth/refresh', 415],
  ])('%s %s', async (method, path, status) => {
    const answer = await sendRaw(gateway.url, { method, path });
    const values = answer.rawHeaders.filter(
      (_, at) => answer.rawHeaders[at - 1]?.toLowerCase() === 'x-content-type-options',
    );
    expect([answer.status, values]).toEqual([status, ['nosniff']]);
  });

  test('a stream of events', async () => {
    const stream = await openStream(gateway.url, '/api/nothing/info');
    expect(stream.headers['x-content-type-options']).toBe('nosniff');
  });

  test.each(['/api/one', '/api/many', '/api/fails', '/api/of-author'])('by fetch: %s', async (path) => {
    const answer = await gateway.gateway.fetch(new Request(`http://host.example${path}`));
    expect(answer!.headers.get('x-content-type-options')).toBe('nosniff');
    await answer!.body?.cancel();
  });
});

describe('Cache-Control', () => {
  test.each([
    ['/api/members-only', 200, 'private'],
    ['/api/mine', 200, 'private'],
    ['/api/members-fail', 400, 'private'],
    ['/api/members-only?x=1', 400, 'private'],
    ['/api/leave', 200, 'private'],
    ['/api/members-author', 200, 'max-age=60'],
    ['/api/members-cached', 200, 'private, no-cache'],
    ['/api/cached-for-all', 200, 'public, no-cache'],
    ['/api/one', 200, null],
  ])('to a signed-in caller: %s', async (path, status, expected) => {
    const answer = await gateway.send(`GET ${path}`, { headers: { 'x-user': 'ada' } });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([status, expected]);
  });

  test('a personal answer that is kept has an entity tag, and 304 says the same of caches', async () => {
    const headers = { 'x-user': 'ada' };
    const etag = (await gateway.send('GET /api/members-cached', { headers })).headers.get('etag')!;
    const again = await gateway.send('GET /api/members-cached', { headers: { ...headers, 'if-none-match': etag } });
    expect([again.status, again.headers.get('cache-control')]).toEqual([304, 'private, no-cache']);
  });

  test.each(['/api/one', '/api/mine', '/api/fails'])('to an anonymous caller nothing is said: %s', async (path) => {
    expect((await gateway.send(`GET ${path}`)).headers.get('cache-control')).toBe(null);
  });
});
