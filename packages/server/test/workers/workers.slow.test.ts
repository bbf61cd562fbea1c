import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, isRunning, untilNone, useDatabase } from '@pgway/testing';
import { build as bundle } from 'rolldown';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createCertificate } from '../support/certificates.ts';
import { folderWith } from '../support/folder.ts';
import { bin, closed, start } from '../support/program.ts';
import { defaultHashOfSecret } from '../../../core/test/auth/people.ts';
import {
  childrenOf,
  cookieOf,
  openConnections,
  ownPage,
  parseLines,
  send,
  type Server,
  startLoad,
  startShortConnections,
  startWorkers,
} from './support.ts';

beforeAll(build);

const database = useDatabase(`
  create function few() returns text language sql stable as $$ select 'few' $$;
  comment on function few is 'HTTP GET
  rate_limit few';
  create function narrow(_seconds float) returns text language sql stable as $$ select 'narrow' from pg_sleep(_seconds) $$;
  comment on function narrow is 'HTTP GET
  rate_limit narrow';
  create table counter (n int);
  insert into counter values (0);
  create function hello() returns text language sql stable as $$ select 'hello' $$;
  comment on function hello is 'HTTP';
  create function slow(_seconds float default 0.5) returns text language sql stable as $$ select 'slow' from pg_sleep(_seconds) $$;
  comment on function slow is 'HTTP GET';
  create function faulty(_a int) returns int language sql as $$ select 1 $$;
  comment on function faulty is 'HTTP
  authrize';

  create function login(_user text, _password text) returns table (name text, hash text)
  language sql as $$ select 'ada', '${defaultHashOfSecret}' where _user = 'ada' $$;
  comment on function login is 'HTTP
  login';
  create function logout() returns void language sql as $$ $$;
  comment on function logout is 'HTTP
  logout';
  create function members() returns text language sql stable as $$ select 'in' $$;
  comment on function members is 'HTTP GET
  authorize';

  create function shout(_text text) returns void language plpgsql as $$ begin raise info '%', _text; end $$;
  comment on function shout is 'HTTP POST
  info_path
  info_scope all
  listen shouts';

  create function amount() returns int language sql stable as $$ select n from counter $$;
  comment on function amount is 'HTTP GET
  cached';
  create function increase() returns void language sql as $$ update counter set n = n + 1 $$;
  comment on function increase is 'HTTP POST
  invalidates amount';
`);

function serve(configuration: object = {}, ...args: readonly string[]): Promise<Server> {
  return startWorkers({ connectionString: database.connectionString, ...configuration }, ...args);
}

/** Starts a proxy of the database that passes nothing on before it is opened. */
async function startGate(connectionString: string) {
  const target = new URL(connectionString);
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream])
      socket.on('error', () => void [client, upstream].map((end) => end.destroy()));
    upstream.pipe(client);
    void opened.then(() => client.pipe(upstream));
  });
  const connected = once(server, 'connection');
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const through = new URL(connectionString);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { connectionString: through.href, connected, open };
}

/** Writes a file in one step: a reader finds the old content or the new one. */
async function replaceFile(path: string, content: string): Promise<void> {
  await writeFile(`${path}.unfinished`, content);
  await rename(`${path}.unfinished`, path);
}

function kill(pid: number): void {
  if (isRunning(pid)) process.kill(pid, 'SIGKILL');
}

function accessWorkers({ lines }: Server): ReadonlySet<unknown> {
  return new Set(lines().flatMap(({ source, worker }) => (source === 'access' ? [worker] : [])));
}

