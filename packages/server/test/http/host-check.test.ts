import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { type HttpServer, listen } from '../../src/http/http-server.ts';

/** Starts a server that answers 200 to accepted requests. */
async function serve(configuration: object): Promise<HttpServer> {
  const parsed = parseConfiguration({ port: 0, ...configuration });
  const server = await listen(parsed, (_, response) => void response.end('through'));
  onTestFinished(() => server.stop(0, AbortSignal.abort()));
  return server;
}

/** Sends a request with this `Host`. Returns status, body and content type. */
function ask(
  { port }: HttpServer,
  host: string,
  method = 'GET',
): Promise<readonly [number, string, string | undefined]> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, method, headers: { host }, agent: false }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      answer.on('end', () => resolve([answer.statusCode!, body, answer.headers['content-type']]));
    });
    outgoing.on('error', reject).end();
  });
}

const own = [
  'localhost',
  'LOCALHOST:8080',
  'localhost.',
  'app.localhost:80',
  '127.0.0.1',
  '127.8.9.10:1',
  '[::1]:8080',
];
const foreign = [
  'evil.example',
  'evil.example:8080',
  'localhost.evil.example',
  'notlocalhost',
  '127.0.0.1.evil.example',
  '10.0.0.1',
  '0.0.0.0',
  '[::2]',
];
const invalid = [
  'localhost@evil.example',
  'localhost, evil.example',
  'localhost/evil.example',
  'evil.example#localhost',
  'a b',
];

test.each(own)('a loopback listener accepts %j', async (host) => {
  const server = await serve({ host: '127.0.0.1' });
  expect(await ask(server, host)).toEqual([200, 'through', undefined]);
});

test.each(foreign)('a loopback listener rejects %j', async (host) => {
  const server = await serve({ host: '127.0.0.1' });
  const [status, body, type] = await ask(server, host);
  expect([status, type]).toEqual([421, 'application/problem+json']);
  expect(JSON.parse(body)).toEqual({
    type: 'urn:pgway:problem:unknown-host',
    title: 'This server does not serve the requested host',
    status: 421,
    detail: `The request names the host ${JSON.stringify(host)}. If it is a name of this server, add it to allowedHosts: --allowed-hosts=<name>.`,
  });
});

test.each(invalid)('%j is no host', async (host) => {
  const [status, body] = await ask(await serve({ host: '0.0.0.0' }), host);
  expect([status, JSON.parse(body)]).toEqual([
    400,
    { type: 'about:blank', title: 'Bad request', status: 400, detail: 'The value of Host is not a host.' },
  ]);
});

test('every method is checked', async () => {
  const server = await serve({ host: '127.0.0.1' });
  const statuses = await Promise.all(
    ['HEAD', 'POST', 'OPTIONS', 'DELETE'].map(async (method) => (await ask(server, 'evil.example', method))[0]),
  );
  expect(statuses).toEqual([421, 421, 421, 421]);
});

test('names of allowedHosts are accepted, with any port and in any case', async () => {
  const server = await serve({ host: '127.0.0.1', allowedHosts: ['Api.Example.org', '[2001:db8::1]'] });
  const status = async (host: string): Promise<number> => (await ask(server, host))[0];
  expect(await Promise.all(['api.example.org', 'API.example.org:443', '[2001:DB8::1]'].map(status))).toEqual([
    200, 200, 200,
  ]);
  expect(await Promise.all(['example.org', 'x.api.example.org', 'evil.example'].map(status))).toEqual([421, 421, 421]);
  expect(await status('localhost')).toBe(200);
});

test('on other addresses every name is accepted, unless allowedHosts has names', async () => {
  const open = await serve({ host: '0.0.0.0' });
  expect((await ask(open, 'evil.example'))[0]).toBe(200);
  const listed = await serve({ host: '0.0.0.0', allowedHosts: ['api.example.org'] });
  expect([(await ask(listed, 'api.example.org'))[0], (await ask(listed, 'evil.example'))[0]]).toEqual([200, 421]);
});

test.each(['https://api.example.org', 'api.example.org:80', '*', 'a b', '', '::1'])(
  'allowedHosts does not take %j',
  (name) => {
    expect(() => parseConfiguration({ allowedHosts: [name] })).toThrow('host name without scheme and port');
  },
);
