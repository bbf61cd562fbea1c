import { randomBytes } from 'node:crypto';
import { createGateway, crudSource, functionsSource, type Gateway, type GatewayOptions } from '@pgway/core';
import { pgbouncerVersion, startPgBouncer, useDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { roleByHeader } from './role-by-header.ts';

/* Privileges under a role context are those of the caller, even after the connection served a caller with more. */

const unique = randomBytes(6).toString('hex');
/** The role with all privileges. */
const member = `member_${unique}`;
/** The role that lacks one privilege per test. */
const guest = `guest_${unique}`;

const db = useDatabase(`
  create schema inner_part;
  create function inner_part.locked() returns text language sql immutable as $$ select 'inner' $$;
  create function inner_part.report() returns text language sql stable as $$ select 'report' $$;
  comment on function inner_part.report is 'HTTP GET /report';

  create function secret_sql() returns text language sql stable as $$ select 'secret' $$;
  create function secret_immutable() returns text language sql immutable as $$ select 'secret' $$;
  create function secret_plpgsql() returns text language plpgsql immutable as $$ begin return 'secret'; end $$;
  create function secret_rows(_n int) returns setof int language sql stable as 'select generate_series(1, _n)';
  comment on function secret_sql is 'HTTP GET';
  comment on function secret_immutable is 'HTTP GET';
  comment on function secret_plpgsql is 'HTTP GET';
  comment on function secret_rows is 'HTTP GET';

  create function calls_immutable() returns text language plpgsql stable as $$ begin return secret_immutable(); end $$;
  create function calls_schema() returns text language plpgsql stable as $$ begin return inner_part.locked(); end $$;
  create function calls_inlined() returns text language sql stable as $$ select secret_immutable() $$;
  comment on function calls_immutable is 'HTTP GET';
  comment on function calls_schema is 'HTTP GET';
  comment on function calls_inlined is 'HTTP GET';

  create table paper (id int primary key, title text, price int);
  insert into paper values (1, 'one', 10);
  create function prices() returns table (price int) language sql stable as 'select price from paper';
  comment on function prices is 'HTTP GET';
  comment on table paper is 'HTTP';

  create table note (owner text, body text);
  insert into note values ('${member}', 'of the member'), ('${guest}', 'of the guest');
  alter table note enable row level security;
  create policy own on note using (owner = current_user);
  create function notes() returns setof text language plpgsql stable as $$ begin return query select body from note; end $$;
  comment on function notes is 'HTTP GET';

  create function who() returns text language sql stable as 'select current_user::text';
  comment on function who is 'HTTP GET';
`);

beforeAll(async () => {
  await db.query(`
    create role ${member}; create role ${guest};
    grant usage on schema inner_part to ${member};
    revoke execute on all functions in schema public from public;
    revoke execute on all functions in schema inner_part from public;
    grant execute on all functions in schema public to ${member};
    grant execute on all functions in schema inner_part to ${member}, ${guest};
    grant execute on function calls_immutable, calls_schema, calls_inlined, prices, notes, who to ${guest};
    grant select on paper, note to ${member};
    grant select (id, title) on paper to ${guest};
    grant select on note to ${guest};`);
});
afterAll(async () => {
  await db.query(`drop owned by ${member}, ${guest}; drop role ${member}; drop role ${guest}`);
});

type Ask = (role: string | null, path: string) => Promise<string>;

async function start(options: Partial<GatewayOptions> = {}): Promise<Ask> {
  const { ask, close } = await open(options);
  onTestFinished(close);
  return ask;
}

async function open(
  options: Partial<GatewayOptions>,
): Promise<{ readonly ask: Ask; readonly close: () => Promise<void> }> {
  const gateway: Gateway = await createGateway({
    connectionString: db.connectionString,
    poolSize: 1,
    routineSources: [functionsSource(), crudSource()],
    authentication: { schemes: [roleByHeader], databaseRole: { claim: 'db_role' } },
    ...options,
  });
  const ask: Ask = async (role, path) => {
    const headers: Record<string, string> = role === null ? {} : { 'x-role': role };
    const response = (await gateway.fetch(new Request(`http://x${path}`, { headers })))!;
    const body = await response.text();
    return response.status === 200 ? body : `${response.status} ${(JSON.parse(body) as { code: string }).code}`;
  };
  return { ask, close: () => gateway.close() };
}

/** Path, and the response for the member. The guest is refused. */
const refused: readonly (readonly [what: string, path: string, answer: string])[] = [
  ['USAGE of a schema', '/report', 'report'],
  ['EXECUTE of a SQL function', '/api/secret-sql', 'secret'],
  ['EXECUTE of an immutable SQL function', '/api/secret-immutable', 'secret'],
  ['EXECUTE of an immutable PL/pgSQL function', '/api/secret-plpgsql', 'secret'],
  ['EXECUTE of a function that PostgreSQL inlines', '/api/secret-rows?n=2', '[1,2]'],
  ['EXECUTE of a function that another function calls', '/api/calls-immutable', 'secret'],
  ['EXECUTE of a function that is inlined in another function', '/api/calls-inlined', 'secret'],
  ['USAGE of a schema that a function uses', '/api/calls-schema', 'inner'],
  ['a column of a table that a function reads', '/api/prices', '[{"price":10}]'],
  ['a column of a table', '/api/paper', '[{"id":1,"title":"one","price":10}]'],
];

/** After many calls of one role PostgreSQL chooses a generic plan. */
const times = 7;

async function inTurns(ask: Ask, path: string, order: readonly string[]): Promise<readonly string[]> {
  const answers: string[] = [];
  for (const role of order) {
    const own: string[] = [];
    // The order of the calls is essential.
    for (let n = 0; n < times; n++) own.push(await ask(role, path));
    answers.push([...new Set(own)].join(' or '));
  }
  return answers;
}

describe.each(['auto', 'force_generic_plan'] as const)('plan_cache_mode %s, on one connection', (planCacheMode) => {
  // Each path has a statement of its own: what one of them leaves in the connection is not that of another.
  let memberFirst: Awaited<ReturnType<typeof open>>;
  let guestFirst: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    memberFirst = await open({ planCacheMode });
    guestFirst = await open({ planCacheMode });
  });
  afterAll(async () => {
    await memberFirst?.close();
    await guestFirst?.close();
  });

  test.each(refused)('%s', async (_, path, answer) => {
    expect(await inTurns(memberFirst.ask, path, [member, guest, member, guest])).toEqual([
      answer,
      '403 42501',
      answer,
      '403 42501',
    ]);
    expect(await inTurns(guestFirst.ask, path, [guest, member, guest])).toEqual(['403 42501', answer, '403 42501']);
  });

  test('row-level security', async () => {
    expect(await inTurns(memberFirst.ask, '/api/notes', [member, guest, member])).toEqual([
      '["of the member"]',
      '["of the guest"]',
      '["of the member"]',
    ]);
  });
});

