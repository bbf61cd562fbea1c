/** The server in one file: it answers as the package does, from a folder without packages, as an ordinary user. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, untilNone, useDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { defaultHashOfSecret, hashOfSecret, people } from '../../core/test/auth/people.ts';
import { workbook } from '../../excel/test/workbooks.ts';
import { folderWith } from './support/folder.ts';
import { bin, type Program, start } from './support/program.ts';
import { startCollector } from './tracing/collector.ts';
import { childrenOf } from './workers/support.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const database = useDatabase(`
  ${people.replaceAll(hashOfSecret, defaultHashOfSecret)}
  create function books(_author text default null) returns table (id int, title text, published date) language sql stable
    as $$ select 1, 'Dune', date '1965-08-01' union all select 2, _author, null $$;
  comment on function books(text) is 'Lists books.
  HTTP GET';
  create function fails() returns int language plpgsql as $$ begin raise exception 'no' using errcode = 'P0002'; end $$;
  comment on function fails() is 'HTTP POST';
  create table imported (number int, fields text[]);
  create function import_row(_number int, _fields text[]) returns text language sql
    as $$ insert into imported values (_number, _fields) returning fields[1] $$;
  create function import_excel(_meta json) returns json language sql as $$ select _meta $$;
  comment on function import_excel(json) is 'HTTP POST
  upload for excel
  param _meta is upload metadata
  row_command = select import_row($1, $2)';
  create function import_csv(_meta json) returns json language sql as $$ select _meta $$;
  comment on function import_csv(json) is 'HTTP POST
  upload for csv
  param _meta is upload metadata
  row_command = select import_row($1, $2)';
  create table film (id int primary key, title text);
  comment on table film is 'HTTP
  changes';
  create publication pgway_changes for table film;
`);

let programs: string;
let executable: string;

beforeAll(async () => {
  await build();
  await promisify(execFile)(process.execPath, [join(root, 'build/executable.js')], { cwd: root });
  programs = await realpath(await mkdtemp(join(tmpdir(), 'pgway-executable-')));
  await chmod(programs, 0o755);
  executable = join(programs, 'pgway');
  await copyFile(join(root, 'dist/pgway'), executable);
});

afterAll(() => rm(programs, { recursive: true, force: true }));

const asUser = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];

/** The two forms of the program. */
const commands = (): readonly (readonly string[])[] => [
  [process.execPath, bin],
  [...asUser, executable],
];

interface Server {
  readonly program: Program;
  readonly url: string;
}

/** Starts the package and the executable with the same configuration, each in a folder of its own. */
async function serveBoth(configuration: object): Promise<readonly Server[]> {
  const settings = { port: 0, log: { format: 'json' }, connectionString: database.connectionString, ...configuration };
  const servers = commands().map(async (command): Promise<Server> => {
    const folder = await folderWith({ 'pgway.json': settings });
    await mkdir(join(folder, 'site'));
    await writeFile(join(folder, 'site/index.html'), '<h1>Books</h1>'.repeat(200));
    const program = start(folder, command);
    const [, url] = await program.until(/"url":"(http[^"]+)".*"msg":"ready"/);
    return { program, url: url! };
  });
  return Promise.all(servers);
}

/** Headers that differ from one response to the next. */
const changing = new Set(['date', 'x-request-id', 'set-cookie', 'last-modified', 'etag']);

/** Sends a request to each server, and returns the whole responses. */
function sendBoth(servers: readonly Server[], path: string, init: RequestInit = {}): Promise<readonly object[]> {
  return Promise.all(
    servers.map(async ({ url }) => {
      const response = await fetch(url + path, { redirect: 'manual', ...init });
      const headers = [...response.headers].filter(([name]) => !changing.has(name));
      return { status: response.status, headers, body: (await response.text()).replaceAll(url, '') };
    }),
  );
}

async function expectSame(
  servers: readonly Server[],
  path: string,
  init: RequestInit = {},
  status: number = 200,
): Promise<void> {
  const [ofPackage, ofExecutable] = await sendBoth(servers, path, init);
  expect({ path, ...ofExecutable }).toEqual({ path, ...ofPackage });
  expect({ path, ...ofExecutable }).toMatchObject({ path, status });
}

/** Stops the servers, and returns the exit code and the errors of each. */
async function stopBoth(servers: readonly Server[]): Promise<readonly unknown[]> {
  for (const { program } of servers) program.child.kill('SIGTERM');
  return Promise.all(servers.map(async ({ program }) => [await program.ended, program.text.stderr]));
}

const stopped = [
  [0, ''],
  [0, ''],
];

function form(name: string, type: string, content: string | Uint8Array<ArrayBuffer>): RequestInit {
  const body = new FormData();
  body.append('file', new File([content], name, { type }));
  return { method: 'POST', body };
}

