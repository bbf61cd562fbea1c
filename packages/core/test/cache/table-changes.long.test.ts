import { type Cache, memoryCache } from '@pgway/core';
import { holdLock, startGateway, useGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';

const gateway = useGateway(
  `
  create table film (id integer primary key, title text);
  create table parted (id integer primary key) partition by range (id);
  create table parted_1 partition of parted for values from (0) to (10);
  create table base (id integer primary key);
  create table heir (primary key (id)) inherits (base);
  create schema shop;
  create table shop.other (id integer primary key);
  create sequence calls;
  create function count_rows() returns text language sql as
    $$ select (select count(*) from film) || ' ' || (select count(*) from parted) || ' ' || (select count(*) from base) || ' #' || nextval('calls') $$;
  comment on function count_rows() is 'HTTP GET
    cached until changes of film, public.parted, base';
  create function slow_count() returns text language sql as
    $$ select (select count(*) from film) || ' #' || nextval('calls') from pg_advisory_xact_lock_shared(1) $$;
  comment on function slow_count() is 'HTTP GET
    cache_expires_in 5 min
    cached until changes of film';
  create function by_length(length int) returns text language sql as $$ select length || '#' || nextval('calls') $$;
  comment on function by_length is 'HTTP GET
    cached length until changes of shop.other';
  create publication pgway_changes for table film, parted, base, heir, shop.other with (publish_via_partition_root = true);
  `,
  { changes: { window: 0 } },
);

async function get(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  url: string = gateway.url,
): Promise<string> {
  const response = await fetch(url + path, { headers });
  return response.status === 200 ? response.text() : String(response.status);
}

/** Waits until responses come from the cache. Returns the cached one. */
async function cachedResponse(path: string, url?: string): Promise<string> {
  let last = '';
  const isCached = async (): Promise<boolean> => {
    const [first, second] = [await get(path, {}, url), await get(path, {}, url)];
    last = second;
    return first === second;
  };
  await expect.poll(isCached, { timeout: 20_000 }).toBe(true);
  return last;
}

describe('cached until changes of tables', () => {
  test.each([
    ['an insert', `insert into film values (1, 'One')`, '1 0 0'],
    ['an update', `update film set title = 'Uno'`, '1 0 0'],
    ['a delete', 'delete from film', '0 0 0'],
    ['a truncation', `insert into film values (1, 'One'); truncate film`, '0 0 0'],
    ['a row of a partition', 'insert into parted values (1)', '0 1 0'],
    ['a partition that is truncated', 'truncate parted_1', '0 0 0'],
    ['another partition', 'create table parted_2 partition of parted for values from (10) to (20)', '0 0 0'],
    ['a row of an inheriting table', 'insert into heir values (1)', '0 0 1'],
    ['another type', 'alter table film alter title type varchar(10)', '0 0 1'],
    ['a new column', `alter table film add column note text default 'x'`, '0 0 1'],
    ['another name of a column', 'alter table film rename column note to remark', '0 0 1'],
  ])('%s invalidates the response', async (_, sql, counts) => {
    const before = await cachedResponse('/api/count-rows');
    const length = await cachedResponse('/api/by-length?length=1');

    await gateway.database.query(sql);

    await expect.poll(() => get('/api/count-rows')).not.toBe(before);
    expect(await cachedResponse('/api/count-rows')).toMatch(new RegExp(`^${counts} #`));
    expect(await get('/api/by-length?length=1')).toBe(length);
  });

  test('a table whose changes the log does not have is an error with the remedy, and its responses are not cached', async () => {
    await gateway.database.query(`
      create unlogged table fast (id integer primary key);
      create view seen as select 1 as id;
      create table ancestor (id integer primary key);
      create table descendant () inherits (ancestor);
      create table keyless (id integer);
      alter publication pgway_changes add table only ancestor, keyless;
      create function faulty() returns text language sql as $$ select '#' || nextval('calls') $$;
      comment on function faulty() is 'HTTP GET
        cached until changes of fast, seen, missing';
      create function unpublished() returns text language sql as $$ select '#' || nextval('calls') $$;
      comment on function unpublished() is 'HTTP GET
        cached until changes of ancestor';
      create function refusing() returns text language sql as $$ select '#' || nextval('calls') $$;
      comment on function refusing() is 'HTTP GET
        cached until changes of keyless';`);
    await gateway.gateway.refresh();

    const errors = gateway.gateway.diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ routine, message }) => `${routine} ${message}`)).toEqual([
      'public.faulty() cached: public.fast is unlogged, so that PostgreSQL does not log its changes; run: alter table public.fast set logged. Until then, responses are not cached',
      'public.faulty() cached: public.seen is a view, whose changes PostgreSQL does not log; name the table that has the rows; then run: pgway install changes. Until then, responses are not cached',
      'public.faulty() cached: there is no table public.missing; then run: pgway install changes. Until then, responses are not cached',
      'public.refusing() cached: public.keyless has no replica identity; once it is published, PostgreSQL refuses every UPDATE and DELETE of it (55000); run: alter table public.keyless add primary key (<columns>)',
      'public.unpublished() cached: the publication pgway_changes does not have the table public.descendant; run: pgway install changes public.descendant. Until then, responses are not cached',
    ]);
    await cachedResponse('/api/by-length?length=1');
    expect(await get('/api/faulty')).not.toBe(await get('/api/faulty'));
    expect(await get('/api/unpublished')).not.toBe(await get('/api/unpublished'));
    const refusing = await cachedResponse('/api/refusing');
    await gateway.database.query('insert into keyless values (1)');
    await expect.poll(() => get('/api/refusing')).not.toBe(refusing);
    await gateway.database.query(
      'drop function faulty; drop function unpublished; drop function refusing; drop table ancestor cascade; drop table keyless',
    );
    await gateway.gateway.refresh();
  });

  test('what is rolled back, and changes of other tables, invalidate nothing', async () => {
    const before = await cachedResponse('/api/count-rows');

    await gateway.database.query('begin; delete from base; rollback');
    const other = await cachedResponse('/api/by-length?length=1');
    await gateway.database.query('insert into shop.other values (1)');

    // The change of the other table has arrived after the one that was rolled back.
    await expect.poll(() => get('/api/by-length?length=1')).not.toBe(other);
    expect(await get('/api/count-rows')).toBe(before);
  });

  test('a response of a call that began before the change is not stored', async () => {
    await cachedResponse('/api/slow-count');
    const count = await cachedResponse('/api/count-rows');
    await gateway.database.query(`insert into film values (7, 'Seven')`);
    await expect.poll(() => get('/api/count-rows')).not.toBe(count);
    const lock = await holdLock(gateway.database.connectionString, 1);
    const counted = await cachedResponse('/api/count-rows');
    const slow = get('/api/slow-count');
    await expect.poll(() => lock.waiting()).toBe(1);
    await gateway.database.query('delete from film');
    await expect.poll(() => get('/api/count-rows')).not.toBe(counted);
    await lock.release();

    expect(await slow).toMatch(/^1 #/);
    expect(await cachedResponse('/api/slow-count')).toMatch(/^0 #/);
  });

  test('clients ask each time, and get 304 while nothing has changed', async () => {
    await cachedResponse('/api/slow-count');
    const response = await fetch(`${gateway.url}/api/slow-count`);
    const etag = response.headers.get('etag')!;
    expect([response.headers.get('cache-control'), etag]).toEqual(['public, no-cache', expect.stringMatching(/^"/)]);
    expect(await get('/api/slow-count', { 'if-none-match': etag })).toBe('304');

    await gateway.database.query(`insert into film values (8, 'Eight')`);

    await expect.poll(() => get('/api/slow-count', { 'if-none-match': etag })).not.toBe('304');
    await gateway.database.query('delete from film');
  });

  test('a table that another one replaces is read again by its name', async () => {
    await gateway.database.query(`
      create table film_next (id integer primary key, title text);
      insert into film_next values (1, 'One'), (2, 'Two');
      alter publication pgway_changes add table film_next`);
    // Changes of other tests are reported before this one.
    const first = await cachedResponse('/api/count-rows');
    await gateway.database.query(`insert into film values (9, 'Nine')`);
    await expect.poll(() => get('/api/count-rows')).not.toBe(first);
    const before = await cachedResponse('/api/count-rows');
    expect(before).toMatch(/^1 0 1 #/);
    await gateway.database.query(
      'begin; alter table film rename to film_old; alter table film_next rename to film; commit',
    );

    await expect.poll(() => get('/api/count-rows')).not.toBe(before);
    const swapped = await cachedResponse('/api/count-rows');
    expect(swapped).toMatch(/^2 0 1 #/);
    await gateway.database.query('delete from film');
    await expect.poll(() => get('/api/count-rows')).not.toBe(swapped);
    expect(await cachedResponse('/api/count-rows')).toMatch(/^0 0 1 #/);
  });

  test('a change during a refresh invalidates the response of an endpoint that the refresh adds', async () => {
    const memory = memoryCache({ maxEntries: 100, maxSize: 1_000_000, pruneInterval: 60_000 });
    const invalidations: unknown[] = [];
    let held: Promise<void> | null = null;
    const cache: Cache = {
      get: (key) => memory.get(key),
      set: (key, response, how) => memory.set(key, response, how),
      invalidate: async (routines, scope) => {
        await memory.invalidate(routines);
        invalidations.push([routines, scope]);
        if (scope === undefined) await held;
      },
      close: () => memory.close(),
    };
    const added = (name: string): string => `
      create function ${name}() returns text language sql as $$ select (select count(*) from film) || ' #' || nextval('calls') $$;
      comment on function ${name}() is 'HTTP GET
        cached until changes of film';`;
    const own = await startGateway(
      `create table film (id integer primary key); create sequence calls; create publication pgway_changes for table film;
      ${added('known')}`,
      { changes: { window: 0 }, defaultRoutineCache: cache },
    );
    onTestFinished(() => own.close());
    await cachedResponse('/api/known', own.url);
    await own.database.query(added('new'));
    let release = (): void => undefined;
    held = new Promise((resolve) => (release = resolve));
    const refreshed = own.gateway.refresh();
    await expect.poll(() => get('/api/new', {}, own.url)).not.toBe('404');
    expect(await cachedResponse('/api/new', own.url)).toMatch(/^0 #/);
    const known = await cachedResponse('/api/known', own.url);

    await own.database.query('insert into film values (1)');
    await expect.poll(() => get('/api/known', {}, own.url)).not.toBe(known);
    release();
    await refreshed;
    expect(await cachedResponse('/api/new', own.url)).toMatch(/^1 #/);
    // Workers get the reports of changes themselves.
    expect(invalidations).toContainEqual([['public.known', 'public.new'], 'process']);
  });

  test('while the publication does not have the table, responses are not cached', async () => {
    await cachedResponse('/api/count-rows');
    const before = await get('/api/by-length?length=1');
    await gateway.database.query('alter publication pgway_changes drop table heir');

    // A response that an earlier change invalidates differs, too.
    await expect
      .poll(() => gateway.observations)
      .toContainEqual({
        kind: 'start-warning',
        code: 'cached-changes',
        message: expect.stringContaining('until changes of public.base are not cached'),
      });
    expect(await get('/api/count-rows')).not.toBe(await get('/api/count-rows'));
    await gateway.database.query('insert into heir values (5)');
    expect(await get('/api/count-rows')).toMatch(/^0 0 2 #/);
    expect(await get('/api/by-length?length=1')).toBe(before);

    await gateway.database.query('alter publication pgway_changes add table heir');
    expect(await cachedResponse('/api/count-rows')).toMatch(/^0 0 2 #/);
    await gateway.database.query('delete from heir');
    await expect.poll(() => get('/api/count-rows')).toMatch(/^0 0 0 #/);
  });

  test('while the log is not read, responses are not cached, and those from before are not used', async () => {
    const before = await cachedResponse('/api/count-rows');
    await gateway.database.query(
      `select pg_terminate_backend(active_pid) from pg_replication_slots where database = current_database()`,
    );
    await gateway.database.query(`insert into film values (9, 'Nine')`);

    await expect.poll(() => get('/api/count-rows')).not.toBe(before);
    expect(await cachedResponse('/api/count-rows')).toMatch(/^1 0 0 #/);
  });

  test('while the publication does not have the table of another schema with the same name, responses are not cached', async () => {
    await gateway.database.query('create schema next; create table next.other (id integer primary key)');
    await cachedResponse('/api/by-length?length=1');
    await gateway.database.query('begin; alter schema shop rename to old; alter schema next rename to shop; commit');

    const isCached = async (): Promise<boolean> =>
      (await get('/api/by-length?length=1')) === (await get('/api/by-length?length=1'));
    await expect.poll(isCached).toBe(false);
    await gateway.gateway.refresh();
    const errors = gateway.gateway.diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ message }) => message)).toEqual([
      'cached: the publication pgway_changes does not have the table shop.other; run: pgway install changes shop.other. Until then, responses are not cached',
    ]);
    expect(await isCached()).toBe(false);
  });
});
