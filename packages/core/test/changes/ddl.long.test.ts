import { crudSource } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { followChanges, openStream } from './stream-support.ts';

const names = [
  'added',
  'rewritten',
  'dropped_column',
  'renamed_column',
  'retyped',
  'retyped_key',
  'without_key',
  'moved_key',
  'recreated',
  'renamed',
  'dropped',
  'swapped',
  'swapped_next',
  'emptied',
  'emptied_next',
];

const gateway = useGateway(
  `${names
    .map(
      (name) => `
      create table ${name} (id integer primary key, title text, number integer, note text);
      comment on table ${name} is 'HTTP
changes';
      insert into ${name} select n, 'title ' || n, n, 'note' from generate_series(1, 3) as n;`,
    )
    .join('')}
  create publication pgway_changes for table ${names.join(', ')};
  `,
  { routineSources: [crudSource({ listing: true })], changes: { window: 0 }, events: { heartbeat: 1 } },
);

/** Returns the rows of GET, and null for an endpoint that does not exist. */
async function rowsOf(table: string): Promise<readonly string[] | null> {
  const { status, body } = await gateway.send(`GET /api/${table.replaceAll('_', '-')}?order=id`);
  return status === 200 ? (JSON.parse(body) as unknown[]).map((row) => JSON.stringify(row)) : null;
}

interface Definition {
  readonly table: string;
  readonly ddl: string;
  /** Writes after it. */
  readonly write: string;
}

test.each<Definition>([
  { table: 'added', ddl: `add column extra text default 'x'`, write: `insert into added values (4, 'd', 4, 'note')` },
  {
    table: 'rewritten',
    ddl: 'add column extra double precision default random()',
    write: 'update rewritten set number = 7',
  },
  { table: 'dropped_column', ddl: 'drop column note', write: 'update dropped_column set number = 7 where id = 2' },
  {
    table: 'renamed_column',
    ddl: 'rename column note to remark',
    write: `update renamed_column set remark = 'new' where id = 2`,
  },
  { table: 'retyped', ddl: 'alter column number type text', write: `update retyped set number = '007' where id = 2` },
  { table: 'retyped_key', ddl: 'alter column id type bigint', write: 'delete from retyped_key where id = 2' },
  {
    table: 'without_key',
    ddl: 'drop constraint without_key_pkey',
    write: `insert into without_key values (9, 'nine', 9, 'note'); alter table without_key add primary key (id);
      update without_key set number = 1 where id = 2`,
  },
  {
    table: 'moved_key',
    ddl: 'drop constraint moved_key_pkey, add primary key (number), alter column id drop not null',
    write:
      'alter table moved_key drop constraint moved_key_pkey, add primary key (id); update moved_key set number = 8 where id = 2',
  },
])('a subscriber has the rows of GET after "$ddl" of its table', async ({ table, ddl, write }) => {
  const follower = followChanges(gateway, `/api/${table.replaceAll('_', '-')}/changes?snapshot=true`);
  onTestFinished(() => follower.close());
  await expect.poll(() => follower.rows()).toEqual(await rowsOf(table));
  await gateway.database.query(`update ${table} set title = 'before' where id = 1; alter table ${table} ${ddl}`);
  for (const statement of write.split(';')) await gateway.database.query(statement);
  // The comparison is with the latest rows of each attempt: the gateway loads the table again meanwhile.
  const differences = async (): Promise<unknown> => {
    const [rows, own] = [follower.rows(), await rowsOf(table)];
    return JSON.stringify(rows) === JSON.stringify(own) ? null : { rows, own };
  };
  await expect.poll(differences).toBeNull();
  await gateway.database.query(`update ${table} set title = 'after' where id = 3`);
  await expect.poll(() => follower.rows().join('')).toContain('"after"');
  await expect.poll(differences).toBeNull();
});

test.each([
  ['recreated', 'drop table recreated'],
  ['renamed', 'alter table renamed rename to another'],
  ['dropped', 'drop table dropped'],
])('a stream of %s ends with its table', async (table, sql) => {
  const follower = followChanges(gateway, `/api/${table}/changes?snapshot=true`);
  onTestFinished(() => follower.close());
  await expect.poll(() => follower.rows()).toHaveLength(3);
  await gateway.database.query(`update ${table} set number = 5; ${sql}`);
  // Changes of another table make the next cut.
  await expect.poll(() => follower.status()).toBe(404);
  if (table !== 'recreated') return;
  await gateway.database.query(`create table recreated (id integer primary key, name text);
    comment on table recreated is E'HTTP\\nchanges'; alter publication pgway_changes add table recreated;
    insert into recreated values (1, 'One')`);
  await gateway.gateway.refresh();
  await expect.poll(() => follower.rows()).toEqual(['{"id":1,"name":"One"}']);
  await gateway.database.query(`insert into recreated values (2, 'Two')`);
  await expect.poll(() => follower.rows()).toEqual(['{"id":1,"name":"One"}', '{"id":2,"name":"Two"}']);
});

