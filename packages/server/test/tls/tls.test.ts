import { renameSync, writeFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:https';
import { request as plainRequest } from 'node:http';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { createGateway, type Gateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Configuration } from '../../src/config/schema.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { gatewayOptions } from '../../src/gateway-options.ts';
import { createApp } from '../../src/http/app.ts';
import { openCertificateStore } from '../../src/tls/certificate-store.ts';
import { listenWithTls, type ServersWithRedirect } from '../../src/tls/listen-with-tls.ts';
import { type CertificateOptions, createCertificate, type PemCertificate, writePfx } from '../support/certificates.ts';
import { folderWith } from '../support/folder.ts';

const database = useDatabase(`
  create function hello(_name text default 'you') returns text language sql stable as $$ select 'Hello ' || _name $$;
  comment on function hello is 'HTTP GET';
  create function enter() returns table (id text) language sql as $$ select '7' $$;
  comment on function enter is E'HTTP\\nlogin';
`);

let gateway: Gateway;
const base = { port: 0, cookie: { enabled: true } };

beforeAll(async () => {
  gateway = await createGateway(await gatewayOptions(parseConfiguration(base), database.connectionString, {}));
});
afterAll(() => gateway.close());

interface Served extends ServersWithRedirect {
  readonly folder: string;
  readonly log: string[];
  readonly certificate: PemCertificate;
  readonly configuration: Configuration;
}

const noLog = { info: () => undefined, error: () => undefined };
const pem = { certificate: 'server.crt', key: 'server.key' };

/** A folder with `server.crt` and `server.key`. */
async function folderOf({ certificate, key }: PemCertificate): Promise<string> {
  return folderWith({ 'server.crt': certificate, 'server.key': key });
}

/** Serves with this section `tls`, and the files `server.crt` and `server.key`, until the test has ended. */
async function serve(
  tls: object = pem,
  {
    certificate: options,
    ...sections
  }: { readonly certificate?: CertificateOptions; readonly [section: string]: unknown } = {},
): Promise<Served> {
  const certificate = await createCertificate(options);
  const folder = await folderOf(certificate);
  if ('pfx' in tls) await writePfx(folder, 'secret');
  const configuration = parseConfiguration({ ...base, ...sections, tls });
  const log: string[] = [];
  const lines = {
    info: (line: string) => void log.push(`info ${line}`),
    error: (line: string) => void log.push(`error ${line}`),
  };
  const app = await createApp(configuration, gateway);
  const store = await openCertificateStore(configuration, folder, lines, 20);
  const servers = await listenWithTls(configuration, app.handle, { certificates: store });
  onTestFinished(async () => {
    await servers.stop(0, AbortSignal.abort());
    await app.close();
  });
  return { ...servers, folder, log, certificate, configuration };
}

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

function ask(served: { readonly port: number }, path: string, options: RequestOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const send = options.protocol === 'http:' ? plainRequest : request;
    const outgoing = send({ host: '127.0.0.1', port: served.port, path, agent: false, ...options }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      incoming.on('error', reject);
      incoming.on('end', () => resolve({ status: incoming.statusCode!, headers: incoming.headers, text }));
    });
    outgoing.on('error', reject).end();
  });
}

/** The serial number of the certificate that new connections get. */
async function serialOf({ port }: Served): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

describe('the certificate', () => {
  test('PEM files', async () => {
    const served = await serve();
    const { status, text } = await ask(served, '/api/hello?name=Ada', { ca: served.certificate.certificate });
    expect([status, text]).toEqual([200, 'Hello Ada']);
  });

  test('PEM files with an encrypted key', async () => {
    const served = await serve({ ...pem, passphrase: 'secret' }, { certificate: { passphrase: 'secret' } });
    expect((await ask(served, '/api/hello', { ca: served.certificate.certificate })).status).toBe(200);
  });

  test('a PFX file', async () => {
    const served = await serve({ pfx: 'server.pfx', passphrase: 'secret' });
    expect((await ask(served, '/api/hello', { ca: served.certificate.certificate })).status).toBe(200);
  });

  test('clients reject that of another authority', async () => {
    await expect(ask(await serve(), '/api/hello')).rejects.toThrow(/self[- ]signed certificate/);
  });

  test('minVersion', async () => {
    const served = await serve({ ...pem, minVersion: 'TLSv1.3' });
    await expect(
      ask(served, '/api/hello', { ca: served.certificate.certificate, maxVersion: 'TLSv1.2' }),
    ).rejects.toThrow(/protocol version/);
  });

  test('ca: only clients with a certificate of it are served', async () => {
    const refused = /alert|ECONNRESET|EPIPE|hang up/;
    const [authority, other] = [await createCertificate(), await createCertificate()];
    const folder = await folderWith({ 'clients.crt': authority.certificate });
    const served = await serve({ ...pem, ca: join(folder, 'clients.crt') });
    const call = async (issuer: PemCertificate): Promise<number> => {
      const client = await createCertificate({ names: ['client'], issuer });
      const trust = { ca: served.certificate.certificate };
      return (await ask(served, '/api/hello', { ...trust, cert: client.certificate, key: client.key })).status;
    };
    expect(await call(authority)).toBe(200);
    await expect(call(other)).rejects.toThrow(refused);
    await expect(ask(served, '/api/hello', { ca: served.certificate.certificate })).rejects.toThrow(refused);
  });
});

