import { freshDatabase, startGateway, useGateway } from '@pgway/testing';
import { createGateway } from '@pgway/core';
import { Pool } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';

/** The option `traceContext`: PostgreSQL receives the `traceparent` of a request as `application_name`. */

const sql = `
  create function shown() returns text language sql volatile as $$ select current_setting('application_name') $$;
  comment on function shown is 'HTTP GET';
  create function half(_of int) returns text language plpgsql stable as
    $$ begin return format('%s %s', _of / 2, current_setting('application_name')); end $$;
  comment on function half is 'HTTP GET';
  create sequence calls;
  create function cached_name() returns text language sql volatile as
    $$ select nextval('calls') || ' ' || current_setting('application_name') $$;
  comment on function cached_name is 'HTTP GET
  cached';
  create table note (text text, by text default current_setting('application_name'));
  create procedure commit_twice() language plpgsql as
    $$ begin insert into note values ('one'); commit; insert into note values ('two'); commit; end $$;
  comment on procedure commit_twice is 'HTTP POST';
  create function with_user() returns text language sql volatile as
    $$ select current_setting('application_name') || coalesce(current_setting('request.user_id', true), '') $$;
  comment on function with_user is 'HTTP GET
  user_context';
  create function fail() returns text language plpgsql as $$ begin raise 'no' using errcode = '22000'; end $$;
  comment on function fail is 'HTTP GET';
  create function store(_meta json) returns json language sql as
    $$ select json_build_object('name', current_setting('application_name'), 'files', json_array_length(_meta)) $$;
  comment on function store is 'HTTP POST
  upload for csv _meta as metadata
  row_command = insert into note (text) values ($2[1])';
`;

const trace = '0af7651916cd43dd8448eb211c80319c';
const sampled = `00-${trace}-b7ad6b7169203331-01`;
const gateway = useGateway(sql, { traceContext: 'application_name', poolSize: 1 });

const ask = async (line: string, traceparent?: string): Promise<string> => {
  const { body } = await gateway.send(line, { headers: traceparent === undefined ? {} : { traceparent } });
  return body;
};

test('a sampled request sets application_name for its call alone', async () => {
  expect(await ask('GET /api/shown', sampled)).toBe(sampled);
  expect(await ask('GET /api/shown')).toBe('pgway');
  expect(await ask('GET /api/half?of=8', sampled)).toBe(`4 ${sampled}`);
  expect(await ask('GET /api/with-user', sampled)).toBe(sampled);
  expect(await ask('GET /api/fail', sampled)).toContain('"title":"no"');
  expect(await ask('GET /api/shown')).toBe('pgway');
});

test.each([
  ['is not sampled', `00-${trace}-b7ad6b7169203331-00`],
  ['has other flags', `00-${trace}-b7ad6b7169203331-02`],
  ['has no trace id', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
  ['has no parent id', `00-${trace}-${'0'.repeat(16)}-01`],
  ['has capitals', sampled.toUpperCase()],
  ['is of another version', `01-${trace}-b7ad6b7169203331-01`],
  ['is the invalid version', `ff-${trace}-b7ad6b7169203331-01`],
  ['goes on', `${sampled}-x`],
  ['is longer', `${sampled}0`],
  ['is SQL', `00-${trace}-b7ad6b7169203331-01'; select pg_sleep(9) --`],
  ['occurs twice', `${sampled}, ${sampled}`],
  ['is empty', ''],
])('a traceparent that %s is ignored', async (_, traceparent) => {
  expect(await ask('GET /api/shown', traceparent)).toBe('pgway');
});

test('responses are cached across traces', async () => {
  expect(await ask('GET /api/cached-name', sampled)).toBe(`1 ${sampled}`);
  expect(await ask('GET /api/cached-name')).toBe(`1 ${sampled}`);
  expect(await ask('GET /api/cached-name', sampled.replace('b7', 'c8'))).toBe(`1 ${sampled}`);
});

test('a procedure that commits gets no settings, and can still commit', async () => {
  expect((await gateway.send('POST /api/commit-twice', { headers: { traceparent: sampled } })).status).toBe(204);
  expect(await gateway.database.query('select text, by from note')).toEqual([
    { text: 'one', by: 'pgway' },
    { text: 'two', by: 'pgway' },
  ]);
});

test('an invalid value is still found by its parameter', async () => {
  const { status, body } = await gateway.send('GET /api/half?of=x', { headers: { traceparent: sampled } });
  expect([status, (JSON.parse(body) as Record<string, unknown>)['parameters']]).toEqual([400, ['of']]);
});

test('an upload: the statements of its handlers and its call', async () => {
  const body = new FormData();
  body.append('file', new Blob(['a\nb\n']), 'notes.csv');
  await gateway.database.query('truncate note');
  const answer = await gateway.send('POST /api/store', { headers: { traceparent: sampled }, body });
  expect(answer.body).toBe(`{"name" : "${sampled}", "files" : 1}`);
  expect(await gateway.database.query('select text, by from note')).toEqual([
    { text: 'a', by: sampled },
    { text: 'b', by: sampled },
  ]);
  expect(await ask('GET /api/shown')).toBe('pgway');
});

describe('of the host', () => {
  test('a hook gives the trace context; a malformed one is ignored', async () => {
    const texts = [sampled, 'x', null];
    const own = await startGateway(sql, { traceContext: 'application_name', traceparent: () => texts.shift() ?? null });
    onTestFinished(() => own.close());
    const bodies: string[] = [];
    for (let count = 0; count < 3; count++) bodies.push((await own.send('GET /api/shown')).body);
    expect(bodies).toEqual([sampled, 'pgway', 'pgway']);
  });

  test('a hook that throws is a 500', async () => {
    const own = await startGateway(sql, {
      traceContext: 'application_name',
      traceparent: () => {
        throw new Error('no trace');
      },
    });
    onTestFinished(() => own.close());
    expect((await own.send('GET /api/shown')).status).toBe(500);
  });

  test('the transaction of a connection of the host keeps its application_name', async () => {
    const database = await freshDatabase(sql);
    const pool = new Pool({ connectionString: database.connectionString, application_name: 'host', max: 1 });
    // Dropping the database ends idle connections.
    pool.on('error', () => undefined);
    const hosted = await createGateway({
      connectionString: database.connectionString,
      traceContext: 'application_name',
      connectionProvider: async () => {
        const client = await pool.connect();
        await client.query('begin');
        return { client, release: () => client.release() };
      },
    });
    onTestFinished(async () => {
      await hosted.close();
      await pool.end();
      await database.drop();
    });
    const response = await hosted.fetch(
      new Request('http://localhost/api/shown', { headers: { traceparent: sampled } }),
    );
    expect(await response!.text()).toBe(sampled);
    const { rows } = await pool.query<{ name: string }>(`select current_setting('application_name') as name`);
    await pool.query('commit');
    expect(rows).toEqual([{ name: 'host' }]);
  });
});

test('off by default', async () => {
  const own = await startGateway(sql);
  onTestFinished(() => own.close());
  expect((await own.send('GET /api/shown', { headers: { traceparent: sampled } })).body).toBe('pgway');
});
