import { type EndpointSource, sqlFilesSource } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createFolder, writeSqlFile } from './folder.ts';

/** A reload describes the statements of files that have changed, and all of them after a change of the catalog. */

type Database = Parameters<EndpointSource['read']>[0];

const sql = `
  create type mood as enum ('calm');
  create table film (film_id int primary key, title text not null, feeling mood);
  create table log (message text);
  create function noted(n int) returns int language sql as 'select n';
`;
const files = {
  'films.sql': '-- HTTP GET\nselect film_id, title from film where film_id = :id',
  'noted.sql': '-- HTTP\nselect noted(:n)',
  'calls.sql': '-- HTTP\nselect noted(1) from film',
  'moods.sql': `-- HTTP GET\nselect :mood::mood as mood, 'x' as x`,
  'later.sql': '-- HTTP GET\nselect * from later',
  'grouped.sql': '-- HTTP GET\nselect title, count(*) from film group by film_id',
};

async function start() {
  const folder = await createFolder(files);
  const described: string[] = [];
  const counting = new Map<Database, Database>();
  const count = (database: Database): Database => {
    const known = counting.get(database);
    if (known !== undefined) return known;
    const counted = new Proxy(database, {
      get: (target, name) =>
        name === 'run'
          ? (call: Parameters<Database['run']>[0]) => {
              for (const step of call.steps) if (step.describes !== undefined) described.push(step.statement.sql);
              return target.run(call);
            }
          : (Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name)),
    });
    counting.set(database, counted);
    return counted;
  };
  const started = await startGateway(sql, {
    routineSources: [],
    // A host may make the source again for each load.
    sourcesCreated: (sources) => {
      const source = sqlFilesSource({ files: '*.sql', folder });
      sources.push({ ...source, read: (database) => source.read(count(database)) });
    },
  });
  onTestFinished(() => started.close());
  const { gateway } = started;
  const reload = async (): Promise<readonly string[]> => {
    described.length = 0;
    await gateway.refresh();
    return [...described];
  };
  const shape = (): Record<string, string> =>
    Object.fromEntries(
      gateway.endpoints.map(({ id, method, volatility, parameters, result }) => {
        const columns = 'columns' in result ? result.columns : 'column' in result ? [result.column] : [];
        const types = [...parameters, ...columns].map(({ type }) => type.display).join(' ');
        return [id, `${method} ${volatility} ${types}`];
      }),
    );
  return { ...started, folder, reload, shape };
}

test('a changed file alone is described', async () => {
  const { folder, reload, send, shape } = await start();
  // A file with a fault is described again: the fault may be one of the connection.
  expect(await reload()).toEqual(['select * from later']);
  await writeSqlFile(folder, 'films.sql', '-- HTTP GET\nselect title from film where film_id = :id');
  await writeSqlFile(folder, 'more.sql', '-- HTTP GET\nselect 1 as one');
  expect(await reload()).toEqual([
    'select title from film where film_id = $1',
    'select * from later',
    'select 1 as one',
  ]);
  expect(shape()['films.sql']).toBe('GET stable integer text');
  expect((await send('GET /api/more')).body).toBe('[1]');
  await writeSqlFile(folder, 'films.sql', files['films.sql']);
  expect((await reload()).length).toBe(2);
  expect(shape()['films.sql']).toBe('GET stable integer integer text');
});

const all = 6;

test.each<[change: string, file: string, before: string | undefined, after: string | undefined]>([
  [
    'alter table film alter film_id type bigint',
    'films.sql',
    'GET stable integer integer text',
    'GET stable bigint bigint text',
  ],
  [
    'create or replace function noted(n int) returns int language sql as $$ insert into log values (n) returning 1 $$',
    'noted.sql',
    'GET stable integer integer',
    'POST volatile integer integer',
  ],
  [
    `alter table film enable row level security;
     create function allows(t text) returns boolean language sql as $$ insert into log values (t) returning true $$;
     create policy films on film for select using (allows(title))`,
    'films.sql',
    'GET stable integer integer text',
    'GET volatile integer integer text',
  ],
  ['create table later (a int)', 'later.sql', undefined, 'GET stable integer'],
  [
    'drop function noted(int); create function noted(n bigint) returns text language sql stable as $$ select n::text $$',
    'noted.sql',
    'GET stable integer integer',
    'GET stable bigint text',
  ],
  ['alter table film drop constraint film_pkey', 'grouped.sql', 'GET stable text bigint', undefined],
  ['drop table film', 'films.sql', 'GET stable integer integer text', undefined],
  [
    'alter type mood rename to humour; create domain mood as text',
    'moods.sql',
    'GET stable public.mood public.mood text',
    'GET stable public.mood text text',
  ],
])('after %s', async (change, file, before, after) => {
  const { database, reload, shape } = await start();
  expect(shape()[file]).toBe(before);
  await database.query(change);
  expect((await reload()).length).toBe(all);
  expect(shape()[file]).toBe(after);
});