describe('whole responses are those of the package', () => {
  test('of endpoints, generated documents and the start page', async () => {
    const servers = await serveBoth({ openApi: { path: '/openapi.json', docsPath: '/docs' } });
    await expectSame(servers, '/api/books?author=Frank%20Herbert');
    await expectSame(servers, '/api/books', { headers: { accept: 'text/csv' } });
    await expectSame(servers, '/api/books?unknown=1', {}, 400);
    await expectSame(servers, '/api/fails', { method: 'POST' }, 404);
    await expectSame(servers, '/api/unknown', {}, 404);
    await expectSame(servers, '/health');
    await expectSame(servers, '/openapi.json');
    await expectSame(servers, '/docs');
    await expectSame(servers, '/');
    const page = await (await fetch(servers[0]!.url)).text();
    const files = [...page.matchAll(/(?:href|src)="(\/_pgway\/[^"]*)"/g)].map(([, path]) => path!);
    expect(files).toEqual(expect.arrayContaining(['/_pgway/page.css', '/_pgway/page.js']));
    for (const file of files) {
      await expectSame(servers, file);
    }
    expect(await stopBoth(servers)).toEqual(stopped);
  });

  test('of plug-ins: compression, security headers, CORS, static files', async () => {
    const servers = await serveBoth({
      compression: { enabled: true },
      securityHeaders: { enabled: true },
      cors: { origins: ['https://app.example.org'] },
      staticFiles: { root: 'site' },
    });
    const headers = { origin: 'https://app.example.org', 'accept-encoding': 'br' };
    await expectSame(servers, '/', { headers });
    await expectSame(servers, '/api/books', { headers });
    await expectSame(
      servers,
      '/api/books',
      {
        method: 'OPTIONS',
        headers: { ...headers, 'access-control-request-method': 'GET' },
      },
      204,
    );
    expect(await stopBoth(servers)).toEqual(stopped);
  });

  test('of uploads, whose parsers are loaded by the first one', async () => {
    const servers = await serveBoth({});
    const xlsx = await workbook('<row><c t="inlineStr"><is><t>Dune</t></is></c></row>');
    const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
    await expectSame(servers, '/api/import-excel', form('books.xlsx', type, xlsx));
    await expectSame(
      servers,
      '/api/import-csv',
      form('books.csv', 'text/csv', 'Dune,1965\n"The ""Left"" Hand",1969\n'),
    );
    expect(await database.query('select distinct number, fields from imported order by fields, number')).toEqual([
      { number: 1, fields: ['Dune'] },
      { number: 1, fields: ['Dune', '1965'] },
      { number: 2, fields: ['The "Left" Hand', '1969'] },
    ]);
    expect(await stopBoth(servers)).toEqual(stopped);
  });

  test('of logins with cookies', async () => {
    const servers = await serveBoth({ cookie: { enabled: true } });
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
    const login = (password: string): RequestInit => ({
      method: 'POST',
      headers,
      body: JSON.stringify({ user: 'ada', password }),
    });
    await expectSame(servers, '/api/login', login('secret'));
    await expectSame(servers, '/api/login', login('wrong'), 404);
    await expectSame(servers, '/api/for-admins', { method: 'POST', headers }, 401);
    for (const { url } of servers) {
      const answer = await fetch(`${url}/api/login`, login('secret'));
      const cookie = answer.headers
        .getSetCookie()
        .map((line) => line.split(';', 1)[0]!)
        .join('; ');
      const called = await fetch(`${url}/api/for-admins`, { method: 'POST', headers: { ...headers, cookie } });
      expect([called.status, await called.text()]).toEqual([200, 'admin']);
    }
    expect(await stopBoth(servers)).toEqual(stopped);
  });
});

test('metrics and traces are those of the package', async () => {
  const collector = await startCollector();
  const tracing = { endpoint: collector.url, protocol: 'http/json' };
  const servers = await serveBoth({ metrics: { path: '/metrics' }, tracing });
  await sendBoth(servers, '/api/books');
  const [ofPackage, ofExecutable] = await Promise.all(
    servers.map(async ({ url }) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    }),
  );
  expect(ofExecutable).toEqual(ofPackage);
  expect(ofExecutable).toContain('process_cpu_seconds_total');
  expect(await stopBoth(servers)).toEqual(stopped);
  const names = collector.spans().map(({ name }) => name);
  expect(names.filter((name) => name === 'GET /api/books')).toHaveLength(2);
});

