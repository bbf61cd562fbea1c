/** Clients of HTTP/2 that read nothing, or that open and reset streams. */
import { connect, constants } from 'node:http2';
import { build, useDatabase } from '@pgway/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type AttackedProgram, helloSql, startAttacked } from '../support/attacked-program.ts';
import {
  endHeaders,
  endStream,
  frame,
  openRawHttp2,
  preface,
  type RawHttp2,
  requestHead,
  reset,
} from '../support/http2-frames.ts';

beforeAll(build);

const database = useDatabase(`${helloSql}
  create table large as select n, repeat('x', 1000) as content from generate_series(1, 30000) n;
  create function all_rows() returns setof large language sql stable as $$ select * from large $$;
  comment on function all_rows is 'HTTP GET';
`);

function serve(workers = 1): Promise<AttackedProgram> {
  const tls = { certificate: 'server.crt', key: 'server.key' };
  return startAttacked(database.connectionString, { tls, workers, gateway: { poolSize: 10 } });
}

const get = (stream: number, path: string): Buffer =>
  frame('headers', endHeaders + endStream, stream, requestHead('GET', path));

/** SETTINGS_INITIAL_WINDOW_SIZE of 0. */
const noWindow = Buffer.from([0, 4, 0, 0, 0, 0]);

test.each([1, 2])(
  '%i workers: 60 streams of one connection that are not read do not hold all connections',
  async (workers) => {
    const attacked = await serve(workers);
    const client = await openRawHttp2(attacked.port, attacked.ca);
    client.socket.write(preface(noWindow));
    for (let stream = 1; stream < 120; stream += 2) client.socket.write(get(stream, '/api/all-rows'));
    for (let count = 0; count < 10; count++) {
      // One after the other.
      await attacked.serveOthers();
    }
    expect(client.socket.destroyed).toBe(false);
  },
);

describe('streams that are reset', () => {
  /** Opens and resets streams until the server has closed the connection. Returns the number of streams. */
  async function resetStreams({ socket }: RawHttp2, path: string, most: number): Promise<number> {
    let count = 0;
    for (; count < most && !socket.destroyed; count++) {
      const stream = 2 * count + 1;
      socket.write(Buffer.concat([get(stream, path), reset(stream, constants.NGHTTP2_CANCEL)]));
      // The server reads meanwhile.
      if (count % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return count;
  }

  test.each(['/api/all-rows', '/api/hello?name=a', '/nothing'])('%s: thousands close the connection', async (path) => {
    const attacked = await serve();
    const client = await openRawHttp2(attacked.port, attacked.ca);
    client.socket.write(preface());
    await resetStreams(client, path, 5_000);
    // The time of an idle connection, 65 s, has not passed.
    await expect.poll(() => client.socket.destroyed).toBe(true);
    await attacked.serveOthers();
  });

  test('hundreds do not', async () => {
    const attacked = await serve();
    const client = connect(`https://127.0.0.1:${attacked.port}`, { ca: attacked.ca });
    onTestFinished(() => client.destroy());
    for (let count = 0; count < 500; count++) {
      const stream = client.request({ ':path': '/api/all-rows' });
      stream.on('error', () => undefined);
      // One after the other.
      await new Promise((resolve) => stream.once('close', resolve).close(constants.NGHTTP2_CANCEL));
    }
    const status = await new Promise((resolve) =>
      client.request({ ':path': '/api/hello?name=a' }).once('response', (head) => resolve(head[':status'])),
    );
    expect(status).toBe(200);
  });
});
