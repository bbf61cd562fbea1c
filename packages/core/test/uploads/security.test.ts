import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { problem, problemOf } from '../behaviour/support.ts';
import { cookieOf, ownPage } from '../auth/people.ts';
import { form, leftovers } from './forms.ts';

const gateway = useGateway(
  `
  create function login() returns table (id text, name text, roles text[]) language sql as
    $$ select '7', 'ada', array['member'] $$;
  comment on function login is 'HTTP
  login';

  create function mine(_user_id text, _meta json) returns json language sql as
    $$ select json_build_object('user', _user_id, 'files', json_array_length(_meta)) $$;
  comment on function mine is 'HTTP
  authorize member
  user_parameters
  upload _meta as metadata';

  create function open_to_all(_meta json) returns json language sql as 'select _meta';
  comment on function open_to_all is 'HTTP
  upload _meta as metadata';

  create function for_admins(_meta json) returns json language sql as 'select _meta';
  comment on function for_admins is 'HTTP
  authorize admin
  upload _meta as metadata';
`,
  { authentication: { cookie: true } },
);

const login = async (): Promise<string> => cookieOf(await gateway.send('POST /api/login'));
const evil = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };

describe('who may upload', () => {
  test.each([
    ['POST /api/mine', {}, 401],
    ['POST /api/for-admins', {}, 401],
    ['POST /api/open-to-all', evil, 403],
  ])('anonymous: %s %j is %i, and nothing is stored', async (line, headers, status) => {
    const before = await leftovers(gateway.database);
    expect((await gateway.send(line, { headers, body: form(['a', 'x']) })).status).toBe(status);
    expect(await leftovers(gateway.database)).toEqual(before);
  });

  test('with a cookie, a form of another site or of an unknown one is refused before anything is stored', async () => {
    const cookie = await login();
    const before = await leftovers(gateway.database);
    for (const headers of [{ cookie }, { cookie, ...evil }, { cookie, 'sec-fetch-site': 'same-site' }]) {
      expect((await gateway.send('POST /api/mine', { headers, body: form(['a', 'x']) })).status).toBe(403);
    }
    expect(
      (await gateway.send('POST /api/for-admins', { headers: { cookie, ...ownPage }, body: form(['a', 'x']) })).status,
    ).toBe(403);
    expect(await leftovers(gateway.database)).toEqual(before);
  });

  test('with a cookie, from a page of this site', async () => {
    const cookie = await login();
    const answer = await gateway.send('POST /api/mine', { headers: { cookie, ...ownPage }, body: form(['a', 'x']) });
    expect(answer.body).toBe('{"user" : "7", "files" : 1}');
  });
});

describe('the identity of the caller', () => {
  test('never comes from the form or the query', async () => {
    const cookie = await login();
    const before = await leftovers(gateway.database);
    const body = form(['a', 'x']);
    body.append('userId', '8');
    expect(problem(await gateway.send('POST /api/mine', { headers: { cookie, ...ownPage }, body }))).toMatchObject(
      problemOf(400),
    );
    expect(
      (await gateway.send('POST /api/mine?userId=8', { headers: { cookie, ...ownPage }, body: form(['a', 'x']) }))
        .status,
    ).toBe(400);
    expect(await leftovers(gateway.database)).toEqual(before);
  });
});