describe('a start that fails: the error names the setting and the file', () => {
  async function failure(tls: object, files: Readonly<Record<string, string>>): Promise<string> {
    const configuration = parseConfiguration({ tls });
    const opened = openCertificateStore(configuration, await folderWith(files), noLog);
    return opened.then(
      () => 'opened',
      (error: Error) => error.message,
    );
  }

  test('files', async () => {
    const [own, other, locked] = await Promise.all([
      createCertificate(),
      createCertificate(),
      createCertificate({ passphrase: 'secret' }),
    ]);
    const of = (certificate: string, key: string) => ({ 'server.crt': certificate, 'server.key': key });
    expect({
      missing: await failure({ ...pem, ca: 'ca.crt' }, {}),
      'other key': await failure(pem, of(own.certificate, other.key)),
      'no certificate': await failure(pem, of('text', own.key)),
      'no key': await failure(pem, of(own.certificate, 'text')),
      swapped: await failure(pem, of(own.key, own.certificate)),
      'no passphrase': await failure(pem, of(locked.certificate, locked.key)),
      'wrong passphrase': await failure({ ...pem, passphrase: 'wrong' }, of(locked.certificate, locked.key)),
      'no authority': await failure({ ...pem, ca: 'ca.crt' }, { ...of(own.certificate, own.key), 'ca.crt': 'text' }),
      'no PFX': await failure({ pfx: 'server.pfx' }, { 'server.pfx': 'text' }),
    }).toEqual({
      missing: `the configuration has 3 errors:
  tls.certificate: cannot read server.crt (ENOENT); correct the path, which is relative to the working directory
  tls.key: cannot read server.key (ENOENT); correct the path, which is relative to the working directory
  tls.ca: cannot read ca.crt (ENOENT); correct the path, which is relative to the working directory`,
      'other key': 'tls.key: the private key in server.key does not belong to the certificate in server.crt',
      'no certificate': 'tls.certificate: server.crt has no PEM certificate',
      'no key': 'tls.key: server.key has no PEM private key',
      swapped: 'tls.certificate: server.crt has no PEM certificate',
      'no passphrase': 'tls.key: the private key in server.key is encrypted; set tls.passphrase',
      'wrong passphrase': 'tls.passphrase: does not decrypt the private key in server.key',
      'no authority': 'tls.ca: ca.crt has no PEM certificate',
      'no PFX': 'tls.pfx: server.pfx is not a PFX (PKCS #12) file',
    });
  });

  test('a PFX file with another passphrase', async () => {
    const folder = await folderOf(await createCertificate());
    await writePfx(folder, 'secret');
    const configuration = parseConfiguration({ tls: { pfx: 'server.pfx', passphrase: 'wrong' } });
    await expect(openCertificateStore(configuration, folder, noLog)).rejects.toThrow(
      'tls.pfx: server.pfx cannot be decrypted; set tls.passphrase to its passphrase',
    );
  });

  test.each([
    [{ certificate: 'a' }, 'tls.key: missing; set it to the PEM file of the private key of tls.certificate'],
    [{ key: 'a' }, 'tls.certificate: missing; set it to the PEM file of the certificate of tls.key'],
    [{ ...pem, pfx: 'a' }, 'tls.pfx: not together with tls.certificate and tls.key; set only one of them'],
    [
      { redirectPort: 80 },
      'tls.redirectPort: has no effect without a certificate; set tls.certificate and tls.key, or tls.pfx',
    ],
  ])('%j', async (tls, message) => {
    expect(await failure(tls, {})).toBe(message);
  });
});

