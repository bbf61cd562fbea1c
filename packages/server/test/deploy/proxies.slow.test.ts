/** The configurations of nginx and HAProxy, in front of two real servers. */
import { connect } from 'node:http2';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { build, useDatabase } from '@pgway/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { bin, type Program, start } from '../support/program.ts';
import { isInstalled, type Proxy, type ProxyName, startProxy } from './proxy.ts';

const database = useDatabase(`
  create function server_name() returns text language sql volatile as $$ select current_setting('application_name') $$;
  comment on function server_name is 'HTTP GET';
  create function address(_ip_address text default null) returns text language sql stable as $$ select _ip_address $$;
  comment on function address is 'HTTP GET';
  create function echo(_text text) returns int language sql stable as $$ select length(_text) $$;
  comment on function echo is 'HTTP GET';
  create function work() returns void language plpgsql as $$ begin raise info 'half done'; end $$;
  comment on function work is 'HTTP POST
info_path
info_scope all';
  create function add_document(_files json) returns int language sql as $$ select (_files -> 0 ->> 'size')::int $$;
  comment on function add_document is 'HTTP
upload _files as metadata';
`);

beforeAll(build);

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The address of the client. */
  readonly from?: string;
}

function send({ httpsPort, certificate }: Proxy, path: string, call: Call = {}): Promise<IncomingMessage> {
  const { method = 'GET', headers = {}, from = '127.0.0.1', body } = call;
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: httpsPort, path, method, headers, localAddress: from };
    httpsRequest({ ...options, ca: certificate, agent: false }, resolve)
      .on('error', reject)
      .end(body);
  });
}

async function get(proxy: Proxy, path: string, call?: Call): Promise<Answer> {
  const response = await send(proxy, path, call);
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { status: response.statusCode!, headers: response.headers, text };
}

interface Setting {
  readonly proxy: Proxy;
  readonly servers: readonly [Program, Program];
  readonly ports: readonly [number, number];
}

/** Starts two servers, whose names are `one` and `two`, and the proxy. Only the address of the proxy is trusted. */
async function serve(name: ProxyName, shutdownDelay = 0): Promise<Setting> {
  const keys = await folderWith();
  const begin = async (server: string): Promise<[Program, number]> => {
    const connection = new URL(database.connectionString);
    connection.searchParams.set('application_name', server);
    const folder = await folderWith({
      'pgway.json': {
        connectionString: connection.href,
        port: 0,
        shutdownDelay,
        allowedHosts: ['api.example.org'],
        authentication: { trustedProxies: ['127.0.0.1'], useUserParameters: true },
        // Events between servers are encrypted: both need the same keys.
        dataProtection: { folder: keys, secret: 'a secret of sixteen characters' },
        events: { broadcast: 'postgres' },
        metrics: { path: '/metrics', access: 'always' },
      },
    });
    const program = start(folder, [process.execPath, bin]);
    return [program, Number((await program.until(/endpoints? at http:\/\/[^:]+:(\d+)/))[1])];
  };
  const [[one, first], [two, second]] = await Promise.all([begin('one'), begin('two')]);
  const proxy = await startProxy(name, [`127.0.0.1:${first}`, `127.0.0.1:${second}`]);
  // HAProxy serves as soon as the first health check has passed.
  await expect.poll(async () => (await get(proxy, '/api/server-name')).status).toBe(200);
  return { proxy, servers: [one, two], ports: [first, second] };
}

describe.skipIf(!isInstalled('nginx', '-v'))('nginx', () => {
  suite('nginx');
});
describe.skipIf(!isInstalled('haproxy', '-v'))('HAProxy', () => {
  suite('haproxy');
});

