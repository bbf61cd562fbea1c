import { createGateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { startProxy } from '../database/support.ts';

/** The round trips of a batch, through a proxy that holds back the responses of the server. */

const database = useDatabase(`
  create table written (what text);
  create function write(_what text) returns text language sql as $$ insert into written values (_what) returning what $$;
  comment on function write is 'HTTP POST';
`);

const written = async (): Promise<number> => {
  const rows = await database.query('select count(*)::int as count from written');
  return rows[0]!['count'] as number;
};

test('ten calls and their commit are one round trip', async () => {
  const proxy = await startProxy(database.connectionString);
  onTestFinished(() => proxy.off());
  const connectionString = proxy.connectionString;
  const gateway = await createGateway({ connectionString, batchPath: '/batch', poolSize: 1 });
  onTestFinished(() => gateway.close());
  const requests = Array.from({ length: 10 }, (_, index) => ({
    method: 'POST',
    path: '/api/write',
    body: { what: String(index) },
  }));
  const send = (): Promise<Response | undefined> =>
    gateway.fetch(
      new Request('http://localhost/batch', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(requests),
      }),
    );
  // The first one prepares the statement.
  await send();
  expect(await written()).toBe(10);
  proxy.swallow();
  const response = send();
  // Without any response of the server, everything was sent, the commit included.
  await expect.poll(written).toBe(20);
  proxy.release();
  const body = (await (await response)!.json()) as readonly { readonly body: string }[];
  expect(body.map((each) => each.body)).toEqual(Array.from({ length: 10 }, (_, index) => String(index)));
});
