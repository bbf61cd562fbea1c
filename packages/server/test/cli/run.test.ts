import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type HeldLock, holdLock, useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { terminalColumns } from '../../src/process-context.ts';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';
import { type RunningServer, runServer } from '../support/run-server.ts';

const database = useDatabase(`
  create function get_greeting(_name text default 'world') returns text language sql as $$ select 'hello ' || _name $$;
  comment on function get_greeting is 'Says hello. \u001b[31m
  HTTP';
  create function wait(_key int) returns text language sql as $$ select 'waited' from pg_advisory_xact_lock(_key) $$;
  comment on function wait is 'HTTP GET';
  create function loud() returns void language plpgsql as $$ begin raise info 'a line for the log'; end $$;
  comment on function loud is 'HTTP';
`);

async function serve(...options: readonly string[]): Promise<RunningServer> {
  return runServer(await folderWith(), `--connectionString=${database.connectionString}`, '--port=0', ...options);
}

async function answer(url: string): Promise<[number, string]> {
  const response = await fetch(url);
  return [response.status, await response.text()];
}

describe('serving', () => {
  test('prints the startup banner, serves requests, and exits with 0 at a stop signal', async () => {
    const { url, streams, ended } = await serve();

    expect(await answer(`${url}/api/get-greeting?name=you`)).toEqual([200, 'hello you']);
    expect((await answer(`${url}/_pgway/endpoints.json`))[0]).toBe(200);
    expect((await answer(`${url}/nothing`))[0]).toBe(404);
    streams.sendStop('graceful');
    expect(await ended).toBe(0);

    expect(streams.text.stderr).toBe('');
    // The tests connect as a superuser, which causes a warning.
    const lines = streams.text.stdout.split('\n').filter((line) => !line.includes('privileged-role'));
    const masked = lines.map((line) =>
      line
        .replace(/after \d+\.\d/, 'after 0.1')
        .replace(/^[\d:.]{12} /, '00:00:00.000 ')
        .replaceAll(/(?<=Ms=)[\d.]+/g, '1')
        .replace(/(?<=requestId=)\S+/, 'id'),
    );
    expect(masked).toEqual([
      'GET   /api/get-greeting[?name=]  text     Says hello. \\u001b[31m',
      'POST  /api/loud                  nothing',
      'GET   /api/wait?key=             text',
      '',
      `3 endpoints at ${url} after 0.1 s. Press Ctrl-C to stop.`,
      `Try:  curl ${url}/api/get-greeting`,
      `Or open ${url}/ in a browser.`,
      '00:00:00.000 info  GET /api/get-greeting 200 durationMs=1 databaseMs=1 rows=1 bytes=9 requestId=id address=127.0.0.1 routine=public.get_greeting(_name text)',
      '00:00:00.000 info  GET /nothing 404 durationMs=1 bytes=55 requestId=id address=127.0.0.1',
      'stopping',
      '',
    ]);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  test('running requests finish before the exit', async () => {
    const { url, streams, ended } = await serve();
    const lock = await holdLock(database.connectionString, 1);
    const running = answer(`${url}/api/wait?key=1`);
    await isWaiting(lock);

    streams.sendStop('graceful');
    await streams.until('stopping');
    await lock.release();

    expect(await running).toEqual([200, 'waited']);
    expect(await ended).toBe(0);
  });

  test('a second stop signal aborts running requests', async () => {
    const { url, streams, ended } = await serve();
    const lock = await holdLock(database.connectionString, 2);
    onTestFinished(() => lock.release());
    const running = answer(`${url}/api/wait?key=2`).catch(() => 'cut off');
    await isWaiting(lock);
    // Without timers, only the second signal can close the connection.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());

    streams.sendStop('graceful');
    streams.sendStop('forced');

    expect(await running).toBe('cut off');
    expect(await ended).toBe(0);
  });

  test('notices are logged', async () => {
    const { url, streams } = await serve();

    const { status } = await fetch(`${url}/api/loud`, { method: 'POST' });

    expect(status).toBe(204);
    await streams.until(
      /info +a line for the log routine=public\.loud\(\) severity=INFO where=PL\/pgSQL function loud\(\) line \d+ at RAISE\n/,
    );
  });

  test('log.format=json: every line is an object', async () => {
    const { streams, ended } = await serve('--log.format=json');

    streams.sendStop('graceful');
    await ended;

    const lines = streams.text.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: string; msg: string });
    expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual(
      expect.arrayContaining(['info endpoint created', 'info endpoints loaded', 'info ready', 'info stopping']),
    );
  });

  test('a public address without authentication is a warning', async () => {
    const { streams } = await serve('--host=0.0.0.0', '--workers=1');

    expect(streams.text.stdout).toMatch(
      /warn +3 of 3 endpoints need no authentication; every client that reaches this address can call them/,
    );
  });

  test('a connection beyond the limit is answered 503', async () => {
    const { url } = await serve('--limits.maxConnections=1');
    const lock = await holdLock(database.connectionString, 3);
    const running = answer(`${url}/api/wait?key=3`);
    await isWaiting(lock);

    const refused = await fetch(url);
    await lock.release();

    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await running).toEqual([200, 'waited']);
  });

  async function isWaiting(lock: HeldLock): Promise<void> {
    await expect.poll(() => lock.waiting()).toBe(1);
  }
});

