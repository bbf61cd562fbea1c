import { request } from 'node:http';
import {
  pgbouncerVersion,
  startGateway,
  startPgBouncer,
  type TestGateway,
  useDatabase,
  useGateway,
} from '@pgway/testing';
import { createGateway } from '@pgway/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { roleByHeader } from '../auth/role-by-header.ts';
import { tables } from '../crud/support.ts';
import { skipTime } from '../database/support.ts';
import { count, modesOf, untilMode } from './support.ts';

/** Rows have the plan mode of their call: the tests count modes, and compare no times. */
const sql = `
  create table item (id int primary key, kind text not null, payload text) with (autovacuum_enabled = false);
  insert into item select i, case when i % 100 = 0 then 'rare ' || i else 'common' end, 'payload ' || i
    from generate_series(1, 500000) i;
  create index on item (kind);
  analyze item;
  create function items(_limit int) returns table (id int, payload text, mode text) language sql stable as $$
    select i.id, i.payload, current_setting('plan_cache_mode') from item i order by i.id limit _limit $$;
  comment on function items is 'HTTP GET';
  create function search(_kind text default null) returns table (id int, mode text) language sql stable as $$
    select i.id, current_setting('plan_cache_mode') from item i where (_kind is null or i.kind = _kind) $$;
  comment on function search is 'HTTP GET';
`;

describe('half a million rows, most of one kind', () => {
  const gateway = useGateway(sql);

  test('items(_limit) reaches the generic plan, for all calls but those of trials', async () => {
    const path = (index: number): string => `/api/items?limit=${(index % 3) + 1}`;
    // At most an eighth of the calls are trials with auto. On a busy machine, slow calls may be followed by a pause with auto.
    const genericCalls = async (): Promise<number> => {
      const calls = count(await modesOf(gateway, 400, path), 'force_generic_plan');
      if (calls < 300) skipTime(3_600_000);
      return calls;
    };
    await expect.poll(genericCalls, { timeout: 100_000, interval: 10 }).toBeGreaterThanOrEqual(300);
    expect(gateway.gateway.statistics().plans!.comparisons.generic).toBeGreaterThan(0);
  });

  test('a search whose values decide the plan runs with auto, besides a few trials, which are cancelled', async () => {
    const before = gateway.gateway.statistics().plans!.comparisons;
    const modes = await modesOf(gateway, 1_500, (index) => `/api/search?kind=rare%20${((index % 5_000) + 1) * 100}`);
    const { exceeded, generic, auto } = gateway.gateway.statistics().plans!.comparisons;
    // A trial that ends before its limit counts as one of its connection, or as one of the comparison. On a busy machine, all of them may.
    expect(count(modes, 'force_generic_plan')).toBeLessThanOrEqual(40);
    expect(count(modes, 'auto')).toBeGreaterThan(1_450);
    expect([generic, exceeded + auto > before.exceeded + before.auto]).toEqual([before.generic, true]);
  });
});

test('arguments that are cheap in trials and expensive afterwards: one call brings auto back', async () => {
  // The times of both modes are those of a loop: planning costs 2 ms, and a large argument a second with a generic plan.
  const gateway = await startGateway(`
    create function attacked(_n int) returns table (mode text) language plpgsql stable as $$
      declare
        mode text := current_setting('plan_cache_mode');
        milliseconds int := case when mode = 'auto' then 2 when _n > 1 then 1000 else 0 end;
        until timestamptz := clock_timestamp() + milliseconds * interval '1 ms';
      begin
        while clock_timestamp() < until loop end loop;
        return query select mode;
      end $$;
    comment on function attacked is 'HTTP GET';`);
  onTestFinished(() => gateway.close());
  await untilMode(gateway, 'force_generic_plan', () => '/api/attacked?n=1');
  const { fallbacks } = gateway.gateway.statistics().plans!;
  // Six calls at once, and then one after the other: those that run learn of it after at most two checks.
  const modes = await Promise.all(Array.from({ length: 6 }, () => modesOf(gateway, 3, () => '/api/attacked?n=2')));
  expect(count(modes.flat(), 'force_generic_plan')).toBeLessThanOrEqual(6);
  expect(modes.every(([, ...later]) => later.every((mode) => mode === 'auto'))).toBe(true);
  expect(gateway.gateway.statistics().plans!.fallbacks).toBe(fallbacks + 1);
});