describe('two workers', () => {
  test('serve requests by the fast path, and count them together', async () => {
    const server = await serve({ fastPath: true, metrics: { path: '/metrics' } });
    const answers = await Promise.all(Array.from({ length: 8 }, () => server.send('GET /api/hello')));
    expect(answers.map(({ status, body }) => `${status} ${body}`)).toEqual(Array.from(answers, () => '200 hello'));
    expect((await server.send('GET /metrics')).body).toMatch(/^pgway_fast_path_requests_total 8$/m);
  });

  test('answer behind one port; what all of them find at the start is printed once', async () => {
    const server = await serve();
    const answers = await Promise.all(Array.from({ length: 8 }, () => server.send('GET /api/hello')));
    expect(answers.map(({ status, body }) => `${status} ${body}`)).toEqual(Array.from(answers, () => '200 hello'));
    // A worker that has no time leaves connections to the other one.
    await expect.poll(() => server.send('GET /api/hello').then(() => accessWorkers(server))).toEqual(new Set([1, 2]));
    const messages = server.lines().map(({ msg }) => String(msg));
    expect(messages.filter((message) => message === 'ready')).toHaveLength(1);
    expect(messages.filter((message) => message.includes('authrize'))).toHaveLength(1);
    const health = await server.send('GET /health');
    expect(JSON.parse(health.body)).toMatchObject({ status: 'ok', checks: { workers: 'ok' } });
    server.program.child.kill('SIGTERM');
    expect([await server.program.ended, server.program.text.stderr]).toEqual([0, '']);
  });

  test('their arguments have no secrets', async () => {
    const server = await serve({}, `--dataProtection.secret=a-secret-of-the-program`);
    const workers = await server.workers();
    const commands = await Promise.all(workers.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')));
    expect(commands).toHaveLength(2);
    for (const command of commands) expect(command.split('\0').slice(2)).toEqual(['']);
  });

  test('a login is valid for all workers, also for a later one, and a logout ends it for all', async () => {
    const server = await serve({ cookie: { enabled: true } });
    const { send } = server;
    const login = await send('POST /api/login', { headers: ownPage, body: { user: 'ada', password: 'secret' } });
    const headers = { ...ownPage, cookie: cookieOf(login) };
    const statuses = async (): Promise<readonly number[]> => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => send('GET /api/members', { headers })));
      return [...new Set(answers.map(({ status }) => status))];
    };
    expect([login.status, await statuses()]).toEqual([200, [200]]);
    expect((await send('POST /api/logout', { headers })).status).toBe(200);
    expect(await statuses()).toEqual([401]);
    process.kill((await server.workers())[0]!, 'SIGKILL');
    await server.logged('runs again');
    expect(await statuses()).toEqual([401]);
    const again = await send('POST /api/login', { headers: ownPage, body: { user: 'ada', password: 'secret' } });
    expect(again.status).toBe(200);
    expect((await send('GET /api/members', { headers: { cookie: cookieOf(again) } })).status).toBe(200);
  });

  test('failed logins count together', async () => {
    const { send } = await serve({ cookie: { enabled: true }, authentication: { loginRateLimit: { perUser: 3 } } });
    const statuses: number[] = [];
    for (let count = 0; count < 5; count++) {
      const answer = await send('POST /api/login', { headers: ownPage, body: { user: 'ada', password: 'wrong' } });
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([404, 404, 404, 429, 429]);
  });

  test('an event reaches the streams of all workers', async () => {
    const server = await serve();
    const texts = await Promise.all(Array.from({ length: 4 }, () => openStream(`${server.url}/api/shout/info`)));
    await server.send('POST /api/shout', { headers: ownPage, body: { text: 'hey' } });
    await expect.poll(() => texts.map((read) => read().includes('data: hey'))).toEqual([true, true, true, true]);
  });

  test('a client that reconnects to any worker, also to a new one, gets the events that it missed, once', async () => {
    const server = await serve();
    const shout = (text: string): Promise<unknown> =>
      server.send('POST /api/shout', { headers: ownPage, body: { text } });
    const first = await openStream(`${server.url}/api/shout/info`);
    await shout('one');
    await expect.poll(() => messages(first())).toEqual(['one']);
    const lastId = /id: (\d+)\ndata: one/.exec(first())![1]!;
    await shout('two');
    await database.query("notify shouts, 'three'");
    await expect.poll(() => messages(first())).toEqual(['one', 'two', 'three']);
    const resume = async (): Promise<readonly string[]> => {
      const texts = await Promise.all(
        Array.from({ length: 4 }, () => openStream(`${server.url}/api/shout/info`, { 'last-event-id': lastId })),
      );
      await expect.poll(() => texts.every((text) => text().includes('data: three'))).toBe(true);
      return texts.map((text) => text().replaceAll(/^id: .*\n/gm, ''));
    };
    const missed = ':\n\ndata: two\n\ndata: three\n\n';
    expect(await resume()).toEqual([missed, missed, missed, missed]);
    // The new workers have seen none of the events.
    for (const pid of await server.workers()) {
      kill(pid);
      await server.logged(`process ${pid}\\) has exited unexpectedly`);
      await expect.poll(async () => (await server.send('GET /health')).body).toContain('"workers":"ok"');
    }
    expect(await resume()).toEqual([missed, missed, missed, missed]);
    server.program.child.kill('SIGHUP');
    await server.logged('the new workers have taken over');
    expect(await resume()).toEqual([missed, missed, missed, missed]);
  });

  test('a client that reconnects at once, 30 times, misses no event', async () => {
    const server = await serve();
    const received: string[] = [];
    let lastId = '';
    let sent = 0;
    for (let connections = 0; connections < 30; connections++) {
      const read = await openStream(`${server.url}/api/shout/info`, lastId === '' ? {} : { 'last-event-id': lastId });
      await expect.poll(() => read()).toMatch(/^:\n/);
      await server.send('POST /api/shout', { headers: ownPage, body: { text: `${++sent}` } });
      // Events during the disconnect are replayed.
      await expect.poll(() => messages(read()).at(-1)).toBe(String(sent));
      read.close();
      received.push(...messages(read()));
      lastId = [...read().matchAll(/^id: (\d+)$/gm)].at(-1)![1]!;
      expect(read()).not.toContain('event: gap');
      await server.send('POST /api/shout', { headers: ownPage, body: { text: `${++sent}` } });
    }
    const expected = Array.from({ length: sent - 1 }, (_, index) => String(index + 1));
    expect(received).toEqual(expected);
  });

  test('a notification of the database is one event, whichever workers have received it', async () => {
    const server = await serve();
    const texts = await Promise.all(Array.from({ length: 4 }, () => openStream(`${server.url}/api/shout/info`)));
    await database.query("notify shouts, 'a'");
    await database.query("notify shouts, 'a'");
    kill((await server.workers())[0]!);
    await server.logged('runs again');
    await database.query("notify shouts, 'a'");
    await database.query("notify shouts, 'b'");
    const living = (): readonly string[] => texts.map((text) => text()).filter((text) => text.includes('data: b'));
    await expect.poll(() => living().length).toBeGreaterThan(0);
    for (const text of living()) expect(messages(text)).toEqual(['a', 'a', 'a', 'b']);
  });

  test('an invalidation has reached all caches when the call is answered', async () => {
    const { send } = await serve();
    const counts = async (): Promise<readonly string[]> => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => send('GET /api/amount')));
      return [...new Set(answers.map(({ body }) => body))];
    };
    const [before] = await counts();
    for (let more = 1; more < 6; more++) {
      await send('POST /api/increase', { headers: ownPage });
      expect(await counts()).toEqual([String(Number(before) + more)]);
    }
  });

  test('--watch reloads the endpoints of all workers, also those of SQL files, and says so once', async () => {
    const server = await serve({ sqlFiles: 'api/*.sql' }, '--watch');
    await database.query("create function fresh() returns int language sql stable as 'select 1'");
    await database.query("comment on function fresh is 'HTTP'");
    onTestFinished(() => database.query('drop function fresh()').then(() => undefined));
    const answers = async (line: string): Promise<ReadonlySet<string>> => {
      const all = await Promise.all(Array.from({ length: 4 }, () => server.send(line)));
      return new Set(all.map(({ status, body }) => `${status} ${body}`));
    };
    await expect.poll(() => answers('GET /api/fresh')).toEqual(new Set(['200 1']));
    const file = join(server.folder, 'api/saved.sql');
    await mkdir(dirname(file));
    for (const number of [1, 2]) {
      await replaceFile(file, `-- HTTP\nselect ${number} as n, current_setting('transaction_read_only') as mode`);
      await expect.poll(() => answers('GET /api/saved')).toEqual(new Set([`200 [{"n":${number},"mode":"off"}]`]));
    }
    await replaceFile(file, '-- HTTP\nselect titel from film');
    await server.logged('changed file api/saved.sql');
    await expect
      .poll(() => answers('GET /api/saved').then((all) => [...all].map((text) => text.slice(0, 3))))
      .toEqual(['404']);
    server.program.child.kill('SIGTERM');
    expect(await server.program.ended).toBe(0);
    const changes = server.lines().filter(({ msg }) => /^(?:added|changed|removed) /.test(String(msg)));
    expect(changes.map(({ msg }) => msg)).toEqual([
      'added GET /api/fresh (public.fresh())',
      'added file api/saved.sql',
      'added GET /api/saved (api/saved.sql)',
      'changed file api/saved.sql',
      'changed file api/saved.sql',
      'removed GET /api/saved (api/saved.sql)',
    ]);
    const fault = server.lines().filter(({ msg }) => String(msg).includes('relation "film" does not exist'));
    expect(fault).toHaveLength(1);
  });

  test('share a log file, whose lines are complete', async () => {
    const server = await serve({ log: { format: 'json', level: 'info', file: { path: 'pgway.log' } } });
    await Promise.all(Array.from({ length: 200 }, () => server.send('GET /api/hello')));
    server.program.child.kill('SIGTERM');
    expect(await server.program.ended).toBe(0);
    const lines = parseLines(await readFile(join(server.folder, 'pgway.log'), 'utf8'));
    const access = lines.filter(({ source }) => source === 'access');
    expect([access.length, new Set(access.map(({ worker }) => worker))]).toEqual([200, new Set([1, 2])]);
    expect(lines.filter(({ msg }) => msg === 'stopping')).toHaveLength(1);
    expect(server.lines().filter(({ source }) => source === 'access')).toHaveLength(200);
  });
});

