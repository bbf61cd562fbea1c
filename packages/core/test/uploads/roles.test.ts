import { startGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { form } from './forms.ts';

const role = `upload_role_${process.pid}_${Date.now() % 100_000}`;

test('files are stored and the call runs under the role of the caller', async () => {
  const gateway = await startGateway(
    `create role ${role};
     grant usage on schema public to ${role};
     create function current() returns text language sql as 'select current_user::text';
     create function login() returns table (id text, role text) language sql as $$ select '7', '${role}' $$;
     comment on function login is 'HTTP
     login';
     create function store(_meta json) returns json language sql as
       $$ select json_build_object('user', current_user, 'owners',
            (select json_agg(distinct lomowner::regrole::text) from pg_largeobject_metadata)) $$;
     comment on function store is 'HTTP
     upload _meta as metadata';
     create function who() returns text language sql as 'select current_user::text';
     comment on function who is 'HTTP GET';`,
    {
      poolSize: 1,
      authentication: { cookie: true, databaseRole: { claim: 'role', anonymous: null } },
    },
  );
  try {
    const answer = await gateway.send('POST /api/login');
    const cookie = answer.headers.getSetCookie()[0]!.split(';')[0]!;
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    const stored = await gateway.send('POST /api/store', { headers, body: form(['a', 'x']) });
    expect(stored.body).toBe(`{"user" : "${role}", "owners" : ["${role}"]}`);
    const anonymous = await gateway.send('GET /api/who');
    expect(anonymous.body).not.toBe(role);
  } finally {
    await gateway.database.query(`drop owned by ${role}; drop role ${role}`);
    await gateway.close();
  }
});