test('reads of a view reach the generic plan too, those with a count and those of other columns for themselves', async () => {
  // A call with auto takes 2 ms longer.
  const gateway = await startGateway(
    `create table item (id int primary key, kind int);
     insert into item select i, i % 10 from generate_series(1, 100) i;
     create function plan_mode() returns text language plpgsql stable as $$
       declare
         mode text := current_setting('plan_cache_mode');
         until timestamptz := clock_timestamp() + case mode when 'auto' then interval '2 ms' else interval '0' end;
       begin
         while clock_timestamp() < until loop end loop;
         return mode;
       end $$;
     create view entry as select id, kind, (select plan_mode()) as mode from item;`,
    tables({ listing: true }),
  );
  onTestFinished(() => gateway.close());
  await untilMode(gateway, 'force_generic_plan', (index) => `/api/entry?kind=${index % 10}&limit=1`);
  const { headers, body } = await gateway.send('GET /api/entry?kind=3&limit=1', { headers: { prefer: 'count=exact' } });
  expect([headers.get('x-total-count'), body]).toEqual(['10', '[{"id":3,"kind":3,"mode":"auto"}]']);
  expect((await gateway.send('GET /api/entry?id=7')).body).toBe('[{"id":7,"kind":7,"mode":"auto"}]');
});

test('a table that grows a thousandfold while it serves: auto comes back, and with new estimates the generic plan', async () => {
  const gateway = await startGateway(`
    create table item (id int primary key, kind int);
    insert into item select i, i % 100 from generate_series(1, 20000) i;
    create table label (kind int primary key, label text) with (autovacuum_enabled = false);
    insert into label select i, 'label ' || i from generate_series(0, 99) i;
    analyze item, label;
    create function items(_limit int) returns table (id int, label text, mode text) language sql stable as $$
      select i.id, (select l.label from label l where l.kind = i.kind), current_setting('plan_cache_mode')
      from item i order by i.id limit _limit $$;
    comment on function items is 'HTTP GET';`);
  onTestFinished(() => gateway.close());
  const path = (index: number): string => `/api/items?limit=${(index % 3) + 1}`;
  await untilMode(gateway, 'force_generic_plan', path);
  // The generic plan still reads the whole table for each row; a plan for the call sees its size. On a busy machine, all calls are
  // slow: the table grows until its scan takes longer than that.
  let labels = 100;
  let modes: readonly string[];
  do {
    const more = Math.max(100_000, 2 * labels);
    await gateway.database.query(
      `insert into label select i, 'label ' || i from generate_series(${labels}, ${more - 1}) i`,
    );
    labels = more;
    modes = await modesOf(gateway, 40, () => '/api/items?limit=3');
  } while (modes.slice(-3).some((mode) => mode !== 'auto'));
  await gateway.database.query('analyze label');
  skipTime(3_600_000);
  await untilMode(gateway, 'force_generic_plan', path);
  const { status, body } = await gateway.send('GET /api/items?limit=2');
  expect([status, JSON.parse(body)]).toMatchObject([200, [{ label: 'label 1' }, { label: 'label 2' }]]);
});