function suite(name: ProxyName): void {
  test('calls, HTTP/2, the redirect to HTTPS, long headers and paths', async () => {
    const { proxy } = await serve(name);
    expect((await get(proxy, '/api/echo?text=abc')).text).toBe('3');
    expect((await get(proxy, '/api/missing')).headers['content-type']).toBe('application/problem+json');
    for (const path of ['/metrics', '/metrics/', '/metrics/?a=b']) expect((await get(proxy, path)).status).toBe(404);

    const session = connect(`https://127.0.0.1:${proxy.httpsPort}`, { ca: proxy.certificate });
    onTestFinished(() => session.destroy());
    const stream = session.request({ ':path': '/api/echo?text=abcd', ':authority': 'api.example.org' });
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) text += chunk;
    expect([session.alpnProtocol, text]).toEqual(['h2', '4']);

    const redirect = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: proxy.httpPort, path: '/api/echo?text=a' };
      httpRequest({ ...options, headers: { host: 'api.example.org' } }, resolve)
        .on('error', reject)
        .end();
    });
    expect([redirect.statusCode, redirect.headers.location]).toEqual([308, 'https://api.example.org/api/echo?text=a']);

    // The limits are those of the server: 8,192 characters of a path, 32 KiB of headers.
    const long = 'x'.repeat(8000);
    expect((await get(proxy, `/api/echo?text=${long}`)).text).toBe('8000');
    expect((await get(proxy, '/api/echo?text=a', { headers: { 'x-long': 'x'.repeat(24_000) } })).text).toBe('1');
    const tooLong = await get(proxy, `/api/echo?text=${'x'.repeat(9000)}`);
    expect([tooLong.status, tooLong.headers['content-type']]).toEqual([414, 'application/problem+json']);
  });

  test('a QUERY request whose content is longer than a URL can be, and the responses of others', async () => {
    const { proxy } = await serve(name);
    const ask = (text: string): Promise<Answer> =>
      get(proxy, '/api/echo', {
        method: 'QUERY',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(text.length + 5) },
        body: `text=${text}`,
      });
    for (const length of [20_000, 3, 20_001])
      expect(await ask('x'.repeat(length))).toMatchObject({ status: 200, text: String(length) });
  });

  test('routines get the address of the client, whatever headers it sends', async () => {
    const { proxy, ports } = await serve(name);
    const forged = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' };
    expect((await get(proxy, '/api/address', { from: '127.0.0.2' })).text).toBe('127.0.0.2');
    expect((await get(proxy, '/api/address', { from: '127.0.0.2', headers: forged })).text).toBe('127.0.0.2');
    // Past the proxy, from an address that is not trusted.
    const direct = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: ports[0], path: '/api/address', localAddress: '127.0.0.3' };
      httpRequest({ ...options, headers: forged }, resolve)
        .on('error', reject)
        .end();
    });
    let text = '';
    for await (const chunk of direct.setEncoding('utf8')) text += chunk;
    expect(text).toBe('127.0.0.3');
  });

  test('an event arrives while its stream is open', async () => {
    const { proxy } = await serve(name);
    const stream = await send(proxy, '/api/work/info', { headers: { accept: 'text/event-stream' } });
    onTestFinished(() => void stream.destroy());
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    expect(stream.headers['content-type']).toBe('text/event-stream');
    expect((await get(proxy, '/api/work', { method: 'POST' })).status).toBe(204);
    await expect.poll(() => text).toContain('half done');
    expect(stream.complete).toBe(false);
  });

  test('an upload larger than the default limit of a proxy arrives', async () => {
    const { proxy } = await serve(name);
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(5_000_000)]), 'large.bin');
    const { body, headers } = new Request('http://localhost', { method: 'POST', body: form }) as {
      body: ReadableStream<Uint8Array>;
      headers: Headers;
    };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: proxy.httpsPort, path: '/api/add-document', method: 'POST' };
      const contentType = headers.get('content-type')!;
      const request = httpsRequest(
        { ...options, ca: proxy.certificate, agent: false, headers: { 'content-type': contentType } },
        resolve,
      ).on('error', reject);
      void (async () => {
        for await (const chunk of body) request.write(chunk);
        request.end();
      })();
    });
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    expect([response.statusCode, text]).toEqual([200, '5000000']);
  });

  test('a server that stops fails no request; after it, and with health checks before it, the other one gets all', async () => {
    const { proxy, servers } = await serve(name, 5);
    const names = new Set<string>();
    let left = 60;
    while (names.size < 2 && left-- > 0) names.add((await get(proxy, '/api/server-name')).text);
    expect([...names].toSorted()).toEqual(['one', 'two']);

    const answers: { readonly status: number; readonly text: string; readonly isStopped: boolean }[] = [];
    let isStopped = false;
    void servers[0].ended.then(() => (isStopped = true));
    let isDone = false;
    const client = async (): Promise<void> => {
      while (!isDone) {
        const begunAfter = isStopped;
        answers.push({ ...(await get(proxy, '/api/server-name')), isStopped: begunAfter });
      }
    };
    const clients = [client(), client(), client()];
    servers[0].child.kill('SIGTERM');
    expect(await servers[0].ended).toBe(0);
    const count = answers.length;
    await expect.poll(() => answers.length).toBeGreaterThan(count + 20);
    isDone = true;
    await Promise.all(clients);

    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(new Set(answers.filter((answer) => answer.isStopped).map(({ text }) => text))).toEqual(new Set(['two']));
    if (name === 'nginx') return;
    // HAProxy has left the server out before it stopped to accept connections: for longer than the requests of the three clients took.
    const lastOfOne = answers.findLastIndex(({ text }) => text === 'one');
    const stopped = answers.findIndex((answer) => answer.isStopped);
    expect(stopped - lastOfOne).toBeGreaterThan(3);
    expect(proxy.program.text.stdout + proxy.program.text.stderr).toMatch(/Server pgway\/one is DOWN/);
  });
}
