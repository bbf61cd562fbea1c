import { pgbouncerVersion, startGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { startBehindPgBouncer } from '../support/behind-pgbouncer.ts';

/* Statements of PREPARE in routines, where a pooler gives the session to other clients. session-reset.test.ts has what other state routines leave. */

const bouncerVersion = await pgbouncerVersion();

test.skipIf(bouncerVersion === null)('a prepared statement of a call that is cancelled at its timeout', async () => {
  const send = await startBehindPgBouncer(`
    create function prepares_and_sleeps() returns void language plpgsql volatile as $$ begin
      execute 'prepare mine as select 1'; perform pg_sleep(60); end $$;
    comment on function prepares_and_sleeps is 'HTTP
timeout 200ms';
    create function runs() returns int language plpgsql volatile as $$ declare n int; begin
      execute 'prepare mine as select 2'; execute 'execute mine' into n; return n; end $$;`);
  expect((await send('prepares-and-sleeps')).status).toBe(504);
  const runs = await send('runs');
  expect([runs.status, await runs.text()]).toEqual([200, '2']);
  expect((await send('runs')).status).toBe(200);
});

test('in the mode for a pooler, statements of the protocol stay prepared', async () => {
  const gateway = await startGateway(
    `create function leaves() returns void language plpgsql volatile as $$ begin execute 'prepare mine as select 1'; end $$;
     create function sets() returns text language sql volatile as $$ select set_config('app.x', 'left', false) $$;
     create function prepared() returns json language sql volatile as $$ select json_build_object(
       'sql', coalesce(json_agg(name order by name) filter (where from_sql), '[]'),
       'protocol', coalesce(json_agg(name order by name) filter (where not from_sql), '[]')) from pg_prepared_statements $$;`,
    { poolSize: 1, commentsMode: 'parseAll', pooler: 'transaction' },
  );
  onTestFinished(() => gateway.close());
  const prepared = async (): Promise<{ sql: string[]; protocol: string[] }> =>
    JSON.parse((await gateway.send('POST /api/prepared')).body);
  await gateway.send('POST /api/leaves');
  await gateway.send('POST /api/sets');
  const before = await prepared();
  expect(before.sql).toEqual([]);
  expect(before.protocol.length).toBeGreaterThan(2);
  await gateway.send('POST /api/leaves');
  await gateway.send('POST /api/sets');
  expect(await prepared()).toEqual(before);
});

test.each([
  [`select set_config('app.x', 'a', false)`, undefined],
  ['select pg_advisory_lock(1)', undefined],
  ['prepare mine as select 1', true],
  [`do $$ begin execute 'prepare mine as select 1'; end $$`, true],
  [`select query_to_xml('select 1', true, true, '')`, true],
  ['select helper_that_prepares()', true],
])('%s: may prepare a statement: %s', async (statement, mayPrepare) => {
  const gateway = await startGateway(
    `create function helper_that_prepares() returns void language plpgsql as $body$ begin execute 'prepare mine as select 1'; end $body$;
     create function one() returns void language plpgsql volatile as $body$ begin ${statement}; end $body$;
     comment on function one is 'HTTP';`,
  );
  onTestFinished(() => gateway.close());
  const [endpoint] = gateway.gateway.endpoints;
  expect(endpoint!.sessionEffects).toMatchObject({ alters: true });
  expect(endpoint!.sessionEffects!.mayPrepare).toBe(mayPrepare);
});