describe('the counters of two workers', () => {
  test('requests count together in rate limits, and those of a killed worker end', async () => {
    const server = await serve({
      rateLimits: {
        policies: {
          few: { type: 'fixed-window', limit: 3, window: 3600 },
          narrow: { type: 'concurrency', limit: 2 },
        },
      },
    });
    const few = await Promise.all(Array.from({ length: 6 }, () => server.send('GET /api/few')));
    expect(few.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(3);
    const narrow = (seconds: number): Promise<number> =>
      server.send(`GET /api/narrow?seconds=${seconds}`).then(
        ({ status }) => status,
        () => 0,
      );
    // Any two of them run; the others are refused at once.
    const statuses: number[] = [];
    const first = Array.from({ length: 4 }, () => narrow(25).then((status) => statuses.push(status)));
    await expect.poll(() => statuses).toEqual([429, 429]);
    for (const pid of await server.workers()) process.kill(pid, 'SIGKILL');
    await Promise.all(first);
    expect(statuses).toEqual([429, 429, 0, 0]);
    await server.logged('worker 2 runs again');
    await server.logged('worker 1 runs again');
    expect(await Promise.all([narrow(0.1), narrow(0.1)])).toEqual([200, 200]);
  });
});

test('HTTPS, HTTP/2 and redirects have one port each; a warning about the certificate is printed once', async () => {
  const { certificate, key } = await createCertificate({ validFrom: -3, validTo: -1 });
  const folder = await folderWith({ 'server.crt': certificate, 'server.key': key });
  const tls = { certificate: join(folder, 'server.crt'), key: join(folder, 'server.key'), redirectPort: 0 };
  const server = await startWorkers({ connectionString: database.connectionString, tls });
  const session = connectHttp2(server.url, { rejectUnauthorized: false });
  onTestFinished(() => session.destroy());
  const status = await new Promise((resolve, reject) => {
    session.on('error', reject);
    const stream = session.request({ ':path': '/api/hello' });
    stream.on('response', (headers) => resolve(headers[':status'])).end();
  });
  const [, redirectPort] = await server.program.until(/Requests to port (\d+) are redirected/);
  const redirects = await Promise.all(
    [1, 2, 3, 4].map(() => send(`http://127.0.0.1:${redirectPort}`, 'GET /api/hello')),
  );
  expect([status, redirects.map(({ headers }) => headers.location)]).toEqual([
    200,
    Array.from(redirects, () => `${server.url}/api/hello`),
  ]);
  const warnings = server.lines().filter(({ msg }) => String(msg).includes('the TLS certificate expired'));
  expect(warnings).toHaveLength(1);
  server.program.child.kill('SIGTERM');
  expect([await server.program.ended, server.program.text.stderr]).toEqual([0, '']);
});

describe('failures', () => {
  test('a worker that is killed under load is replaced, while the other one serves', async () => {
    const server = await serve();
    const load = startLoad(server.url, 'GET /api/hello', 8);
    await load.responses(100);
    const before = await server.workers();
    process.kill(before[0]!, 'SIGKILL');
    await server.logged('runs again');
    await load.responses(200);
    const { statuses, errors } = await load.stop();
    // Only the connections of the killed worker fail.
    expect([Object.keys(statuses), errors.length <= 8]).toEqual([['200'], true]);
    const after = await server.workers();
    expect([after.length, after.includes(before[0]!), after.includes(before[1]!)]).toEqual([2, false, true]);
    expect(server.program.text.stdout).toContain(`worker 1 (process ${before[0]}) has exited unexpectedly (SIGKILL)`);
    await expect.poll(async () => JSON.parse((await server.send('GET /health')).body)).toMatchObject({ status: 'ok' });
  });

  test('50 workers killed under load, also all at once, and 20 stopped: no client hangs, no descriptor is left', async () => {
    const server = await serve({ workers: 4, gateway: { poolSize: 8 } });
    const port = Number(new URL(server.url).port);
    const primary = server.program.child.pid!;
    const clients = startShortConnections(server.url, 'GET /api/hello', 16);
    const taken = (): number => server.lines().filter(({ msg }) => msg === 'the new workers have taken over').length;
    for (let round = 0; round < 10; round++) {
      for (let killed = 0; killed < 5; killed++) {
        // In every second round, no worker is left for a moment.
        const running = await server.workers();
        for (const pid of round % 2 === 0 ? running.slice(0, 1) : running) kill(pid);
        if (round % 2 === 0) await server.send('GET /api/hello').catch(() => null);
      }
      await expect.poll(async () => (await server.workers()).length).toBeGreaterThan(0);
      if (round % 2 === 0) continue;
      // Old workers stop; the failures of the workers no longer delay their replacements.
      server.program.child.kill('SIGHUP');
      await expect.poll(taken).toBe((round + 1) / 2);
    }
    const outcomes = await clients.stop();
    expect(Object.keys(outcomes).toSorted()).toEqual(['200', 'closed']);
    const processes = async (): Promise<readonly number[]> => [primary, ...(await server.workers())];
    const left = async (): Promise<number> => {
      const counts = await Promise.all((await processes()).map((pid) => openConnections(pid, port).catch(() => 0)));
      return counts.reduce((sum, count) => sum + count, 0);
    };
    await expect.poll(left).toBe(0);
    expect((await server.send('GET /api/hello')).status).toBe(200);
    server.program.child.kill('SIGTERM');
    expect(await server.program.ended).toBe(0);
  });

  test('without a worker, connections are closed, and the port serves again when one has started', async () => {
    const role = `workers_${randomBytes(8).toString('hex')}`;
    await database.query(`create role ${role} login password 'secret'`);
    onTestFinished(() => database.query(`drop role ${role}`).then(() => undefined));
    const url = new URL(database.connectionString);
    Object.assign(url, { username: role, password: 'secret' });
    const server = await serve({ connectionString: url.href });
    await database.query(`alter role ${role} nologin`);
    for (const pid of await server.workers()) kill(pid);
    await server.logged('cannot start');
    await expect(server.send('GET /api/hello')).rejects.toThrow(/socket hang up|ECONNRESET/);
    await database.query(`alter role ${role} login`);
    await server.logged('runs again');
    expect((await server.send('GET /api/hello')).status).toBe(200);
  });

  test('a worker that cannot start while the first one serves does not end the server', async () => {
    const folder = await folderWith({
      'pgway.json': { port: 0, workers: 2, log: { format: 'json' }, connectionString: database.connectionString },
    });
    const program = start(folder, [process.execPath, bin]);
    const workers = (): Promise<readonly number[]> => childrenOf(program.child.pid!);
    await expect.poll(() => workers().then(({ length }) => length), { interval: 5 }).toBe(2);
    process.kill((await workers()).at(-1)!, 'SIGKILL');
    const [, url] = await program.until(/"url":"(http[^"]+)".*"msg":"ready"/);
    expect((await send(url!, 'GET /api/hello')).status).toBe(200);
    await program.until(/worker 2 cannot start, and is tried again in 1 s: [^"]*\(SIGKILL\)/);
    await program.until(/worker 2 runs again/);
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
  });

  test('a client that sends half a request head is disconnected after headersTimeout', async () => {
    const server = await serve({ limits: { headersTimeout: 1 } });
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write('GET /api/hello HTTP/1.1\r\nhost: localhost\r\n');
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('no process is left when the primary is killed', async () => {
    const server = await serve();
    const workers = await server.workers();
    expect(workers).toHaveLength(2);
    server.program.child.kill('SIGKILL');
    expect(await untilNone(() => Promise.resolve(workers.filter((pid) => isRunning(pid))))).toEqual([]);
    await closed(Number(new URL(server.url).port));
  });

  test('the end of the embedded database ends all processes with 1', async () => {
    const server = await startWorkers({ embedded: { dataDirectory: 'data' } });
    // The workers, the PostgreSQL server and its watchdog, which ends shortly after the primary.
    const children = await server.workers();
    const pid = Number(
      (await readFile(join(server.folder, 'data', 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0],
    );
    process.kill(pid, 'SIGKILL');
    expect(await server.program.ended).toBe(1);
    expect(server.program.text.stderr).toContain('the PostgreSQL server exited unexpectedly (SIGKILL)');
    expect(await untilNone(() => Promise.resolve(children.filter((child) => isRunning(child))))).toEqual([]);
  });

  test.each([
    [
      'a database that is not there',
      { connectionString: 'postgres://postgres@127.0.0.1:1/postgres' },
      1,
      'pgway: no connection to 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1; start the server, or correct host and port\n',
    ],
    [
      'settings that are not for production',
      { host: '0.0.0.0', cookie: { enabled: true, secure: 'always' } },
      2,
      expect.stringMatching(/^pgway: not for production: [^\n]+\n$/) as string,
    ],
  ])('%s is reported once', async (_, configuration, code, message) => {
    const folder = await folderWith({
      'pgway.json': { port: 0, workers: 2, connectionString: database.connectionString, ...configuration },
    });
    const program = start(folder, [process.execPath, bin]);
    expect([await program.ended, program.text.stderr]).toEqual([code, message]);
  });

  test('a port that is in use is reported once', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { readonly port: number };
    const folder = await folderWith({
      'pgway.json': { port, workers: 2, connectionString: database.connectionString },
    });
    const program = start(folder, [process.execPath, bin]);
    expect([await program.ended, program.text.stderr]).toEqual([
      1,
      `pgway: port ${port} on 127.0.0.1 is already in use; stop the other process or pass --port=${port + 1}\n`,
    ]);
  });
});

describe('SIGHUP', () => {
  const write = ({ folder }: Server, configuration: object): Promise<void> =>
    writeFile(
      join(folder, 'pgway.json'),
      JSON.stringify({
        port: 0,
        workers: 2,
        log: { format: 'json' },
        connectionString: database.connectionString,
        ...configuration,
      }),
    );

  test('under load: new workers with the new configuration take over, and no request is lost', async () => {
    const server = await serve({ limits: { keepAliveTimeout: 5 } });
    const load = startLoad(server.url, 'GET /api/hello', 8);
    const slow = server.send('GET /api/slow');
    await load.responses(200);
    const before = await server.workers();
    await write(server, { securityHeaders: { enabled: true }, limits: { keepAliveTimeout: 5 }, workers: 3 });
    server.program.child.kill('SIGHUP');
    await server.logged('the new workers have taken over');
    await load.responses(500);
    expect(await untilNone(() => Promise.resolve(before.filter((pid) => isRunning(pid))))).toEqual([]);
    await load.responses(100);
    const { statuses, errors } = await load.stop();
    expect([Object.keys(statuses), errors]).toEqual([['200'], []]);
    expect((await slow).body).toBe('slow');
    expect((await server.send('GET /api/hello')).headers['x-frame-options']).toBe('DENY');
    expect(await server.workers()).toHaveLength(3);
    expect(server.program.text.stdout).not.toContain('unexpectedly');
    server.program.child.kill('SIGTERM');
    expect([await server.program.ended, server.program.text.stderr]).toEqual([0, '']);
  });

  test('a configuration that is not valid or does not start changes nothing, and every error is logged', async () => {
    const server = await serve();
    const before = await server.workers();
    await write(server, { port: 'x', gateway: { poolSize: 0 } });
    server.program.child.kill('SIGHUP');
    await server.logged('the workers stay as they are: port');
    await server.logged('the workers stay as they are: gateway.poolSize');
    await write(server, { connectionString: 'postgres://127.0.0.1:1/x' });
    server.program.child.kill('SIGHUP');
    await server.logged('the workers stay as they are: no connection to 127.0.0.1:1');
    await untilNone(async () => (await server.workers()).filter((pid) => !before.includes(pid)));
    expect(await server.workers()).toEqual(before);
    expect((await server.send('GET /api/hello')).status).toBe(200);
  });

  test('many times: nothing is left of a reload, and Node has nothing to warn of', async () => {
    const server = await serve();
    const taken = (): number => server.lines().filter(({ msg }) => msg === 'the new workers have taken over').length;
    for (let reload = 1; reload <= 7; reload++) {
      server.program.child.kill('SIGHUP');
      await expect.poll(taken, { timeout: 30_000 }).toBe(reload);
    }
    server.program.child.kill('SIGTERM');
    expect([await server.program.ended, server.program.text.stderr]).toEqual([0, '']);
  });

  test('settings of the primary stay as they are, which is logged', async () => {
    const server = await serve();
    await write(server, { port: 1, log: { format: 'json', level: 'error' } });
    server.program.child.kill('SIGHUP');
    await server.logged('the new workers have taken over');
    const messages = server.lines().map(({ msg }) => String(msg));
    expect(messages.filter((message) => message.includes('needs a restart'))).toEqual([
      'port has changed, which needs a restart',
      'log has changed, which needs a restart',
    ]);
    expect((await server.send('GET /api/hello')).status).toBe(200);
  });

  test.each([
    [1, /"msg":"SIGHUP: reading the endpoints again/],
    [2, /"msg":"the new workers have taken over"/],
  ])('during the start is remembered until the server is ready (workers: %i)', async (workers, reloaded) => {
    const gate = await startGate(database.connectionString);
    const folder = await folderWith({
      'pgway.json': { port: 0, workers, log: { format: 'json' }, connectionString: gate.connectionString },
    });
    const program = start(folder, [process.execPath, bin]);
    await gate.connected;
    program.child.kill('SIGHUP');
    gate.open();
    await program.until(/"msg":"ready"/);
    expect((await program.until(reloaded))[0]).not.toBe('');
  });

  test('one process reads the endpoints again', async () => {
    const server = await serve({ workers: 1 });
    expect((await server.send('GET /api/later')).status).toBe(404);
    await database.query("create function later() returns int language sql stable as 'select 1'");
    await database.query("comment on function later is 'HTTP'");
    onTestFinished(() => database.query('drop function later()').then(() => undefined));
    server.program.child.kill('SIGHUP');
    await expect.poll(async () => (await server.send('GET /api/later')).status).toBe(200);
    expect(await server.workers()).toEqual([]);
  });
});

test('a process that has too many open files says so, and starts a worker when it has fewer', async () => {
  const input = fileURLToPath(new URL('../../src/workers/worker-handle.ts', import.meta.url));
  const file = join(await folderWith(), 'worker-handle.mjs');
  await bundle({ input, platform: 'node', output: { file }, logLevel: 'silent' });
  const script = `
    import { closeSync, openSync } from 'node:fs';
    import { workerSpawner } from ${JSON.stringify(pathToFileURL(file).href)};
    process.on('uncaughtException', (error) => console.log('uncaught', error));
    const spawn = workerSpawner(process);
    const files = [];
    try { for (;;) files.push(openSync('/dev/null')); } catch {}
    try { spawn(); } catch (error) { console.log(error.name, error.message); }
    for (const file of files) closeSync(file);
    const worker = spawn();
    worker.exited.then((reason) => { console.log(reason); process.exit(); });
    worker.kill();
  `;
  const command = 'ulimit -n 256 && exec "$0" --input-type=module --eval "$1"';
  const program = start('.', ['/bin/sh', '-c', command, process.execPath, script]);
  expect(await program.ended).toBe(0);
  expect(program.text.stdout).toMatch(
    /^WorkerCrash a worker cannot start, as this process has too many open files; .*\nSIGKILL\n$/,
  );
});

describe('SIGTERM', () => {
  test('under load: responses that were begun are finished, and the program ends with 0', async () => {
    const server = await serve();
    const load = startLoad(server.url, 'GET /api/hello', 4);
    await load.responses(100);
    const slow = Array.from({ length: 2 }, () => server.send('GET /api/slow?seconds=4'));
    const sleeping = "select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()";
    await expect.poll(() => database.query(sleeping)).toHaveLength(2);
    server.program.child.kill('SIGTERM');
    expect(await server.program.ended).toBe(0);
    const { statuses } = await load.stop();
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200]);
    expect([Object.keys(statuses), server.program.text.stderr]).toEqual([['200'], '']);
  });

  test('a signal to all processes, as of Ctrl-C in a terminal, is one to the primary; a second one ends requests', async () => {
    const server = await serve({ shutdownDelay: 60 });
    const workers = await server.workers();
    for (const pid of [server.program.child.pid!, ...workers]) process.kill(pid, 'SIGINT');
    await expect.poll(async () => (await server.send('GET /health/ready')).status).toBe(503);
    expect((await server.send('GET /api/hello')).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 600));
    server.program.child.kill('SIGINT');
    expect(await server.program.ended).toBe(0);
    expect(await untilNone(() => Promise.resolve(workers.filter((pid) => isRunning(pid))))).toEqual([]);
  });
});

interface OpenStream {
  /** Returns the text so far. */
  (): string;
  close(): void;
}

function openStream(url: string, headers: Readonly<Record<string, string>> = {}): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const stream = get(url, { agent: false, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('error', () => undefined);
      resolve(Object.assign(() => text, { close: () => void stream.destroy() }));
    });
    stream.on('error', reject);
    onTestFinished(() => void stream.destroy());
  });
}

function messages(text: string): readonly string[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, message]) => message!);
}

test('each worker reports origins without CORS that its own connections have', async () => {
  const server = await startWorkers({ connectionString: database.connectionString });
  // The connections go to the workers in turn.
  for (const port of [3001, 3002, 3003, 3004]) {
    await server.send('GET /api/hello', { headers: { origin: `http://localhost:${port}` } });
  }
  const origins = (): readonly string[] =>
    server.lines().flatMap(({ msg }) => /a page of (\S+) calls/.exec(String(msg))?.[1] ?? []);
  await expect
    .poll(() => origins().toSorted())
    .toEqual(['http://localhost:3001', 'http://localhost:3002', 'http://localhost:3003', 'http://localhost:3004']);
});