test('concurrent calls on few connections: each has its own privileges', async () => {
  const ask = await start({ poolSize: 2, acquireTimeout: 60 });
  const asked = Array.from({ length: 200 }, async (_, n) => {
    const [, path, answer] = refused[n % refused.length]!;
    const isMember = n % 3 > 0;
    return [await ask(isMember ? member : guest, path), isMember ? answer : '403 42501'] as const;
  });
  for (const [got, wanted] of await Promise.all(asked)) expect(got).toBe(wanted);
});

test('a revoked privilege is gone with the next call', async () => {
  const ask = await start();
  for (const path of ['/api/secret-sql', '/api/secret-immutable', '/report'])
    expect(await ask(member, path)).not.toMatch(/^403/);
  await db.query(
    `revoke execute on function secret_sql, secret_immutable from ${member}; revoke usage on schema inner_part from ${member}`,
  );
  try {
    for (const path of ['/api/secret-sql', '/api/secret-immutable', '/report'])
      expect(await ask(member, path)).toBe('403 42501');
  } finally {
    await db.query(
      `grant execute on function secret_sql, secret_immutable to ${member}; grant usage on schema inner_part to ${member}`,
    );
  }
});

test('a caller without a role has the role of the connection, even if an earlier call changed the role of the session', async () => {
  await db.query(`create or replace function become(_role text) returns text language sql volatile as $$ select set_config('role', _role, false) $$;
    comment on function become is 'HTTP POST /become'; grant execute on function become to public;`);
  const [{ current_user: login }] = (await db.query('select current_user')) as [{ current_user: string }];
  // This holds even without resets.
  const gateway = await createGateway({
    connectionString: db.connectionString,
    poolSize: 1,
    connectionReset: 'never',
    authentication: { schemes: [roleByHeader], databaseRole: { claim: 'db_role' } },
  });
  onTestFinished(() => gateway.close());
  const post = {
    method: 'POST',
    body: JSON.stringify({ role: guest }),
    headers: { 'content-type': 'application/json' },
  };
  expect((await gateway.fetch(new Request('http://x/become', post)))!.status).toBe(200);
  expect(await (await gateway.fetch(new Request('http://x/api/who')))!.text()).toBe(login);
});

describe.skipIf((await pgbouncerVersion()) === null)('behind PgBouncer in transaction mode', () => {
  test('each caller has its own privileges', async () => {
    const bouncer = await startPgBouncer(db.connectionString, { mode: 'transaction', size: 1 });
    onTestFinished(() => bouncer.stop());
    const ask = await start({
      connectionString: bouncer.connectionString,
      pooler: 'transaction',
      preparedStatements: false,
    });
    for (const [what, path, answer] of refused) {
      // One server connection: the order of the calls is essential.
      expect([what, ...(await inTurns(ask, path, [member, guest, member]))]).toEqual([
        what,
        answer,
        '403 42501',
        answer,
      ]);
    }
  });
});
