import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { cookieOf, ownPage, people } from './people.ts';

/** Endpoints that do not depend on their caller. */
const sql = `${people}
create table visit (note text);
create function add_visit(_note text) returns text language sql as 'insert into visit values (_note) returning note';
comment on function add_visit is 'HTTP
info_path
info_scope all';
create function get_visits() returns setof text language sql stable as 'select note from visit order by 1';
comment on function get_visits is 'HTTP';
create function get_news() returns text language sql stable as $$ select 'news' $$;
comment on function get_news is 'HTTP
cached';
create function report() returns text language sql as $$ select 'report' $$;
comment on function report is 'HTTP
challenge_command = select id, name, hash from person where name = $1';`;

const refusal = (detail: string): string =>
  `{"type":"urn:pgway:problem:unauthenticated","title":"The credentials are refused","status":401,"detail":"${detail}"}`;
const noSession = refusal('The session has ended, or its cookie has expired or is not one of this server.');
const wrongPassword = refusal('The user name or the password is wrong.');
const basic = (text: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(text).toString('base64')}`,
});

describe('an endpoint that accepts anonymous callers', () => {
  const gateway = useGateway(sql, {
    batchPath: '/api/batch',
    authentication: {
      cookie: true,
      bearer: true,
      loginRateLimit: { perUser: 100, perAddress: 1000 },
      basic: { command: 'select id, name, hash from person where name = $1' },
    },
  });
  const login = async (): Promise<string> =>
    cookieOf(await gateway.send('POST /api/login', { headers: ownPage, body: { user: 'ada', password: 'secret' } }));

  const endedSession = async (): Promise<Record<string, string>> => {
    const cookie = await login();
    const { status } = await gateway.send('POST /api/logout', { headers: { ...ownPage, cookie } });
    expect(status).toBe(200);
    return { ...ownPage, cookie };
  };

  test.each<readonly [string, () => Promise<Record<string, string>>, string]>([
    ['the cookie of an ended session', endedSession, noSession],
    ['a forged cookie', async () => ({ ...ownPage, cookie: 'theme=dark; pgway=forged' }), noSession],
    [
      'a token',
      async () => ({ authorization: 'Bearer nonsense' }),
      refusal('The token is not one of this server or has expired.'),
    ],
    ['a wrong password', async () => basic('ada:wrong'), wrongPassword],
    ['half of a password', async () => ({ authorization: 'Basic !' }), refusal('The credentials are malformed.')],
  ])('refuses %s', async (_, credentials, body) => {
    const headers = await credentials();
    const lines: readonly (readonly [string, unknown?])[] = [
      ['POST /api/add-visit', { note: 'lost' }],
      ['GET /api/get-visits'],
      ['GET /api/get-news'],
      ['GET /api/add-visit/info'],
      ['POST /api/batch', [{ method: 'GET', path: '/api/get-news' }]],
    ];
    for (const [line, sent] of lines) {
      const answer = await gateway.send(line, { headers, ...(sent === undefined ? {} : { body: sent }) });
      expect([line, answer.status, answer.body.includes(body.slice(1, -1))]).toEqual([line, 401, true]);
    }
    expect(await gateway.database.query('select note from visit')).toEqual([]);
  });

  test('the response removes the cookie, and the next request is anonymous', async () => {
    const headers = await endedSession();
    const { status, body, headers: received } = await gateway.send('GET /api/get-news', { headers });
    expect([status, body, received.getSetCookie(), received.get('cache-control')]).toEqual([
      401,
      noSession,
      ['pgway=; Max-Age=0; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax'],
      'no-store',
    ]);
    expect((await gateway.send('GET /api/get-news', { headers: ownPage })).body).toBe('news');
  });

  test('a login ignores them', async () => {
    const headers = { ...(await endedSession()), authorization: 'Bearer nonsense' };
    const { status } = await gateway.send('POST /api/login', { headers, body: { user: 'ada', password: 'secret' } });
    expect(status).toBe(200);
  });

  test('valid credentials, those of other programs, and those of another scheme that are valid pass', async () => {
    const cookie = await login();
    const answers = await Promise.all(
      [
        { ...ownPage, cookie },
        { ...ownPage, cookie: 'theme=dark; mypgway=1' },
        { authorization: 'Digest username="ada"' },
        basic('ada:secret'),
        { ...ownPage, cookie, authorization: 'Bearer nonsense' },
      ].map((headers) => gateway.send('GET /api/get-news', { headers })),
    );
    expect(answers.map(({ status, body }) => [status, body])).toEqual(Array.from({ length: 5 }, () => [200, 'news']));
  });

  test('credentials of an endpoint of its own are not those of the gateway', async () => {
    const report = (text: string): Promise<readonly [number, string]> =>
      gateway
        .send('POST /api/report', { headers: { ...ownPage, ...basic(text) } })
        .then(({ status, body }) => [status, body]);
    expect([await report('ada:secret'), await report('ada:wrong')]).toEqual([
      [200, 'report'],
      [401, wrongPassword],
    ]);
  });
});

describe('without a scheme', () => {
  const gateway = useGateway(sql);

  test('cookies and headers of other programs do not matter', async () => {
    const headers = { ...ownPage, cookie: 'pgway=other', authorization: 'Bearer other' };
    expect((await gateway.send('GET /api/get-news', { headers })).body).toBe('news');
  });
});