test('a request for a stream that finds a dropped column runs again with the endpoints of now', async () => {
  const source = crudSource({ listing: true });
  let isReadable = true;
  const read: typeof source.read = (...input) =>
    isReadable ? source.read(...input) : Promise.reject(new Error('not readable'));
  const own = await startGateway(
    `create table film (id integer primary key, title text, number integer, note text);
    comment on table film is E'HTTP\\nchanges';
    insert into film values (1, 'One', 7, 'note');
    create publication pgway_changes for table film`,
    { routineSources: [{ ...source, read }], changes: { window: 0 } },
  );
  onTestFinished(() => own.close());
  const path = '/api/film/changes?snapshot=true';
  (await openStream(own, path)).close();
  await own.database.query('alter table film drop column note');
  const streams = await Promise.all([1, 2, 3].map(() => fetch(own.url + path)));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  await Promise.all(streams.map(({ body }) => body!.cancel()));
  expect(own.observations.filter(({ kind }) => kind === 'endpoint-stale')).toHaveLength(1);
  const stream = await openStream(own, path);
  await expect.poll(() => stream.text()).toContain('"record":{"id":1,"title":"One","number":7}');

  // The next change, at once: the catalog is another one.
  await own.database.query('alter table film drop column number');
  const later = await openStream(own, path);
  await expect.poll(() => later.text()).toContain('"record":{"id":1,"title":"One"}');

  // A client comes back when the catalog may have been read.
  isReadable = false;
  await own.database.query('alter table film drop column title');
  const { status, headers, body } = await own.send(`GET ${path}&title=One`);
  expect([status, headers.get('retry-after'), JSON.parse(body)]).toMatchObject([
    503,
    '5',
    { type: 'urn:pgway:problem:changes-unavailable' },
  ]);
});

test('a stream that a reload does not help causes one reload in five seconds, however often clients come back', async () => {
  let loads = 0;
  const own = await startGateway(
    `create table base (id integer primary key);
    create function note() returns text language plpgsql stable as $$ begin return (select title from base limit 1); end $$;
    create view film as select id, note() from base;
    comment on view film is E'HTTP\\nchanges';
    insert into base values (1);
    create publication pgway_changes for table base`,
    {
      routineSources: [crudSource({ listing: true })],
      changes: { window: 0 },
      endpointCreated: (endpoint) => void (loads += Number(endpoint.name === 'film' && endpoint.method === 'GET')),
    },
  );
  onTestFinished(() => own.close());
  const started = performance.now();
  const before = loads;
  const path = '/api/film/changes?snapshot=true';
  // As GET, whose function fails.
  for (let count = 0; count < 30; count++) expect((await own.send(`GET ${path}`)).status).toBe(500);
  // The first reload begins when the requests may have ended.
  await expect.poll(() => loads - before).toBeGreaterThan(0);
  expect(loads - before).toBeLessThanOrEqual(Math.ceil((performance.now() - started) / 5_000));
});

test.each([
  ['swapped', ''],
  ['emptied', 'truncate emptied;'],
])('a stream of %s has the rows of the table that replaces it', async (table, truncation) => {
  await gateway.database.query(`insert into ${table}_next values (4, 'four', 4, 'note')`);
  const follower = followChanges(gateway, `/api/${table}/changes?snapshot=true`);
  onTestFinished(() => follower.close());
  await expect.poll(() => follower.rows()).toHaveLength(3);
  await gateway.database.query(
    `begin; ${truncation} alter table ${table} rename to ${table}_old; alter table ${table}_next rename to ${table}; commit`,
  );
  await expect.poll(() => follower.rows()).toHaveLength(4);
  expect(follower.rows()).toEqual(await rowsOf(table));
  await gateway.database.query(`delete from ${table} where id < 4; delete from ${table}_old`);
  await expect.poll(() => follower.rows()).toEqual(['{"id":4,"title":"four","number":4,"note":"note"}']);
});