test.each([
  ['expired', { validFrom: -3, validTo: -1 }, /^the TLS certificate expired on \d{4}-\d\d-\d\d: clients reject it/],
  [
    'early',
    { validFrom: 1, validTo: 3 },
    /^the TLS certificate is not valid before \d{4}-\d\d-\d\d: clients reject it/,
  ],
])('an %s certificate at the start is a warning, and the server serves', async (_, options, warning) => {
  const served = await serve(pem, { certificate: options });
  const store = await openCertificateStore(served.configuration, served.folder, noLog);
  expect(store!.warnings).toEqual([expect.stringMatching(warning)]);
  expect((await ask(served, '/api/hello', { rejectUnauthorized: false })).status).toBe(200);
});

describe('a renewed certificate', () => {
  /** Replaces the files at once: a check between them would find files that do not belong together. */
  function replace({ folder }: Served, { certificate, key }: Partial<PemCertificate>): void {
    for (const [name, content] of Object.entries({ 'server.crt': certificate, 'server.key': key })) {
      if (content === undefined) continue;
      writeFileSync(join(folder, 'new'), content);
      renameSync(join(folder, 'new'), join(folder, name));
    }
  }

  test('is used by new connections, while existing ones go on', async () => {
    const served = await serve();
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: served.certificate.certificate });
    onTestFinished(() => agent.destroy());
    expect((await ask(served, '/api/hello', { agent })).status).toBe(200);
    const [before, renewed] = [await serialOf(served), await createCertificate()];

    replace(served, renewed);

    await expect.poll(() => serialOf(served)).not.toBe(before);
    expect(served.log).toEqual([
      expect.stringMatching(/^info renewed the TLS certificate; the new one is valid until \d{4}-\d\d-\d\d$/),
    ]);
    // The agent does not trust the new certificate: the answer comes over the old connection.
    expect((await ask(served, '/api/hello', { agent })).text).toBe('Hello you');
    expect((await ask(served, '/api/hello', { ca: renewed.certificate })).status).toBe(200);
  });

  test('that cannot be used is one line in the log, and the old one stays', async () => {
    const served = await serve();
    const before = await serialOf(served);
    const [other, expired] = [await createCertificate(), await createCertificate({ validFrom: -3, validTo: -1 })];
    const prefix = 'error the renewed TLS certificate cannot be used, the previous one stays in use: ';

    replace(served, { certificate: other.certificate });
    await expect.poll(() => served.log.length).toBe(1);
    replace(served, { certificate: 'text' });
    await expect.poll(() => served.log.length).toBe(2);
    replace(served, expired);
    await expect.poll(() => served.log.length).toBe(3);
    expect(await serialOf(served)).toBe(before);
    replace(served, other);
    await expect.poll(() => serialOf(served)).not.toBe(before);

    expect(served.log.slice(0, 3)).toEqual([
      `${prefix}tls.key: the private key in server.key does not belong to the certificate in server.crt`,
      `${prefix}tls.certificate: server.crt has no PEM certificate`,
      expect.stringContaining(`${prefix}the TLS certificate expired on `),
    ]);
    expect(served.log[3]).toContain('info renewed');
    expect(served.log).toHaveLength(4);
  });
});

