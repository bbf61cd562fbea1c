import { createGateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';

const database = useDatabase(`
  create function keep() returns text language sql as $$
    select concat_ws(' ', current_setting('TimeZone'), current_setting('DateStyle'), current_setting('application_name'),
      current_setting('app.files')::json -> 0 ->> 'fileName') $$;
  comment on function keep is 'HTTP POST
  upload for large_object';
`);

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

test('an upload in a transaction of the host restores all settings of the host', async () => {
  const client = new Client({ connectionString: database.connectionString, application_name: 'host' });
  await client.connect();
  onTestFinished(() => client.end());
  const gateway = await createGateway({
    connectionString: database.connectionString,
    connectionProvider: () => ({ client, release: () => undefined }),
    traceContext: 'application_name',
    uploadOptions: { useDefaultUploadMetadataContextKey: true, defaultUploadMetadataContextKey: 'app.files' },
  });
  onTestFinished(() => gateway.close());
  const shown = async (): Promise<unknown> => {
    const settings = ['TimeZone', 'DateStyle', 'application_name', 'app.files'];
    const { rows } = await client.query({
      text: `select ${settings.map((name) => `current_setting('${name}', true)`).join(', ')}`,
      rowMode: 'array',
    });
    return rows[0];
  };
  await client.query(
    `begin; set local TimeZone = 'Asia/Tokyo'; set local DateStyle = 'German'; set local app.files = 'own'`,
  );
  const body = new FormData();
  body.append('file', new File(['hello'], 'a.txt'));
  const response = await gateway.fetch(
    new Request('http://gateway/api/keep', { method: 'POST', body, headers: { traceparent } }),
  );
  expect([response!.status, await response!.text()]).toEqual([200, `UTC ISO, DMY ${traceparent} a.txt`]);
  expect(await shown()).toEqual(['Asia/Tokyo', 'German, DMY', 'host', 'own']);
  await client.query('commit');
});
