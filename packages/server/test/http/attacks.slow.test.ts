/** Attacks on the program with many or strange connections of HTTP/1.1: limits hold, memory too, and other clients are served. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { build, useDatabase } from '@pgway/testing';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type AttackedProgram, helloSql, startAttacked } from '../support/attacked-program.ts';
import { openRaw } from '../support/raw-client.ts';
import { isEstablished } from '../support/tcp-table.ts';

beforeAll(build);

const database = useDatabase(`${helloSql}
  create function letters(_length int) returns text language sql stable as $$ select repeat('a', _length) $$;
  comment on function letters is 'HTTP GET';
  create function save(_a int) returns text language sql as $$ select 'saved' $$;
  comment on function save is 'HTTP POST';
  create function wait(_seconds float) returns text language sql as $$ select 'waited' from pg_sleep(_seconds) $$;
  comment on function wait is 'HTTP GET';
`);

/** A client of an attack. */
interface Attacker {
  readonly socket: Socket;
  received: string;
  isClosed: boolean;
}

interface Attack {
  readonly count: number;
  /** Written to each connection. */
  readonly bytes: string;
  /** Without it, the connections come from many addresses. */
  readonly from?: string;
}

/** Opens connections, which are closed at the end of the test. */
async function attack(attacked: AttackedProgram, { count, bytes, from }: Attack): Promise<readonly Attacker[]> {
  const clients: Attacker[] = [];
  onTestFinished(() => clients.forEach(({ socket }) => socket.destroy()));
  // The kernel queues 511 connections that the server has not accepted, and drops others.
  while (clients.length < count) {
    const batch = Array.from({ length: Math.min(250, count - clients.length) }, (_, index) =>
      connectAttacker(attacked.port, from ?? `127.1.${index}.1`, bytes),
    );
    clients.push(...batch);
    // One batch after the other.
    await expect.poll(() => batch.every(({ socket, isClosed }) => isClosed || !socket.connecting)).toBe(true);
    await isAnswered(attacked);
  }
  return clients;
}

function connectAttacker(port: number, localAddress: string, bytes: string): Attacker {
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
  const client: Attacker = { socket, received: '', isClosed: false };
  socket.setEncoding('latin1').on('data', (data: string) => (client.received += data));
  socket.on('end', () => socket.destroy());
  socket.on('error', (error: NodeJS.ErrnoException) => (client.received ||= error.code!));
  socket.on('close', () => (client.isClosed = true));
  socket.write(bytes);
  return client;
}

/** Waits until the server has accepted, or dropped, a connection that is behind all others. */
async function isAnswered({ port }: AttackedProgram): Promise<void> {
  const { socket, isClosed } = connectAttacker(port, '127.0.0.8', '');
  const client = { isClosed };
  socket.on('close', () => (client.isClosed = true)).end();
  await expect.poll(() => client.isClosed).toBe(true);
}

const closedOf = (clients: readonly Attacker[]): number => clients.filter(({ isClosed }) => isClosed).length;

