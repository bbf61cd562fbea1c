import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { build, freePort, freshDatabase, holdLock } from '@pgway/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { bin, start } from '../support/program.ts';

/* The built program, whose protocol library is bundled, with two processes. */

beforeAll(build);

const sql = `
create function greet(_name text) returns text language sql stable as $$ select 'Hello, ' || _name $$;
comment on function greet is 'HTTP GET
mcp';
create function slow() returns text language sql as $$ select 'done' from pg_advisory_xact_lock(1) $$;
comment on function slow is 'HTTP POST
mcp';
create function mcp_path() returns text language sql stable as $$ select 'hidden' $$;
comment on function mcp_path is 'HTTP GET /mcp';`;

test('clients of both kinds are served by any process, other hosts are refused, a call outlives the stop signal', async () => {
  const database = await freshDatabase(sql);
  onTestFinished(() => database.drop());
  const port = await freePort();
  const folder = await folderWith({});
  const configuration = { connectionString: database.connectionString, port, workers: 2, mcp: { path: '/mcp' } };
  await writeFile(join(folder, 'pgway.json'), JSON.stringify(configuration));
  const program = start(folder, [process.execPath, bin]);
  await program.until(/http:\/\/[\w.:]+/);
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const connect = async (mode: 'legacy' | 'auto'): Promise<Client> => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(url));
    return client;
  };
  for (const mode of ['legacy', 'auto'] as const) {
    const client = await connect(mode);
    expect(client.getServerVersion()).toMatchObject({ name: 'pgway' });
    const calls = Array.from({ length: 20 }, (_, index) =>
      client.callTool({ name: 'greet', arguments: { name: String(index) } }),
    );
    const values = (await Promise.all(calls)).map(({ structuredContent }) => structuredContent);
    expect(values).toEqual(Array.from({ length: 20 }, (_, index) => ({ value: `Hello, ${index}` })));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['greet', 'slow']);
    await client.close();
  }
  expect(program.text.stdout + program.text.stderr).toContain('MCP is served at its path, /mcp');
  const rebound = await new Promise<number>((resolve, reject) => {
    const options = { method: 'POST', headers: { host: 'evil.example', 'content-type': 'application/json' } };
    const sending = request(url, options, (response) => resolve(response.resume().statusCode!));
    sending.on('error', reject).end('{}');
  });
  expect(rebound).toBe(421);
  const client = await connect('auto');
  const lock = await holdLock(database.connectionString, 1);
  const call = client.callTool({ name: 'slow' });
  await expect.poll(() => lock.waiting()).toBe(1);
  program.child.kill('SIGTERM');
  await program.until(/stopping/);
  await lock.release();
  expect((await call).structuredContent).toEqual({ value: 'done' });
  expect(await program.ended).toBe(0);
});
