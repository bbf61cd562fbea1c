import { connect } from 'node:net';
import { once } from 'node:events';
import { mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshDatabase, holdLock, useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { type RunningServer, runServer } from '../support/run-server.ts';

/** The log of a running server: access log, files, database, request tracking. */

const sql = `
  create table log (id int generated always as identity, line jsonb);
  create table visit (
    id int generated always as identity, method text, path text, status int, milliseconds float8, who text, address text, endpoint text,
    request_id text, at timestamptz, database_ms float8
  );
  create function hello(_name text default 'you') returns setof text language sql as $$ values ('hello'), (_name) $$;
  comment on function hello is 'HTTP GET';
  create function mine() returns text language sql stable as $$ select 'mine' $$;
  comment on function mine is 'HTTP GET
  authorize';
  create function reset(_token text) returns text language sql as $$ select 'done' $$;
  comment on function reset is 'HTTP GET /reset/{_token}';
  create function keep(_value text) returns text language sql as $$ select 'kept' $$;
  comment on function keep is 'HTTP POST
  security_sensitive';
  create function wait(_key int) returns text language sql as $$ select 'waited' from pg_advisory_xact_lock(_key) $$;
  comment on function wait is 'HTTP GET';
  create function loud(_text text) returns void language plpgsql as $$ begin raise info '%', _text; end $$;
  comment on function loud is 'HTTP POST';
  create function login(_name text, _password text) returns table (status int, id int, name text) language sql
    as $$ select 200, 7, _name $$;
  comment on function login is 'HTTP POST
  login';
`;
const database = useDatabase(sql);

async function serve(configuration: object, connectionString = database.connectionString): Promise<RunningServer> {
  return runServer(await folderWith({ 'pgway.json': { port: 0, connectionString, ...configuration } }));
}

type Line = Readonly<Record<string, unknown>>;

function linesOf(text: string, source: string): readonly Line[] {
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Line).filter((line) => line['source'] === source);
}

/** Returns the lines of the access log, without what differs between runs. */
function accessLines(text: string): readonly Line[] {
  return linesOf(text, 'access').map((line) => {
    const { time: _time, level: _level, source: _source, msg: _message, durationMs, databaseMs, ...fields } = line;
    expect(durationMs).toBeGreaterThan(0);
    return databaseMs === undefined ? fields : { ...fields, databaseMs: Math.sign(databaseMs as number) };
  });
}

const json = { log: { format: 'json' } };

