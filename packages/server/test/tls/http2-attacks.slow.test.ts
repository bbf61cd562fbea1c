/** Attacks on a connection of HTTP/2: it is closed, what its requests began is cancelled, and other clients are served. */
import { constants } from 'node:http2';
import { build, holdLock, useDatabase } from '@pgway/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type AttackedProgram, helloSql, startAttacked } from '../support/attacked-program.ts';
import {
  endHeaders,
  endStream,
  frame,
  literal,
  openRawHttp2,
  preface,
  type RawHttp2,
  requestHead,
  reset,
} from '../support/http2-frames.ts';
import { isEstablished } from '../support/tcp-table.ts';

beforeAll(build);

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR } = constants;

const database = useDatabase(`${helloSql}
  create function wait(_key int) returns text language sql as $$ select 'waited' from pg_advisory_xact_lock(_key) $$;
  comment on function wait is 'HTTP GET';
  create function letters(_length int) returns text language sql stable as $$ select repeat('a', _length) $$;
  comment on function letters is 'HTTP GET';
  create function save(_a int) returns text language sql as $$ select 'saved' $$;
  comment on function save is 'HTTP POST';
`);

// The limits are for other clients too: on a busy machine, an attack delays their requests by seconds.
const limits = { headersTimeout: 8, keepAliveTimeout: 3, requestTimeout: 8 };
const tls = { certificate: 'server.crt', key: 'server.key' };

function serve(): Promise<AttackedProgram> {
  return startAttacked(database.connectionString, { limits, tls, gateway: { slowClientTimeout: 0.3, poolSize: 4 } });
}

const nothing = Buffer.alloc(0);
/** The numbers of the streams of a client. */
const streams = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => 2 * index + 1);
const get = (stream: number, path: string): Buffer =>
  frame('headers', endHeaders + endStream, stream, requestHead('GET', path));
const many = (count: number, one: Buffer): Buffer => Buffer.concat(Array.from({ length: count }, () => one));

/** Writes as fast as the server reads, until it has closed the connection or everything is written. */
async function flood({ socket }: RawHttp2, chunk: Buffer, times: number): Promise<void> {
  const isClosed = new Promise((resolve) => socket.once('close', resolve));
  for (let index = 0; index < times && socket.writable; index += 1) {
    // Back-pressure.
    if (!socket.write(chunk)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), isClosed]);
  }
}

interface Attack {
  readonly settings?: Buffer;
  readonly attack: (client: RawHttp2) => Promise<void>;
}

const attacks: Readonly<Record<string, Attack>> = {
  'rapid reset of calls': {
    attack: (client) =>
      flood(
        client,
        Buffer.concat(streams(20_000).flatMap((id) => [get(id, '/api/wait?key=1'), reset(id, NGHTTP2_CANCEL)])),
        1,
      ),
  },
  'resets that the server is made to send': {
    attack: (client) =>
      flood(
        client,
        // A window update of 0 is an error of the stream (RFC 9113, section 6.9).
        Buffer.concat(
          streams(20_000).flatMap((id) => [get(id, '/api/wait?key=1'), frame('windowUpdate', 0, id, Buffer.alloc(4))]),
        ),
        1,
      ),
  },
  'endless CONTINUATION frames': {
    attack: async (client) => {
      client.socket.write(frame('headers', endStream, 1, requestHead('GET', '/api/hello')));
      await flood(client, many(100, frame('continuation', 0, 1, literal('x-a', 'b'.repeat(100)))), 1000);
    },
  },
  'empty CONTINUATION frames': {
    attack: async (client) => {
      client.socket.write(frame('headers', endStream, 1, requestHead('GET', '/api/hello')));
      await flood(client, many(1000, frame('continuation', 0, 1, nothing)), 1000);
    },
  },
  'headers that never end': {
    attack: async (client) => {
      client.socket.write(frame('headers', endStream, 1, requestHead('GET', '/api/hello')));
    },
  },
  'SETTINGS whose acknowledgements are not read': {
    attack: async (client) => {
      client.socket.pause();
      await flood(client, many(1000, frame('settings', 0, 0, nothing)), 1000);
    },
  },
  'PING whose acknowledgements are not read': {
    attack: async (client) => {
      client.socket.pause();
      await flood(client, many(1000, frame('ping', 0, 0, Buffer.alloc(8))), 1000);
    },
  },
  'empty DATA frames': {
    attack: async (client) => {
      client.socket.write(frame('headers', endHeaders, 1, requestHead('POST', '/api/save')));
      await flood(client, many(1000, frame('data', 0, 1, nothing)), 1000);
    },
  },
  'PRIORITY frames': {
    attack: (client) => flood(client, many(1000, frame('priority', 0, 3, Buffer.from([0, 0, 0, 1, 1]))), 1000),
  },
  'more streams than allowed': {
    attack: (client) => flood(client, Buffer.concat(streams(5000).map((id) => get(id, '/api/wait?key=1'))), 1),
  },
  'small fields that become large headers': {
    attack: async (client) => {
      // Puts a field of 4,000 bytes into the table of the server, and refers to it thousands of times.
      const field = Buffer.concat([
        Buffer.from([0x40, 1]),
        Buffer.from('a'),
        Buffer.from([0x7f, 0xa1, 0x1e]),
        Buffer.alloc(4000, 'b'),
      ]);
      const references = Buffer.alloc(10_000, 0xbe);
      for (const id of streams(200)) {
        const head = Buffer.concat([requestHead('GET', '/api/hello?name=a'), ...(id === 1 ? [field] : []), references]);
        client.socket.write(frame('headers', endHeaders + endStream, id, head));
      }
    },
  },
  'a window of 0': {
    settings: Buffer.from([0, 4, 0, 0, 0, 0]),
    attack: async (client) => {
      for (const id of streams(100)) client.socket.write(get(id, '/api/letters?length=60000'));
      await expect.poll(() => client.resets.size).toBe(100);
      expect([...new Set(client.resets.values())]).toEqual([NGHTTP2_INTERNAL_ERROR]);
    },
  },
  'a client that does not read': {
    attack: async (client) => {
      client.socket.pause();
      for (const id of streams(100)) client.socket.write(get(id, '/api/letters?length=60000'));
      await flood(client, many(10, frame('windowUpdate', 0, 0, Buffer.from([0, 1, 0, 0]))), 10);
    },
  },
};

test.skipIf(process.platform !== 'linux').each(Object.entries(attacks))('%s', async (_, { settings, attack }) => {
  const attacked = await serve();
  const lock = await holdLock(database.connectionString, 1);
  onTestFinished(() => lock.release());
  await attacked.serveOthers();
  const before = await attacked.memory();
  const client = await openRawHttp2(attacked.port, attacked.ca);
  client.socket.write(preface(settings));
  const attacking = attack(client);
  for (let count = 0; count < 20; count += 1) {
    // One after the other.
    await attacked.serveOthers();
  }
  await attacking;
  await expect.poll(() => isEstablished(attacked.port, client.localPort)).toBe(false);
  await attacked.serveOthers();
  // Calls of the closed connection do not hold connections of the database.
  await expect.poll(() => lock.waiting()).toBe(0);
  expect((await attacked.memory()) - before).toBeLessThan(150);
  expect(attacked.program.text.stderr).toBe('');
});