function statusesOf(clients: readonly Attacker[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { received } of clients) {
    const status = received.startsWith('HTTP') ? received.slice(9, 12) : received;
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

interface Measured {
  readonly attacked: AttackedProgram;
  /** Fails when the process has grown by this number of MiB or more since the start, or has written errors. */
  readonly expectMemory: (limit: number) => Promise<void>;
}

async function serve(configuration: object): Promise<Measured> {
  const attacked = await startAttacked(database.connectionString, configuration);
  for (let count = 0; count < 20; count += 1) {
    // One after the other.
    await attacked.serveOthers();
  }
  const before = await attacked.memory();
  return {
    attacked,
    expectMemory: async (limit) => {
      expect((await attacked.memory()) - before).toBeLessThan(limit);
      expect(attacked.program.text.stderr).toBe('');
    },
  };
}

vi.setConfig({ testTimeout: 120_000 });
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

const post = 'POST /api/save HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

test.each([
  ['headers', 'GET /api/hello HTTP/1.1\r\nHost: localhost\r\nX-A: '],
  ['nothing', ''],
  ['a body', `${post}Content-Length: 1000\r\n\r\n`],
  ['the size of a chunk', `${post}Transfer-Encoding: chunked\r\n\r\n0`],
])('1,000 clients that send %s slowly', async (_, bytes) => {
  const { attacked, expectMemory } = await serve({ limits: { headersTimeout: 2, requestTimeout: 2 } });
  const clients = await attack(attacked, { count: 1000, bytes });
  const trickle = setInterval(() => {
    if (bytes !== '') for (const { socket } of clients) if (socket.writable) socket.write('0');
  }, 200);
  onTestFinished(() => clearInterval(trickle));
  await attacked.serveOthers();
  await expect.poll(() => closedOf(clients)).toBe(1000);
  // A client that goes on sending may lose the answer.
  const { 408: late = 0, '': unanswered = 0, ECONNRESET: isReset = 0, ...rest } = statusesOf(clients);
  expect([late > 0, late + unanswered + isReset, rest]).toEqual([true, 1000, {}]);
  await attacked.serveOthers();
  await expectMemory(250);
});

test('1,000 clients that begin no TLS handshake', async () => {
  const { attacked, expectMemory } = await serve({
    limits: { headersTimeout: 2 },
    tls: { certificate: 'server.crt', key: 'server.key' },
  });
  const clients = await attack(attacked, { count: 1000, bytes: '' });
  await attacked.serveOthers();
  await expect.poll(() => closedOf(clients)).toBe(1000);
  await attacked.serveOthers();
  await expectMemory(250);
});

test('ten times as many connections as allowed: 503, then no answer, and the open ones are served', async () => {
  const { attacked, expectMemory } = await serve({ limits: { maxConnections: 500 } });
  const first = await attack(attacked, { count: 499, bytes: get('/api/hello?name=a') });
  await expect.poll(() => statusesOf(first)).toEqual({ 200: 499 });
  const others = await attack(attacked, { count: 5000, bytes: get('/api/hello?name=a') });
  // One of them may get the last place.
  await expect.poll(() => closedOf(others)).toBeGreaterThanOrEqual(4999);
  const { 200: served = 0, 503: busy = 0, '': dropped = 0, ECONNRESET: isReset = 0 } = statusesOf(others);
  expect([served <= 1, busy > 0, served + busy + dropped + isReset]).toEqual([true, true, 5000]);
  for (const { socket } of first) socket.write(get('/api/hello?name=b'));
  await expect.poll(() => first.filter(({ received }) => received.includes('Hello b')).length).toBe(499);
  first[0]!.socket.destroy();
  await expect
    .poll(() =>
      attacked.serveOthers().then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  await expectMemory(250);
});

test('an address with more connections than allowed does not hinder others', async () => {
  const { attacked, expectMemory } = await serve({ limits: { maxConnectionsPerAddress: 100 } });
  const clients = await attack(attacked, { count: 3000, bytes: '', from: '127.0.0.2' });
  await attacked.serveOthers();
  await expect.poll(() => closedOf(clients)).toBe(2900);
  await attacked.serveOthers();
  await expectMemory(150);
});

test('1 GiB of headers: 431 at once', async () => {
  const { attacked, expectMemory } = await serve({});
  const { socket, text, closed } = openRaw({ port: attacked.port });
  socket.write('GET /api/hello HTTP/1.1\r\nHost: localhost\r\n');
  const chunk = `X-A: ${'b'.repeat(1000)}\r\n`.repeat(1000);
  const write = (): void => {
    while (socket.writable && socket.bytesWritten < 1024 ** 3 && socket.write(chunk));
  };
  socket.on('drain', write);
  write();
  await closed;
  expect(text()).toMatch(/^HTTP\/1\.1 431 /);
  expect(socket.bytesWritten).toBeLessThan(1024 ** 3);
  await attacked.serveOthers();
  await expectMemory(150);
});

test('40 clients that request 8 MB and do not read', async () => {
  const { attacked, expectMemory } = await serve({
    // Other calls wait for connections as long as a busy machine needs to cancel those of the slow clients.
    gateway: { slowClientTimeout: 2, acquireTimeout: 60, commandTimeout: 600 },
    limits: { keepAliveTimeout: 2 },
  });
  const clients = await attack(attacked, { count: 40, bytes: '' });
  for (const { socket } of clients) socket.pause().write(get('/api/letters?length=8000000'));
  await attacked.serveOthers();
  const connections = `select count(*)::int from pg_stat_activity where datname = current_database() and state = 'active' and query like '%letters%' and pid <> pg_backend_pid()`;
  await expect.poll(async () => (await database.query(connections))[0]).toEqual({ count: 0 });
  await attacked.serveOthers();
  // A reader finds its connection closed.
  for (const { socket } of clients) socket.resume();
  await expect.poll(() => closedOf(clients)).toBe(40);
  await expectMemory(400);
});

test('100,000 pipelined requests whose responses are not read', async () => {
  const { attacked, expectMemory } = await serve({
    gateway: { slowClientTimeout: 2 },
    limits: { maxRequestsPerConnection: null },
  });
  const { socket } = openRaw({ port: attacked.port });
  await once(socket, 'connect');
  const { localPort } = socket;
  socket.pause();
  for (let count = 0; count < 1000; count += 1) socket.write(get('/api/hello?name=a').repeat(100));
  await attacked.serveOthers();
  await expectMemory(250);
  const { socket: reader, text } = openRaw({ port: attacked.port });
  reader.write(get('/api/hello?name=reader'));
  await expect.poll(text).toContain('Hello reader');
  await expect.poll(() => isEstablished(attacked.port, localPort!)).toBe(false);
});

test('20,000 different paths and hosts', async () => {
  const { attacked, expectMemory } = await serve({ limits: { maxRequestsPerConnection: null } });
  const { socket } = openRaw({ port: attacked.port });
  let answered = 0;
  socket.on('data', (data: string) => (answered += data.split('"status":404').length - 1));
  for (let count = 0; count < 200; count += 1) {
    const requests = Array.from({ length: 100 }, (_, index) => {
      const name = `${count}-${index}`;
      return `GET /${name} HTTP/1.1\r\nHost: h${name}.localhost\r\n\r\n`;
    });
    socket.write(requests.join(''));
    // One batch after the other.
    await expect.poll(() => answered, { interval: 5 }).toBe(100 * (count + 1));
  }
  await attacked.serveOthers();
  await expectMemory(150);
});

test('1,000 half-open connections', async () => {
  const { attacked, expectMemory } = await serve({});
  const bytes = 'POST /api/save HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\na';
  const clients = await attack(attacked, { count: 1000, bytes });
  for (const { socket } of clients) socket.end();
  await expect.poll(() => closedOf(clients)).toBe(1000);
  await attacked.serveOthers();
  await expectMemory(150);
});

test('SIGTERM under load: each response that has begun is complete', async () => {
  const { attacked } = await serve({});
  const answers: string[] = [];
  const client = (name: string): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect({ port: attacked.port, host: '127.0.0.1' });
      let text = '';
      let sent = 0;
      const ask = (): void => {
        text = '';
        sent += 1;
        socket.write(get(`/api/letters?length=${sent % 3 === 0 ? 300_000 : 10}`));
      };
      socket
        .setEncoding('latin1')
        .on('connect', ask)
        .on('error', () => undefined);
      socket.on('data', (data: string) => {
        text += data;
        const [head, body = ''] = text.split('\r\n\r\n', 2);
        if (text.endsWith('\r\n0\r\n\r\n') || body.length === Number(/content-length: (\d+)/.exec(head!)?.[1])) {
          answers.push('complete');
          text = '';
          if (/connection: keep-alive/i.test(head!)) ask();
        }
      });
      socket.on('close', () => {
        answers.push(text === '' ? `closed ${name}` : 'cut off');
        resolve();
      });
    });
  const clients = Array.from({ length: 50 }, (_, index) => client(`${index}`));
  await expect.poll(() => answers.length).toBeGreaterThan(200);
  attacked.program.child.kill('SIGTERM');
  await Promise.all(clients);
  expect(answers.filter((answer) => answer === 'cut off')).toEqual([]);
  expect(await attacked.program.ended).toBe(0);
});