test('a client that leaves during a trial: the next trial follows, and the connections stay usable', async () => {
  // Calls take 15 ms, so that a trial has a limit of at least 60 ms. In a trial the call says so, and does not end.
  const gateway = await startGateway(`
    create function waits() returns table (mode text) language plpgsql stable as $$
      declare until timestamptz := clock_timestamp() + interval '15 ms';
      begin
        if current_setting('plan_cache_mode') = 'force_generic_plan' then
          raise notice 'a trial';
          until := until + interval '1 minute';
        end if;
        while clock_timestamp() < until loop end loop;
        return query select current_setting('plan_cache_mode');
      end $$;
    comment on function waits is 'HTTP GET';`);
  onTestFinished(() => gateway.close());
  const notices = (): number => gateway.observations.filter(({ kind }) => kind === 'notice').length;
  for (let call = 0; notices() === 0 && call < 200; call++) await callUntilNotice(gateway, notices);
  expect(notices()).toBe(1);
  const modes = await modesOf(gateway, 40, () => '/api/waits');
  expect(new Set(modes)).toEqual(new Set(['auto']));
  // The next trial follows at once, and has the limit; on a slow machine, another one follows its pause of a second.
  expect(gateway.gateway.statistics().plans!.comparisons.exceeded).toBeLessThanOrEqual(2);
});

/** Calls the function; leaves as soon as the call has raised a notice. */
function callUntilNotice({ url }: TestGateway, notices: () => number): Promise<void> {
  return new Promise((resolve) => {
    const call = request(`${url}/api/waits`, (response) => response.resume().on('end', () => resolve()));
    const timer = setInterval(() => {
      if (notices() > 0) call.destroy();
    }, 5);
    call
      .on('error', () => undefined)
      .on('close', () => {
        clearInterval(timer);
        resolve();
      });
    call.end();
  });
}

test('callers with roles: each one sees its own rows, whatever plan was chosen', async () => {
  const roles = ['pgway_plans_ann', 'pgway_plans_bob'] as const;
  const gateway = await startGateway(
    `${roles.map((role) => `create role ${role}; grant ${role} to current_user;`).join('\n')}
    create table note (id int primary key, owner text);
    insert into note select i, case i % 2 when 0 then '${roles[0]}' else '${roles[1]}' end from generate_series(1, 1000) i;
    analyze note;
    alter table note enable row level security;
    create policy own on note using (owner = current_user);
    grant select on note to public;
    create function notes(_limit int) returns table (id int, owner text, who text, mode text) language sql stable as $$
      select n.id, n.owner, current_user::text, current_setting('plan_cache_mode') from note n order by n.id limit _limit $$;
    comment on function notes is 'HTTP GET';`,
    { poolSize: 2, authentication: { schemes: [roleByHeader], databaseRole: { claim: 'db_role' } } },
  );
  onTestFinished(async () => {
    await gateway.database.query(roles.map((role) => `drop owned by ${role}; drop role ${role}`).join('; '));
    await gateway.close();
  });
  // Long runs of one role keep its plans; short ones discard them.
  for (let call = 0; call < 900; call++) {
    const role = roles[Math.floor(call / (call < 600 ? 100 : 3)) % 2]!;
    const { status, body } = await gateway.send(`GET /api/notes?limit=${(call % 3) + 1}`, {
      headers: { 'x-role': role },
    });
    const rows = JSON.parse(body) as readonly { readonly owner: string; readonly who: string }[];
    const foreign = rows.filter(({ owner, who }) => owner !== role || who !== role);
    expect([status, rows.length, foreign]).toEqual([200, (call % 3) + 1, []]);
  }
  const { auto, generic, undecided, exceeded } = gateway.gateway.statistics().plans!.comparisons;
  expect(auto + generic + undecided + exceeded).toBeGreaterThan(0);
});

const pgbouncer = await pgbouncerVersion();
if (pgbouncer === null) console.warn('SKIPPED: there is no PgBouncer on this machine (apt-get install pgbouncer)');

describe.skipIf(pgbouncer === null)('behind PgBouncer', () => {
  const database = useDatabase(`
    create table item (id int primary key);
    insert into item select i from generate_series(1, 1000) i;
    analyze item;
    create function items(_limit int) returns table (id int, mode text) language sql stable as $$
      select i.id, current_setting('plan_cache_mode') from item i order by i.id limit _limit $$;
    comment on function items is 'HTTP GET'`);

  test('in transaction mode, every call has auto', async () => {
    const bouncer = await startPgBouncer(database.connectionString, { mode: 'transaction', size: 2 });
    const gateway = await createGateway({ connectionString: bouncer.connectionString, pooler: 'transaction' });
    onTestFinished(async () => {
      await gateway.close();
      await bouncer.stop();
    });
    const send = async (line: string): Promise<{ status: number; body: string }> => {
      const response = await gateway.fetch(new Request(`http://localhost${line.slice('GET '.length)}`));
      return { status: response!.status, body: await response!.text() };
    };
    const modes = await modesOf({ send: send as TestGateway['send'] }, 400, () => '/api/items?limit=1');
    expect([count(modes, 'auto'), gateway.statistics().plans]).toEqual([400, undefined]);
  });
});

