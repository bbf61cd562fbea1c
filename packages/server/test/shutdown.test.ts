import { useDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { startGateway, startHttpServer } from '../src/start.ts';
import { loadConfiguration } from '../src/config/load.ts';
import { Lifecycle } from '../src/lifecycle.ts';
import { folderWith } from './support/folder.ts';

const database = useDatabase(`
  create function say() returns void language plpgsql as $$ begin raise info 'hello'; end $$;
  comment on function say is 'HTTP POST
  info_path
  info_scope all';
`);

test('the server does not wait for open event streams when it stops', async () => {
  const { configuration } = await loadConfiguration({
    workingDirectory: await folderWith({
      'pgway.json': JSON.stringify({
        port: 0,
        connectionString: database.connectionString,
      }),
    }),
    files: [],
    environment: {},
    overrides: [],
    otherOptions: [],
    commandNames: [],
  });
  const lifecycle = new Lifecycle();
  const gateway = await startGateway(lifecycle, configuration, database.connectionString, {});
  const { port } = await startHttpServer(lifecycle, configuration, gateway, { handlers: [], certificates: null });
  const stream = await fetch(`http://127.0.0.1:${port}/api/say/info`);
  expect(stream.status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/api/say`, { method: 'POST' })).status).toBe(204);
  const [text] = await Promise.all([stream.text(), lifecycle.stop()]);
  expect(text).toMatch(/^:\nid: \d+\n\nid: \d+\ndata: hello\n\n$/);
});
