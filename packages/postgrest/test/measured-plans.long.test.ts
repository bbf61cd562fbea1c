import { randomBytes } from 'node:crypto';
import { functionsSource, type GatewayOptions } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { roleByHeader } from '../../core/test/auth/role-by-header.ts';
import { modesOf, untilMode } from '../../core/test/plans/support.ts';
import { ask } from './support.ts';

/* The plans of reads are chosen by measurement. Rows have the plan mode of their call, and the tests compare no times. */

const sources: Partial<GatewayOptions> = {
  routineSources: [functionsSource(), postgrestSource()],
  commentsMode: 'parseAll',
};

/** The trials of a statement: three with `auto`, then generic plans in turn. Its first calls have no name, and no choice. */
const [firstTrial, firstGenericTrial] = [70, 79];

describe('a view whose rows take longer with auto', () => {
  const gateway = useGateway(
    `create table kind (id int primary key, name text not null);
     create table item (id int primary key, kind int not null references kind);
     insert into kind select i, 'kind ' || i from generate_series(0, 9) i;
     insert into item select i, i % 10 from generate_series(1, 100) i;
     create function plan_mode() returns text language plpgsql stable as $$
       declare
         mode text := current_setting('plan_cache_mode');
         until timestamptz := clock_timestamp() + case mode when 'auto' then interval '2 ms' else interval '0' end;
       begin
         while clock_timestamp() < until loop end loop;
         return mode;
       end $$;
     create view entry as select i.id, i.kind, current_setting('request.method') as method, (select plan_mode()) as mode from item i;`,
    sources,
  );
  const select = 'select=id,method,mode,kind(name)&order=id';

  test('reads with related rows reach the generic plan; those with an estimate have auto', async () => {
    await untilMode(gateway, 'force_generic_plan', (index) => `/rest/entry?${select}&kind=eq.${index % 10}&limit=1`);
    const path = `GET /rest/entry?${select}&kind=eq.3&limit=1`;
    const entry = '{"id":3,"method":"GET","mode":"auto","kind":{"name":"kind 3"}}';
    expect(await ask(gateway, path, { headers: { prefer: 'count=planned' } })).toMatch(
      new RegExp(`^20.\ncontent-range: 0-0/\\d+\n[^]*\n\n\\[${entry.replaceAll(/[{}]/g, '\\$&')}\\]$`),
    );
    // Other columns are another statement.
    expect((await gateway.send('GET /rest/entry?select=id,mode&id=eq.7')).body).toBe('[{"id":7,"mode":"auto"}]');
  });

  test('and so do functions that only read', async () => {
    const functions = await startGateway(
      `create function modes(n int) returns table (mode text) language plpgsql stable as $$
         declare until timestamptz := clock_timestamp() + interval '2 ms';
         begin
           while current_setting('plan_cache_mode') = 'auto' and clock_timestamp() < until loop end loop;
           return query select current_setting('plan_cache_mode');
         end $$;`,
      sources,
    );
    onTestFinished(() => functions.close());
    await untilMode(functions, 'force_generic_plan', (index) => `/rest/rpc/modes?n=${index}`);
    expect(functions.gateway.statistics().plans!.comparisons.generic).toBeGreaterThan(0);
  });
});

describe('a trial that fails', () => {
  const gateway = useGateway(
    `create table item (id int primary key);
     insert into item values (1), (2);
     create sequence visit;
     -- With a generic plan, a read takes minutes.
     create function plan_mode() returns text language plpgsql stable as $$ begin
       if current_setting('plan_cache_mode') = 'force_generic_plan' then for i in 1..2000000000 loop end loop; end if;
       return current_setting('plan_cache_mode'); end $$;
     -- With a generic plan, the connection ends after the first row.
     create function last_mode(id int) returns text language plpgsql stable as $$ begin
       if id = 2 and current_setting('plan_cache_mode') = 'force_generic_plan' then
         perform pg_terminate_backend(pg_backend_pid()); end if;
       return current_setting('plan_cache_mode'); end $$;
     create view slow as select id, plan_mode() as mode from item;
     create view ending as select id, last_mode(id) as mode from item;
     -- Computed, and not read-only although the endpoint is.
     create function visit(item) returns bigint language sql volatile as $$ select nextval('visit') $$;`,
    sources,
  );

  test('is cancelled, and the client gets the rows of auto once', async () => {
    const { comparisons } = gateway.gateway.statistics().plans!;
    const modes = await modesOf(gateway, firstGenericTrial, () => '/rest/slow?order=id');
    expect(new Set(modes)).toEqual(new Set(['auto']));
    const after = gateway.gateway.statistics().plans!.comparisons;
    expect(after).toEqual({ ...comparisons, exceeded: comparisons.exceeded + 1 });
    expect(await ask(gateway, 'GET /rest/slow?order=id')).toMatchInlineSnapshot(`
      "200
      content-range: 0-1/*
      content-type: application/json; charset=utf-8

      [{"id":1,"mode":"auto"}, 
       {"id":2,"mode":"auto"}]"
    `);
  });

  test('and so when its connection ends after its first row', async () => {
    for (let call = 0; call < firstGenericTrial + 8; call++) {
      const { status, body } = await gateway.send('GET /rest/ending?order=id');
      expect([status, body]).toEqual([200, '[{"id":1,"mode":"auto"}, \n {"id":2,"mode":"auto"}]']);
    }
  });

  test('a read that would write is refused, in trials too', async () => {
    const bodies = new Set<string>();
    for (let call = 0; call < firstGenericTrial; call++)
      bodies.add(await ask(gateway, 'GET /rest/item?select=id,visit'));
    expect([...bodies]).toMatchInlineSnapshot(`
      [
        "405
      content-type: application/json; charset=utf-8

      {"code":"25006","message":"cannot execute nextval() in a read-only transaction","details":null,"hint":null}",
      ]
    `);
  });
});