/** Rows with the plan mode of their call. */
const modesSql = `
  create function modes(_n int default 1) returns table (n int, mode text) language sql stable as $$
    select i, current_setting('plan_cache_mode') from generate_series(1, _n) i $$;
  comment on function modes is 'HTTP GET';
  create function volatile_modes() returns table (mode text) language sql volatile as $$
    select current_setting('plan_cache_mode') $$;
  comment on function volatile_modes is 'HTTP GET';
  create function chosen_modes() returns table (mode text) language sql stable as $$
    select current_setting('plan_cache_mode') $$;
  comment on function chosen_modes is 'HTTP GET
    plan_cache_mode force_custom_plan';
  create function short_modes() returns table (mode text) language sql stable as $$
    select current_setting('plan_cache_mode') $$;
  comment on function short_modes is 'HTTP GET
    timeout 1s';
  create function resetting_modes() returns table (mode text) language plpgsql stable as $$ begin
    perform set_config('plan_cache_mode', 'force_custom_plan', false);
    return query select current_setting('plan_cache_mode'); end $$;
  comment on function resetting_modes is 'HTTP GET';
`;

/** The first trial with a generic plan is the 77th call. */
const callsWithTrials = 88;

test('volatile routines, routines with a mode of their own, that change their session or have a short timeout are not tried', async () => {
  const gateway = await startGateway(modesSql);
  onTestFinished(() => gateway.close());
  const paths = ['volatile', 'chosen', 'short', 'resetting'].map((name) => `/api/${name}-modes`);
  const modes = [];
  for (const path of paths) modes.push(new Set(await modesOf(gateway, callsWithTrials, () => path)));
  const own = new Set(['force_custom_plan']);
  expect(modes).toEqual([new Set(['auto']), own, new Set(['auto']), own]);
  expect(gateway.gateway.statistics().plans!.endpoints).toEqual([]);
});

test.each([
  ['behind a pooler', { pooler: 'transaction' }],
  ['without prepared statements', { preparedStatements: false }],
  ['with planCacheMode auto', { planCacheMode: 'auto' }],
] as const)('%s plans are not chosen', async (_, options) => {
  const other = await startGateway(modesSql, options);
  onTestFinished(() => other.close());
  const modes = await modesOf(other, callsWithTrials, () => '/api/modes');
  expect([new Set(modes), other.gateway.statistics().plans]).toEqual([new Set(['auto']), undefined]);
});

test('connections that are reset after every call keep auto', async () => {
  const other = await startGateway(modesSql, { connectionReset: 'always' });
  onTestFinished(() => other.close());
  const modes = await modesOf(other, callsWithTrials, () => '/api/modes');
  expect(new Set(modes)).toEqual(new Set(['auto']));
  expect(other.gateway.statistics().plans!.endpoints).toEqual([]);
});

test('a database with Citus keeps auto', async () => {
  // Only a superuser can create its table of distributed tables.
  const other = await startGateway(`${modesSql}
    insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
      values (999999, 'citus', 10, 11, false, '13.0-1');
    set allow_system_table_mods = on;
    create table pg_catalog.pg_dist_partition (logicalrelid regclass primary key, partmethod "char");
    reset allow_system_table_mods;`);
  onTestFinished(() => other.close());
  const modes = await modesOf(other, callsWithTrials, () => '/api/modes');
  expect(new Set(modes)).toEqual(new Set(['auto']));
  expect(other.gateway.statistics().plans!.endpoints).toEqual([]);
});
