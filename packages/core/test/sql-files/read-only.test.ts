import { createGateway, sqlFilesSource } from '@pgway/core';
import { freshDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { roleByHeader } from '../auth/role-by-header.ts';
import { createFolder, type FilesGateway, startWithFiles, useFiles } from './folder.ts';

/** Files that only read run in a read-only transaction. */

const sql = `
  create table log (message text);
  create function write_log(message text) returns text language sql as 'insert into log values ($1) returning message';
  create function "Write Log"(message text) returns text language sql as 'insert into log values ($1) returning message';
  create function peek() returns text language sql stable as $$ select write_log('peeked') $$;
  create function is_read_only() returns text language sql stable as $$ select current_setting('transaction_read_only') $$;
`;
const sqlFiles = {
  'mode.sql': `-- HTTP\nselect current_setting('transaction_read_only')`,
  'by_function.sql': `-- HTTP\nselect is_read_only()`,
  'both.sql': `-- HTTP\nselect 1;\nselect current_setting('transaction_read_only');`,
  'last.sql': `-- HTTP\n-- result last\nselect 1;\nselect current_setting('transaction_read_only');`,
  'posted.sql': `-- HTTP POST\nselect current_setting('transaction_read_only')`,
  'peek.sql': `-- HTTP\nselect peek()`,
  'write.sql': `-- HTTP\nselect write_log(:text), current_setting('transaction_read_only')`,
  'quoted.sql': `-- HTTP\nselect "Write Log"(:text)`,
  'escaped.sql': `-- HTTP\nselect U&"Write\\0020Log"(:text)`,
  'mixed.sql': `-- HTTP\nselect current_setting('transaction_read_only');\ninsert into log values (:text);`,
};

const refused = {
  type: 'urn:pgway:problem:database-error',
  title: 'cannot execute INSERT in a read-only transaction',
  status: 500,
  code: '25006',
  hint: 'The SQL file names only functions that are stable or immutable, so that its transaction is read-only. Declare the function that writes as volatile.',
};

async function answer(files: FilesGateway, ...sending: Parameters<FilesGateway['send']>): Promise<string> {
  const { status, body } = await files.send(...sending);
  return `${status} ${body}`;
}

describe('on connections of the gateway', () => {
  const files = useFiles(sql, sqlFiles, { gateway: { poolSize: 1, batchPath: '/api/batch' } });

  test.each([
    ['GET /api/mode', undefined, '200 ["on"]'],
    ['GET /api/by-function', undefined, '200 ["on"]'],
    ['GET /api/both', undefined, '200 {"result1":[1],"result2":["on"]}'],
    ['GET /api/last', undefined, '200 ["on"]'],
    ['POST /api/posted', undefined, '200 ["on"]'],
    ['POST /api/write', { text: 'a' }, '200 [{"writeLog":"a","currentSetting":"off"}]'],
    ['POST /api/quoted', { text: 'b' }, '200 ["b"]'],
    ['POST /api/escaped', { text: 'c' }, '200 ["c"]'],
    ['POST /api/mixed', { text: 'd' }, '200 {"result1":["off"],"result2":1}'],
    ['GET /api/mode', undefined, '200 ["on"]'],
  ])('%s %j', async (line, body, expected) => {
    expect(await answer(files.current(), line, { body })).toBe(expected);
  });

  test('a function that is stable by its declaration alone cannot write', async () => {
    const { send, database } = files.current();
    await database.query('truncate log');
    const { status, body } = await send('GET /api/peek');
    expect([status, JSON.parse(body)]).toEqual([500, { ...refused, correlationId: expect.any(String) }]);
    expect(await database.query('select * from log')).toEqual([]);
    expect((await send('POST /api/write', { body: { text: 'e' } })).status).toBe(200);
    expect(await database.query('select * from log')).toEqual([{ message: 'e' }]);
  });

  test('the one transaction of a batch writes', async () => {
    const requests = [
      { method: 'GET', path: '/api/mode' },
      { method: 'POST', path: '/api/write', body: { text: 'f' } },
    ];
    const { status, body } = await files.current().send('POST /api/batch', { body: requests });
    expect([status, JSON.parse(body)]).toEqual([
      200,
      [
        { status: 200, body: ['off'] },
        { status: 200, body: [{ writeLog: 'f', currentSetting: 'off' }] },
      ],
    ]);
  });
});

test('with settings of the call', async () => {
  const authentication = { schemes: [roleByHeader], databaseRole: { claim: 'db_role' } } as const;
  const files = await startWithFiles(
    sql,
    { 'mode.sql': `-- HTTP\nselect current_setting('transaction_read_only'), current_user` },
    { gateway: { authentication } },
  );
  onTestFinished(() => files.close());
  const [{ me }] = (await files.database.query('select current_user::text as me')) as [{ me: string }];
  expect(await answer(files, 'GET /api/mode', { headers: { 'x-role': me } })).toBe(
    `200 [{"currentSetting":"on","currentUser":${JSON.stringify(me)}}]`,
  );
  expect((await files.send('GET /api/mode')).body).toContain('"on"');
});

test('a refused write is not taken for a server that has become a standby', async () => {
  const database = await freshDatabase(sql);
  onTestFinished(() => database.drop());
  const folder = await createFolder(sqlFiles);
  const address = new URL(database.connectionString);
  address.searchParams.set('target_session_attrs', 'read-write');
  const gateway = await createGateway({
    connectionString: address.href,
    routineSources: [sqlFilesSource({ files: '*.sql', folder })],
    observer: () => undefined,
  });
  onTestFinished(() => gateway.close());
  const response = await gateway.fetch(new Request('http://gateway/api/peek'));
  expect([response!.status, await response!.json()]).toMatchObject([500, { code: '25006' }]);
});

test('a transaction of the host can write after the call', async () => {
  const clients: Client[] = [];
  const files = await startWithFiles(sql, sqlFiles, {
    gateway: { connectionProvider: () => ({ client: clients[0]!, release: () => undefined }) },
  });
  onTestFinished(() => files.close());
  const client = new Client({ connectionString: files.database.connectionString });
  clients.push(client);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  expect(await answer(files, 'GET /api/mode')).toBe('200 ["off"]');
  expect(await answer(files, 'POST /api/write', { body: { text: 'g' } })).toBe(
    '200 [{"writeLog":"g","currentSetting":"off"}]',
  );
  await client.query('commit');
  expect(await files.database.query('select * from log')).toEqual([{ message: 'g' }]);
});