test('responses of more than 64 KiB on average are not tried', async () => {
  const gateway = await startGateway(
    `create table item (id int primary key, text text);
     insert into item select i, repeat('x', 1000) from generate_series(1, 100) i;`,
    sources,
  );
  onTestFinished(() => gateway.close());
  const tried = async (line: string): Promise<boolean> => {
    for (let call = 0; call < 5; call++) await gateway.send(line);
    const path = line.slice('GET '.length).split('?')[0];
    return gateway.gateway.statistics().plans!.endpoints.some((endpoint) => endpoint.path === path);
  };
  expect(await tried('GET /rest/item?limit=100')).toBe(false);
  for (let call = 0; call < 20; call++) await gateway.send('GET /rest/item?limit=10');
  expect(await tried('GET /rest/item?limit=10')).toBe(true);
});

test('rows of too many bytes are refused, in trials too', async () => {
  const gateway = await startGateway(
    `create table item (id int primary key);
     insert into item select generate_series(1, 100);
     create function wide(n int, size int) returns setof text language sql stable as $$ select repeat('x', size) from generate_series(1, n) $$;`,
    sources,
  );
  onTestFinished(() => gateway.close());
  const statuses = new Set<number>();
  for (let call = 0; call < firstGenericTrial; call++)
    statuses.add(
      (
        await gateway.send(
          `GET /rest/rpc/wide?n=${call < firstTrial ? 1 : 70}&size=${call < firstTrial ? 1 : 1_000_000}`,
        )
      ).status,
    );
  expect([...statuses]).toEqual([200, 400]);
});

test('callers with roles: each one sees its own rows, whatever plan was chosen', async () => {
  const roles = ['a', 'b'].map((name) => `pgway_plans_${name}_${randomBytes(4).toString('hex')}`);
  const gateway = await startGateway(
    `${roles.map((role) => `create role ${role}; grant ${role} to current_user;`).join('\n')}
     create table note (id int primary key, owner text);
     create table word (id int primary key, note int not null references note, text text);
     insert into note select i, case i % 2 when 0 then '${roles[0]}' else '${roles[1]}' end from generate_series(1, 1000) i;
     insert into word select i, i, n.owner from generate_series(1, 1000) i join note n on n.id = i;
     create index on word (note);
     analyze note, word;
     alter table note enable row level security;
     alter table word enable row level security;
     create policy own on note using (owner = current_user);
     create policy own on word using (text = current_user and current_setting('request.headers')::json ->> 'x-role' = text);
     grant select on note, word to public;`,
    { ...sources, poolSize: 2, authentication: { schemes: [roleByHeader], databaseRole: { claim: 'db_role' } } },
  );
  onTestFinished(async () => {
    await gateway.database.query(roles.map((role) => `drop owned by ${role}; drop role ${role}`).join('; '));
    await gateway.close();
  });
  // Long runs of one role keep its plans; short ones discard them.
  for (let call = 0; call < 600; call++) {
    const role = roles[Math.floor(call / (call < 400 ? 100 : 3)) % 2]!;
    const { status, body } = await gateway.send(`GET /rest/note?select=owner,word(text)&limit=${(call % 3) + 1}`, {
      headers: { 'x-role': role },
    });
    const rows = JSON.parse(body) as readonly unknown[];
    const own = Array.from({ length: (call % 3) + 1 }, () => ({ owner: role, word: [{ text: role }] }));
    expect([status, rows]).toEqual([200, own]);
  }
  const { auto, generic, undecided, exceeded } = gateway.gateway.statistics().plans!.comparisons;
  expect(auto + generic + undecided + exceeded).toBeGreaterThan(0);
});