describe('errors at the start: one line on stderr and exit code 1, or 2 for the configuration', () => {
  const fail = (...argv: readonly string[]): Promise<string> => failWith(1, argv);
  const refuse = (...argv: readonly string[]): Promise<string> => failWith(2, argv);

  async function failWith(code: number, argv: readonly string[]): Promise<string> {
    const streams = createTestProcess(await folderWith());
    expect(await run(argv, {}, streams)).toBe(code);
    // Warnings with a code are unrelated: the superuser of the tests, a public address.
    expect(streams.text.stdout.replace(/^.* code=[\w-]+\n/gm, '')).not.toContain('warn');
    return streams.text.stderr;
  }

  test('an unknown option', async () => {
    expect(await refuse('--prot=1')).toBe('pgway: --prot: unknown option; did you mean --port?\n');
  });

  test('an invalid connection string', async () => {
    expect(await refuse('--connectionString=nonsense')).toMatch(/^pgway: the connection string .*\n$/);
  });

  test('options that the gateway refuses', async () => {
    expect(await refuse('--authentication.antiforgeryPath=x', `--connectionString=${database.connectionString}`)).toBe(
      'pgway: antiforgeryPath: "x" must begin with a slash\n',
    );
  });

  test.each([['generate'], ['validate'], ['config'], ['init']])('an invalid configuration with %s', async (command) => {
    expect(await refuse(command, '--port=x')).toMatch(/^pgway: .*--port/);
  });

  test('an unreachable server', async () => {
    expect(await fail('--connectionString=postgres://u:geheim@127.0.0.1:1/d')).toMatch(/^pgway: .*127\.0\.0\.1:1.*\n$/);
  });

  test('an unreachable server from libpq variables', async () => {
    const streams = createTestProcess(await folderWith());

    expect(await run(['--port=0'], { PGHOST: '127.0.0.1', PGPORT: '1', PGPASSWORD: 'geheim' }, streams)).toBe(1);
    expect(streams.text.stderr).toMatch(
      /^pgway: .*127\.0\.0\.1:1.*; the database comes from PGHOST, PGPORT, PGPASSWORD; pass --connectionString=… to use another one\n$/,
    );
  });

  test('a wrong password, which is not shown', async () => {
    const url = new URL(database.connectionString);
    url.password = 'geheim';

    const line = await fail(`--connectionString=${url.href}`);

    expect(line).toMatch(/^pgway: .*password.*\n$/);
    expect(line).not.toContain('geheim');
  });

  test('no password for a server that requires one', async () => {
    const { username, host } = new URL(database.connectionString);

    expect(await fail(`--connectionString=postgres://${username}@${host}/d`)).toBe(
      `pgway: no connection to ${host}: the server requests a password; set it in the connection string or in PGPASSWORD\n`,
    );
  });

  test('TLS with a server that does not support it', async () => {
    const { host } = new URL(database.connectionString);

    expect(await fail(`--connectionString=${database.connectionString}?sslmode=require`)).toBe(
      `pgway: no connection to ${host}: the server does not support TLS, which sslmode of the connection string requires; enable TLS or use sslmode=disable\n`,
    );
  });

  test.each([
    ['asks for Kerberos', [0x52, 0, 0, 0, 8, 0, 0, 0, 7], /the server requests an unsupported authentication method/],
    ['is no PostgreSQL', [...Buffer.from('J\0\0\0\u000a5.7.44')], /start the server, or correct host and port/],
  ])('a server that %s', async (_, bytes, line) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.write(Buffer.from(bytes));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;

    const said = await fail(`--connectionString=postgres://u:geheim@127.0.0.1:${port}/d`);

    expect(said).toMatch(/^pgway: .*\n$/);
    expect(said).toMatch(line);
  });

  test.each([
    ['postgres://u:geheim@h/d', 'pgway: postgres://u:***@h/d: no such file; pass a database as --connectionString=…\n'],
    ['--postgres://u:geheim@h/d', 'pgway: --postgres://u:***@h/d: unknown option; --help lists all of them\n'],
    [
      '--gateway.connectionStrings=postgres://u:geheim@h/d',
      'pgway: gateway.connectionStrings: must be an object (from --gateway.connectionStrings)\n',
    ],
    [
      '--port=postgres://u:geheim@h/d',
      'pgway: port: must be a whole number from 0 to 65535, not "postgres://u:***@h/d" (from --port)\n',
    ],
  ])('a password in the wrong place, which is not shown: %s', async (argument, line) => {
    expect(await refuse(argument)).toBe(line);
  });

  test('an unusable data directory, with the option that sets it', async () => {
    const file = fileURLToPath(import.meta.url);

    expect(await fail(`--embedded.dataDirectory=${file}`)).toMatch(
      /^pgway: cannot use the data directory .*: it is not a directory; choose another one with --embedded\.dataDirectory=… \(.*\)\n$/,
    );
  });

  test('a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;

    expect(await fail(`--connectionString=${database.connectionString}`, `--port=${port}`)).toBe(
      `pgway: port ${port} on 127.0.0.1 is already in use; stop the other process or pass --port=${port + 1}\n`,
    );
  });

  test('a host that is not an address of this machine', async () => {
    expect(await fail(`--connectionString=${database.connectionString}`, '--workers=1', '--host=192.0.2.1')).toBe(
      'pgway: 192.0.2.1 is not an address of this machine; pass --host=127.0.0.1\n',
    );
  });
});

test.each([
  [{ isTTY: true, columns: 80 }, 80],
  [{ isTTY: true, columns: 0 }, null],
  [{ isTTY: true }, null],
  [{ isTTY: false, columns: 80 }, null],
])('an output %o has %s columns: without a width, lines are not truncated', (output, columns) => {
  expect(terminalColumns(output)).toBe(columns);
});

test('every response has the request id of its log lines', async () => {
  const { url, streams } = await serve('--log.level=debug', '--log.format=pretty');
  const headers = { 'x-request-id': 'order-4711' };
  const answered = await fetch(`${url}/api/get-greeting?nam=x`, { headers });
  expect([answered.status, answered.headers.get('x-request-id')]).toEqual([400, 'order-4711']);
  expect((await fetch(`${url}/none`)).headers.get('x-request-id')).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/);
  await streams.until(/request refused.* requestId=order-4711 /);
  const broken = await fetch(`${url}/api/wait?key=x`, { headers });
  expect(broken.status).toBe(400);
  await streams.until(/request refused.* requestId=order-4711 .* sqlstate=22P02/);
});