describe('over TLS', () => {
  test('cookies are Secure, and Strict-Transport-Security is sent if configured', async () => {
    const served = await serve(pem, { securityHeaders: { enabled: true } });
    const trust = { ca: served.certificate.certificate };
    const login = await ask(served, '/api/enter', { ...trust, method: 'POST' });
    expect(login.headers['set-cookie']?.[0]).toMatch(/; Secure/i);
    expect(login.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
  });

  test('requests for other hosts are answered 421', async () => {
    const served = await serve();
    const options = { ca: served.certificate.certificate, servername: 'localhost', headers: { host: 'evil.example' } };
    expect((await ask(served, '/api/hello', options)).status).toBe(421);
  });

  test('a connection beyond the limit is answered 503', async () => {
    const served = await serve(pem, { limits: { maxConnections: 1 } });
    const agent = new Agent({ keepAlive: true, ca: served.certificate.certificate });
    onTestFinished(() => agent.destroy());
    expect((await ask(served, '/api/hello', { agent })).status).toBe(200);
    const refused = await ask(served, '/api/hello', { ca: served.certificate.certificate });
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
  });

  test('a handshake that does not finish is ended; HTTP without TLS gets no answer', async () => {
    const { port } = await serve(pem, { limits: { headersTimeout: 0.1 } });
    for (const bytes of ['', 'GET /api/hello HTTP/1.1\r\nHost: localhost\r\n\r\n']) {
      const socket = connectTcp({ host: '127.0.0.1', port });
      let received = '';
      socket.setEncoding('latin1').on('data', (text: string) => (received += text));
      socket.on('error', () => undefined).write(bytes);
      // One at a time.
      await once(socket, 'close');
      expect(received).not.toContain('HTTP');
    }
  });

  test('a stop does not wait for connections without a finished handshake', async () => {
    const served = await serve();
    const socket = connectTcp({ host: '127.0.0.1', port: served.port });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    // The server has accepted the connection before that of this request.
    await serialOf(served);
    const closed = once(socket, 'close');
    await served.stop(60_000, new AbortController().signal);
    expect(await closed).toHaveLength(1);
  });
});

test('a stop does not wait for connections that have sent nothing', async () => {
  const served = await serve({ ...pem, redirectPort: 0 });
  const plain = connectTcp({ host: '127.0.0.1', port: served.redirectPort! });
  const encrypted = connectTls({ host: '127.0.0.1', port: served.port, ca: served.certificate.certificate });
  const sockets = [plain, encrypted];
  for (const socket of sockets) socket.on('error', () => undefined).resume();
  await Promise.all([once(plain, 'connect'), once(encrypted, 'secureConnect')]);
  // The servers have accepted the connections before those of these requests.
  await serialOf(served);
  expect(
    (await ask({ port: served.redirectPort! }, '/', { protocol: 'http:', headers: { host: 'localhost' } })).status,
  ).toBe(308);
  const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
  await served.stop(60_000, new AbortController().signal);
  expect(await closed).toHaveLength(2);
});

describe('redirectPort', () => {
  const redirecting = { ...pem, redirectPort: 0 };
  const follow = ({ redirectPort }: Served, path: string, host: string, method = 'GET'): Promise<Answer> =>
    ask({ port: redirectPort! }, path, { protocol: 'http:', headers: { host }, method });

  test('redirects with path, query and method to the HTTPS server', async () => {
    const served = await serve(redirecting);
    const { port } = served;
    const locations = await Promise.all(
      ['/api/hello?name=Ada&x=%2F', '//evil.example/', '/', 'http://localhost/a?b', 'http://localhost?b'].map(
        async (path) => {
          const { status, headers } = await follow(served, path, 'localhost', 'POST');
          return [status, headers.location];
        },
      ),
    );
    expect(locations).toEqual([
      [308, `https://localhost:${port}/api/hello?name=Ada&x=%2F`],
      [308, `https://localhost:${port}//evil.example/`],
      [308, `https://localhost:${port}/`],
      [308, `https://localhost:${port}/a?b`],
      [308, `https://localhost:${port}/?b`],
    ]);
    expect((await follow(served, '*', 'localhost', 'OPTIONS')).status).toBe(400);
  });

  test('to redirectTargetPort, without the port 443', async () => {
    const served = await serve({ ...redirecting, redirectTargetPort: 443 });
    expect((await follow(served, '/a', 'localhost:8080')).headers.location).toBe('https://localhost/a');
  });

  test('only for known hosts: without allowedHosts, those of the certificate', async () => {
    const certificate = { names: ['*.shop.example', '127.0.0.1'] };
    const served = await serve(redirecting, { host: '0.0.0.0', certificate });
    const status = async (server: Served, host: string): Promise<number> => (await follow(server, '/', host)).status;
    expect([
      await status(served, 'www.shop.example'),
      await status(served, '127.0.0.1'),
      await status(served, 'evil.example'),
      await status(served, 'a@www.shop.example'),
    ]).toEqual([308, 308, 421, 421]);
    const listed = await serve(redirecting, { host: '0.0.0.0', certificate, allowedHosts: ['other.example'] });
    expect([await status(listed, 'other.example'), await status(listed, 'www.shop.example')]).toEqual([308, 421]);
  });

  test('a port in use is an error that names the setting, and the server stops', async () => {
    const first = await serve(redirecting);
    await expect(serve({ ...pem, redirectPort: first.redirectPort })).rejects.toThrow(
      `port ${first.redirectPort} on 127.0.0.1 is already in use; stop the other process or pass --tls.redirectPort=`,
    );
  });
});