describe('the access log', () => {
  test('has a line for each request, without the query string', async () => {
    const { url, streams, stop } = await serve({ ...json, openApi: { path: '/openapi.json' } });
    const send = async (path: string, id: string, init: RequestInit = {}): Promise<string> => {
      const response = await fetch(url + path, { ...init, headers: { 'x-request-id': id, traceparent: `t-${id}` } });
      return response.text();
    };

    await send('/api/hello?name=geheim', 'r1');
    await send('/api/hello', 'r2', { method: 'HEAD' });
    await send('/api/hello?nam=geheim', 'r3');
    await send('/api/mine', 'r4');
    await send('/nothing?x=geheim', 'r5');
    await send('/openapi.json?x=geheim', 'r6');
    await stop();

    const common = { method: 'GET', address: '127.0.0.1' };
    const hello = { ...common, path: '/api/hello', routine: 'public.hello(_name text)' };
    const trace = (id: string) => ({ requestId: id, traceparent: `t-${id}` });
    const lines = accessLines(streams.text.stdout);
    expect(lines.slice(0, 5)).toEqual([
      { ...hello, status: 200, databaseMs: 1, rows: 2, bytes: 18, ...trace('r1') },
      { ...hello, method: 'HEAD', status: 200, databaseMs: 1, rows: 2, bytes: 0, ...trace('r2') },
      { ...hello, status: 400, bytes: expect.any(Number) as number, ...trace('r3') },
      {
        ...common,
        path: '/api/mine',
        routine: 'public.mine()',
        status: 401,
        bytes: expect.any(Number) as number,
        ...trace('r4'),
      },
      { ...common, path: '/nothing', status: 404, bytes: 55, ...trace('r5') },
    ]);
    expect(lines.slice(5)).toEqual([
      { ...common, path: '/openapi.json', status: 200, bytes: expect.any(Number) as number },
    ]);
    expect(streams.text.stdout).not.toContain('geheim');
  });

  test('has the user of a request, and no password, cookie or token', async () => {
    const { url, streams, stop } = await serve({
      log: { format: 'json', level: 'debug' },
      gateway: { logCommands: true, logCommandParameters: true },
      cookie: { enabled: true },
      jwt: { enabled: true, secret: 'geheim-geheim-geheim-geheim-geheim-geheim', issuer: ['a'], audience: ['b'] },
    });
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      fetch(url + path, { method: 'POST', body: JSON.stringify(body), headers });

    expect(streams.text.stderr).toBe('');
    const signedIn = await post('/api/login', { name: 'ada', password: 'geheim' });
    const cookie = signedIn.headers.getSetCookie()[0]!.split(';')[0]!;
    expect((await fetch(`${url}/api/mine`, { headers: { cookie } })).status).toBe(200);
    const authorization = 'Bearer geheim.geheim.geheim';
    expect(
      (await fetch(`${url}/api/mine?token=geheim`, { headers: { authorization, cookie: 'a=geheim' } })).status,
    ).toBe(401);
    expect((await fetch(`${url}/reset/geheim`)).status).toBe(200);
    expect((await fetch(`${url}/reset/geheim`, { method: 'DELETE' })).status).toBe(405);
    expect((await post('/api/keep', { value: 'geheim' })).status).toBe(200);
    await stop();

    const lines = accessLines(streams.text.stdout);
    expect(lines.map(({ method, path, status, user }) => [method, path, status, user ?? null])).toEqual([
      ['POST', '/api/login', 200, null],
      ['GET', '/api/mine', 200, 'ada'],
      ['GET', '/api/mine', 401, null],
      ['GET', '/reset/{_token}', 200, null],
      ['DELETE', '/reset/{_token}', 405, null],
      ['POST', '/api/keep', 200, null],
    ]);
    expect(linesOf(streams.text.stdout, 'command').length).toBeGreaterThan(0);
    expect(streams.text.stdout).not.toContain('geheim');
    expect(streams.text.stdout).not.toContain(cookie.split('=')[1]);
  });

  test('a client that disconnects before the response is logged with 499, during it as incomplete', async () => {
    const { url, streams, stop } = await serve(json);
    const lock = await holdLock(database.connectionString, 1);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET /api/wait?key=1 HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await expect.poll(() => lock.waiting()).toBe(1);
    socket.destroy();
    await streams.until('"status":499');
    await lock.release();

    const reader = connect(Number(new URL(url).port), '127.0.0.1');
    reader.write(`GET /api/hello?name=${'x'.repeat(4000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    await once(reader, 'data');
    reader.destroy();
    await stop();

    expect(accessLines(streams.text.stdout)[0]).toMatchObject({ method: 'GET', path: '/api/wait', status: 499 });
  });

  test('can be switched off, for some paths, or by the level of its source', async () => {
    for (const log of [
      { format: 'json', levels: { access: 'silent' } },
      { format: 'json', access: { skipPaths: ['/api/hello'] } },
      { format: 'json', levels: { access: 'warn' } },
    ]) {
      const { url, streams, stop } = await serve({ log });
      await (await fetch(`${url}/api/hello?x`)).text();
      await stop();
      expect(accessLines(streams.text.stdout)).toEqual([]);
    }
  });
});

test('health checks and metrics have no access lines, wherever they are, unless skipPaths says it', async () => {
  const watched = { health: { path: '/up' }, metrics: { path: '/numbers' } };
  const linesWith = async (access: object): Promise<readonly unknown[]> => {
    const { url, streams, stop } = await serve({ ...watched, log: { format: 'json', access } });
    for (const path of ['/up', '/up/live', '/up/ready', '/numbers', '/health']) {
      await (await fetch(`${url}${path}`)).text();
    }
    await stop();
    return accessLines(streams.text.stdout).map(({ path }) => path);
  };

  expect(await linesWith({})).toEqual(['/health']);
  expect(await linesWith({ skipPaths: ['/up'] })).toEqual(['/up/live', '/up/ready', '/numbers', '/health']);
});

test('an error of a static file is logged with its request', async () => {
  const folder = await folderWith({
    'pgway.json': {
      port: 0,
      connectionString: database.connectionString,
      log: { format: 'json' },
      staticFiles: { root: 'site', templates: ['*.html'] },
    },
  });
  // A sparse file, which is too large to be read whole.
  await mkdir(join(folder, 'site'));
  await writeFile(join(folder, 'site/broken.html'), '');
  await truncate(join(folder, 'site/broken.html'), 5 * 1024 ** 3);
  const { url, streams, stop } = await runServer(folder);

  const response = await fetch(`${url}/broken.html?token=secret`, { headers: { 'x-request-id': 'abc' } });
  expect([response.status, await response.json()]).toEqual([
    500,
    { type: 'urn:pgway:problem:internal', title: expect.any(String) as string, status: 500 },
  ]);
  await stop();

  const [line] = linesOf(streams.text.stdout, 'request');
  expect(line).toMatchObject({
    level: 'error',
    msg: 'request failed',
    method: 'GET',
    path: '/broken.html',
    requestId: 'abc',
    status: 500,
  });
  expect(JSON.stringify(line)).toContain('File size (5368709120) is greater than');
  expect(streams.text.stdout).not.toContain('token=secret');
});

describe('the log file', () => {
  test('has JSON lines beside the console, with a level of its own, from start to stop', async () => {
    const { url, folder, streams, stop } = await serve({
      log: { levels: { notice: 'warn' }, file: { path: 'logs/pgway.log', level: 'debug' } },
    });
    await (await fetch(`${url}/api/hello`)).text();
    await (await fetch(`${url}/api/hello?nam=1`)).text();
    await fetch(`${url}/api/loud`, { method: 'POST', body: '{"text":"unheard"}' });
    expect(await stop()).toBe(0);

    const text = await readFile(join(folder, 'logs/pgway.log'), 'utf8');
    const messages = linesOf(text, 'start').map(({ msg }) => msg);
    expect(messages).toEqual(expect.arrayContaining(['endpoint created', 'endpoints loaded', 'ready', 'stopping']));
    expect(accessLines(text).map(({ path, status }) => [path, status])).toEqual([
      ['/api/hello', 200],
      ['/api/hello', 400],
      ['/api/loud', 204],
    ]);
    expect(text).not.toContain('unheard');
    expect(linesOf(text, 'request').map(({ level, msg }) => [level, msg])).toEqual([['debug', 'request refused']]);
    expect(streams.text.stdout).not.toContain('request refused');
  });

  test('that cannot be written: one line on standard error, the server serves, and the lines are written later', async () => {
    const folder = await folderWith({ blocked: '' });
    const path = join(folder, 'blocked/pgway.log');
    const { url, streams, stop } = await serve({ log: { format: 'json', file: { path } } });

    await expect.poll(() => streams.text.stderr).not.toBe('');
    expect((await fetch(`${url}/api/hello`)).status).toBe(200);
    await rm(join(folder, 'blocked'));
    await mkdir(join(folder, 'blocked'));
    expect(await stop()).toBe(0);

    expect(streams.text.stderr).toMatch(
      /^pgway: the log file .*blocked\/pgway\.log cannot be written, and lines may be lost: E(EXIST|NOTDIR).*\npgway: the log file .* is written again\n$/,
    );
    expect(accessLines(await readFile(path, 'utf8')).map(({ status }) => status)).toEqual([200]);
  });
});

describe('the log in the database', () => {
  const command = 'insert into log (line) values ($1::jsonb)';

  test('has the lines of a level, and the last ones when the server has stopped', async () => {
    await database.query('truncate log');
    const { url, stop } = await serve({ log: { database: { command } } });
    await (await fetch(`${url}/api/hello`)).text();
    await fetch(`${url}/api/loud`, { method: 'POST', body: JSON.stringify({ text: 'a\u009b\u001b' }) });
    expect(await stop()).toBe(0);

    const rows = await database.query(`select line from log order by id`);
    const lines = rows.map(({ line }) => line as Line);
    const shown = lines.map(({ source, msg, status }) => `${String(source)} ${String(msg)} ${String(status)}`);
    expect(shown.filter((line) => !line.includes('endpoint created') && !line.includes('privilege'))).toEqual(
      expect.arrayContaining([
        'start ready undefined',
        'access request 200',
        'access request 204',
        'start stopping undefined',
      ]),
    );
    expect(shown.at(-1)).toBe('start stopping undefined');
  });

  test('a missing table: one line on standard error, the server serves, and lines are kept until it exists', async () => {
    const own = await freshDatabase(sql);
    onTestFinished(() => own.drop());
    await own.query('drop table log');
    const configuration = { ...json, log: { format: 'json', database: { command } } };
    const { url, streams, stop } = await serve(configuration, own.connectionString);
    await expect.poll(() => streams.text.stderr).not.toBe('');

    expect((await fetch(`${url}/api/hello`)).status).toBe(200);
    await own.query('create table log (id int generated always as identity, line jsonb)');
    expect(await stop()).toBe(0);

    expect(streams.text.stderr.split('\n')).toEqual([
      'pgway: the log in the database cannot be written, and lines may be lost: relation "log" does not exist',
      'pgway: the log in the database is written again',
      '',
    ]);
    // Its own failures are no log lines.
    expect(streams.text.stdout).not.toContain('relation');
    expect(await own.query(`select count(*)::int from log where line ->> 'source' = 'access'`)).toEqual([{ count: 1 }]);
  });

  test('a command with a wrong parameter ends the start', async () => {
    const { streams, stop } = await serve({ log: { database: { command: 'insert into log (line) values ($2)' } } });
    expect(await stop()).toBe(1);
    expect(streams.text.stderr).toBe('pgway: log.database: the command has the parameter $2; there is only $1\n');
  });
});

test('request tracking runs its command for each request', async () => {
  const command =
    'insert into visit (method, path, status, milliseconds, who, address, endpoint, request_id, at, database_ms) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)';
  const { url, stop } = await serve({
    log: { levels: { access: 'silent' }, access: { skipPaths: ['/skipped'] } },
    requestTracking: { command },
  });
  const headers = { 'x-request-id': 'r1' };
  await (await fetch(`${url}/api/hello?name=geheim`, { headers })).text();
  await (await fetch(`${url}/none`, { headers })).text();
  await (await fetch(`${url}/skipped`, { headers })).text();
  expect(await stop()).toBe(0);

  const rows = await database.query(
    "select method, path, status, who, address, endpoint, request_id, milliseconds > 0 as timed, database_ms > 0 as called, at > now() - interval '1 hour' as recent from visit order by id",
  );
  const common = { method: 'GET', who: null, address: '127.0.0.1', request_id: 'r1', timed: true, recent: true };
  expect(rows).toEqual([
    { ...common, path: '/api/hello', status: 200, endpoint: 'public.hello(_name text)', called: true },
    { ...common, path: '/none', status: 404, endpoint: null, called: null },
  ]);
});
