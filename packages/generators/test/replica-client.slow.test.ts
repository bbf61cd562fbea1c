import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createGateway } from '@pgway/core';
import { startPrimary } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { clientOf, folderWith } from './support.ts';

test('reads of a generated client include its own writes, on a replica that is behind', async () => {
  const primary = await startPrimary();
  onTestFinished(() => primary.stop());
  await primary.query(`
    create table note (text text check (text <> ''));
    create function add_note(_text text) returns void language sql as $$ insert into note values (_text) $$;
    comment on function add_note is 'HTTP POST';
    create function notes() returns table (place text, number bigint) language sql stable as
      $$ select case when pg_is_in_recovery() then 'replica' else 'primary' end, (select count(*) from note) $$;
    comment on function notes is 'HTTP GET'`);
  const replica = await primary.startReplica();
  const gateway = await createGateway({
    connectionString: primary.connectionString,
    readReplicas: { connectionStrings: [replica.connectionString], maxLagSeconds: 600 },
  });
  const server = createServer(gateway.middleware);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await gateway.close();
  });
  const customHost = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { customHost, skipTypes: true, readOwnWrites: true };
  const { folder, remove } = await folderWith([
    ...clientOf(gateway.endpoints, { ...options, filePath: 'client.mts' }),
    ...clientOf(gateway.endpoints, { ...options, includeStatusCode: true, filePath: 'status.mts' }),
  ]);
  onTestFinished(remove);
  const client = await import(pathToFileURL(join(folder, 'client.mjs')).href);
  await expect.poll(() => client.notes()).toEqual([{ place: 'replica', number: 0 }]);

  await replica.query('select pg_wal_replay_pause()');
  await client.addNote({ text: 'one' });
  expect(await client.notes()).toEqual([{ place: 'primary', number: 1 }]);
  await replica.query('select pg_wal_replay_resume()');
  await expect.poll(() => client.notes()).toEqual([{ place: 'replica', number: 1 }]);

  // A refused write changes nothing.
  await expect(client.addNote({ text: '' })).rejects.toThrow('violates check constraint');
  expect(await client.notes()).toEqual([{ place: 'replica', number: 1 }]);
  // The outcome of this write is unknown to the client.
  await expect(client.addNote({ text: 'two' }, { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
  expect(await client.notes()).toEqual([{ place: 'primary', number: 1 }]);

  const other = await import(pathToFileURL(join(folder, 'status.mjs')).href);
  await replica.query('select pg_wal_replay_pause()');
  expect(await other.addNote({ text: 'two' })).toMatchObject({ status: 204 });
  expect(await other.notes()).toMatchObject({ response: [{ place: 'primary', number: 2 }] });
});
