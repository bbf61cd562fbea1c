import { useGateway } from '@pgway/testing';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { startWithFiles, useFiles } from './folder.ts';

/** The settings in which a call keeps values for its own statements end with the call, also where its transaction goes on. */

const sql = `create table account (id int, token text); insert into account values (1, 'token-a');`;

const sqlFiles = {
  'sealed.sql': `-- HTTP POST\n-- param token = select token from account where id = :id::int\nselect length(:token::text)`,
  'both.sql': `-- HTTP POST\nselect token from account;\nselect 2;`,
  'kept.sql': `-- HTTP POST\nselect concat(current_setting('pgway.values', true), current_setting('pgway.result_0', true))`,
};
const files = useFiles(sql, sqlFiles, { gateway: { batchPath: '/api/batch' } });

test.each([
  [{ method: 'POST', path: '/api/sealed', body: { id: 1 } }, [7]],
  [
    { method: 'POST', path: '/api/both' },
    { result1: ['token-a'], result2: [2] },
  ],
])('in a batch: %j', async (request, body) => {
  const requests = [request, { method: 'POST', path: '/api/kept' }, request];
  const response = await files.current().send('POST /api/batch', { body: requests });
  expect([response.status, JSON.parse(response.body)]).toEqual([
    200,
    [
      { status: 200, body },
      { status: 200, body: [''] },
      { status: 200, body },
    ],
  ]);
});

test('in a transaction of the host', async () => {
  const clients: Client[] = [];
  const host = await startWithFiles(sql, sqlFiles, {
    gateway: { connectionProvider: () => ({ client: clients[0]!, release: () => undefined }) },
  });
  onTestFinished(() => host.close());
  const client = new Client({ connectionString: host.database.connectionString });
  clients.push(client);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  expect((await host.send('POST /api/sealed', { body: { id: 1 } })).body).toBe('[7]');
  expect((await host.send('POST /api/both')).body).toBe('{"result1":["token-a"],"result2":[2]}');
  expect((await host.send('POST /api/kept')).body).toBe('[""]');
  await client.query('commit');
});

const procedures = useGateway(
  `${sql}
   create procedure seal(_id int, inout _token text default null) language plpgsql as $$ begin end $$;
   comment on procedure seal is 'HTTP POST
   param _token = select token from account where id = :_id';
   create function kept() returns text language sql as $$ select current_setting('pgway.values', true) $$;
   comment on function kept is 'HTTP POST';`,
  { batchPath: '/api/batch' },
);

test('of a procedure in a batch', async () => {
  const requests = [
    { method: 'POST', path: '/api/seal', body: { id: 1 } },
    { method: 'POST', path: '/api/kept' },
  ];
  const { status, body } = await procedures.send('POST /api/batch', { body: requests });
  expect([status, JSON.parse(body)]).toEqual([
    200,
    [
      { status: 200, body: { token: 'token-a' } },
      { status: 200, body: '' },
    ],
  ]);
});
