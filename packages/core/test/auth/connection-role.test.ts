import { randomBytes } from 'node:crypto';
import { createGateway, type Gateway, type GatewayOptions } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { roleByHeader } from './role-by-header.ts';

/* The role of the connection has fewer rights than that of a caller: plans of one caller must not serve another. */

const unique = randomBytes(6).toString('hex');
const member = `member_${unique}`;
const login = `login_${unique}`;

const db = useDatabase(`
  create schema inner_part;
  create function inner_part.locked() returns text language sql immutable as $$ select 'inner' $$;
  create function secret_immutable() returns text language sql immutable as $$ select 'secret' $$;
  create function calls_immutable() returns text language plpgsql stable as $$ begin return secret_immutable(); end $$;
  create function calls_schema() returns text language plpgsql stable as $$ begin return inner_part.locked(); end $$;
  create function calls_inlined() returns text language sql stable as $$ select secret_immutable() $$;
  create function open_to_all() returns text language sql stable as $$ select 'open' $$;
  create function challenge_row(_u text) returns table (id text, hash text) language sql stable as $$ select 'x', 'no hash' $$;
  comment on function calls_immutable is 'HTTP GET';
  comment on function calls_schema is 'HTTP GET';
  comment on function calls_inlined is 'HTTP GET';
  comment on function open_to_all is 'HTTP GET
basic_auth
challenge_command = select id, hash from challenge_row($1)';
`);
beforeAll(async () => {
  await db.query(`
    create role ${member}; create role ${login} login noinherit password 'x';
    grant ${member} to ${login};
    revoke execute on all functions in schema public from public;
    revoke execute on all functions in schema inner_part from public;
    grant usage on schema inner_part to ${member};
    grant execute on all functions in schema public to ${member};
    grant execute on all functions in schema inner_part to ${member}, ${login};
    grant execute on function calls_immutable, calls_schema, calls_inlined, challenge_row, open_to_all to ${login};`);
});
afterAll(async () => {
  await db.query(`drop owned by ${member}, ${login}; drop role ${member}; drop role ${login}`);
});

function connectionString(): string {
  const url = new URL(db.connectionString);
  url.username = login;
  url.password = 'x';
  return url.href;
}

async function start(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const gateway = await createGateway({
    connectionString: connectionString(),
    poolSize: 1,
    authentication: { schemes: [roleByHeader], databaseRole: { claim: 'db_role' } },
    ...options,
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

async function status(gateway: Gateway, path: string, headers: Record<string, string> = {}): Promise<number> {
  return (await gateway.fetch(new Request(`https://x${path}`, { headers })))!.status;
}

describe.each(['/api/calls-immutable', '/api/calls-schema', '/api/calls-inlined'])('%s', (path) => {
  test('a reload of the catalog between the calls', async () => {
    const gateway = await start();
    expect(await status(gateway, path, { 'x-role': member })).toBe(200);
    await gateway.refresh();
    expect(await status(gateway, path)).toBe(403);
  });

  test('a challenge command between the calls', async () => {
    const gateway = await start();
    expect(await status(gateway, path, { 'x-role': member })).toBe(200);
    const authorization = `Basic ${Buffer.from('a:b').toString('base64')}`;
    expect(await status(gateway, '/api/open-to-all', { authorization })).toBe(401);
    expect(await status(gateway, path)).toBe(403);
  });

  test('on a host-provided connection', async () => {
    const client = new pg.Client(connectionString());
    await client.connect();
    onTestFinished(() => client.end());
    const gateway = await start({ connectionProvider: () => ({ client }) });
    expect(await status(gateway, path)).toBe(403);
    expect(await status(gateway, path, { 'x-role': member })).toBe(200);
    expect(await status(gateway, path)).toBe(403);
  });
});