test('workers are processes of the executable, without secrets in their arguments, and end with it', async () => {
  const servers = await serveBoth({ workers: 2 });
  for (let call = 0; call < 4; call++) {
    await expectSame(servers, '/api/books', { headers: { connection: 'close' } });
  }
  const { program } = servers[1]!;
  const children = await childrenOf(program.child.pid!);
  expect(children).toHaveLength(2);
  for (const pid of children) {
    expect((await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')).toEqual([executable, 'worker-process', '']);
  }
  process.kill(children[0]!, 'SIGKILL');
  await program.until(/"msg":"worker \d \(process \d+\) [^"]*SIGKILL/);
  await expect.poll(async () => (await childrenOf(program.child.pid!)).length).toBe(2);
  await expectSame(servers, '/api/books');
  const last = await childrenOf(program.child.pid!);
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
  await untilNone(async () => last.filter((pid) => isAlive(pid)));
});

test('row changes are read from the log, and reach streams and WebSockets', async () => {
  const servers = await serveBoth({ crud: { enabled: true }, realtime: { path: '/realtime/v1' } });
  for (const [id, { url }] of servers.entries()) {
    const abort = new AbortController();
    onTestFinished(() => abort.abort());
    let response: Response | undefined;
    const open = async (): Promise<number> => {
      response = await fetch(`${url}/api/film/changes`, { signal: abort.signal });
      return response.status;
    };
    // The slot waits for transactions of other tests.
    await expect.poll(open).toBe(200);
    let events = '';
    const read = async (): Promise<void> => {
      for await (const chunk of response!.body!) events += Buffer.from(chunk as Uint8Array).toString();
    };
    void read().catch(() => undefined);
    const socket = new WebSocket(`${url.replace('http', 'ws')}/realtime/v1/websocket?vsn=1.0.0`);
    onTestFinished(() => socket.terminate());
    let messages = '';
    socket.on('message', (data: Buffer) => (messages += data.toString()));
    await once(socket, 'open');
    const config = { postgres_changes: [{ event: 'INSERT', schema: 'public', table: 'film' }] };
    const join = { topic: 'realtime:films', event: 'phx_join', payload: { config }, ref: '1', join_ref: '1' };
    socket.send(JSON.stringify(join));
    await expect.poll(() => messages).toContain('Subscribed to PostgreSQL');
    await database.query(`insert into film values (${id}, 'One')`);
    await expect.poll(() => messages).toContain(`"record":{"id":${id},"title":"One"}`);
    await expect.poll(() => events).toContain(`"record":{"id":${id},"title":"One"}`);
    abort.abort();
    socket.terminate();
  }
  expect(await stopBoth(servers)).toEqual(stopped);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('commands', () => {
  /** Runs a command in an empty folder; returns exit code, outputs, and the files that it has written. */
  async function outcome(program: readonly string[], args: readonly string[]): Promise<readonly unknown[]> {
    const folder = await folderWith();
    await chmod(folder, 0o777);
    const { ended, text } = start(folder, [...program, ...args]);
    const code = await ended;
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const files = await Promise.all(
      paths.toSorted().map(async (path) => [relative(folder, path), await readFile(path, 'utf8')]),
    );
    return [
      code,
      text.stdout,
      text.stderr,
      files.map(([name, content]) => [name, content!.replace(/\d{4}-\d\d-\d\dT.*/g, '')]),
    ];
  }

  test.each([
    ['--version'],
    ['--help'],
    ['init'],
    ['config', '--all'],
    ['validate', '--connectionString='],
    ['endpoints', '--json', '--connectionString='],
    ['generate', '--typescriptClient.filePath=client.ts', '--openApi.filePath=openapi.json', '--connectionString='],
    ['--prot=1'],
    ['missing.json'],
  ])('pgway %s is that of the package', async (...words) => {
    const args = words.map((word) => (word === '--connectionString=' ? `${word}${database.connectionString}` : word));
    const [ofPackage, ofExecutable] = await Promise.all(commands().map((command) => outcome(command, args)));
    expect(ofExecutable).toEqual(ofPackage);
  });

  test('hash reads a password', async () => {
    const child = promisify(execFile)(executable, ['hash'], { cwd: await folderWith() });
    child.child.stdin!.end('secret');
    expect((await child).stdout).toMatch(/^[A-Za-z0-9+/]{64}\n$/);
  });

  test('without a database, one line says what to do', async () => {
    expect(await outcome([...asUser, executable], [])).toEqual([
      1,
      '',
      'pgway: no database is configured, and this executable has no PostgreSQL; pass --connectionString=postgres://user@localhost:5432/name\n',
      [],
    ]);
  });
});

test('the licences of its parts are beside it', async () => {
  const text = await readFile(join(root, 'dist/LICENSES.txt'), 'utf8');
  const names = [...text.matchAll(/^(\S+) v?\d+\.\d+\.\d+/gm)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(['Node.js', 'fastify', 'jose', 'pg', 'pg-types', 'zod']));
  expect(text).toContain('Permission is hereby granted');
});
