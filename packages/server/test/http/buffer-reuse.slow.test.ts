/** Buffers of responses are used again over TLS too, and no response has bytes of another one, whatever the configuration adds. */
import { Agent, request } from 'node:https';
import { connect as connectHttp2 } from 'node:http2';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { createGateway, type Gateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { responseBuffers } from '../../../core/src/response/buffer-pool.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { createApp } from '../../src/http/app.ts';
import { openCertificateStore } from '../../src/tls/certificate-store.ts';
import { listenWithTls } from '../../src/tls/listen-with-tls.ts';
import { createCertificate } from '../support/certificates.ts';
import { folderWith } from '../support/folder.ts';

const database = useDatabase(`
  create function letters(_letter text, _rows int) returns setof text language sql stable
    as $$ select repeat(_letter, 1100) from generate_series(1, _rows) $$;
  comment on function letters is 'HTTP GET';
`);
const pathOf = (letter: string, rows: number): string => `/api/letters?letter=${letter}&rows=${rows}`;
const bodyOf = (letter: string, rows: number): string =>
  `[${Array.from({ length: rows }, () => `"${letter.repeat(1100)}"`).join(',')}]`;
const sizes = [0, 3, 20, 60, 100, 250];
const calls = Array.from('abcdefghijklmnop').flatMap((letter) => sizes.map((rows) => [letter, rows] as const));
const bodies = calls.map(([letter, rows]) => bodyOf(letter, rows));

let gateway: Gateway;
beforeAll(async () => {
  gateway = await createGateway(database.connectionString);
  responseBuffers.freeByte = 0xfe;
});
afterAll(async () => {
  responseBuffers.freeByte = null;
  await gateway.close();
});

/** Serves with TLS until the end of the test; returns the port and the certificate. */
async function serve(sections: object = {}): Promise<{ readonly port: number; readonly ca: string }> {
  const { certificate, key } = await createCertificate();
  const folder = await folderWith({ 'server.crt': certificate, 'server.key': key });
  const tls = { certificate: 'server.crt', key: 'server.key' };
  const configuration = parseConfiguration({ port: 0, tls, ...sections });
  const app = await createApp(configuration, gateway);
  const log = { info: () => undefined, error: () => undefined };
  const certificates = await openCertificateStore(configuration, folder, log);
  const servers = await listenWithTls(configuration, app.handle, { certificates });
  onTestFinished(async () => {
    await servers.stop(0, AbortSignal.abort());
    await app.close();
  });
  return { port: servers.port, ca: certificate };
}

/** Sends requests on some keep-alive connections at once. */
function getAll({ port, ca }: { port: number; ca: string }, headers: Record<string, string> = {}): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 6, ca });
  onTestFinished(() => agent.destroy());
  const get = async (path: string): Promise<string> => {
    const [incoming] = await once(request({ host: '127.0.0.1', port, path, agent, headers }).end(), 'response');
    return text(incoming.headers['content-encoding'] === 'gzip' ? incoming.pipe(createGunzip()) : incoming);
  };
  return Promise.all(calls.map(([letter, rows]) => get(pathOf(letter, rows))));
}

describe('over TLS', () => {
  test('HTTP/1.1: buffers come back', async () => {
    for (let size = 512; size <= 256 * 1024; size *= 2) {
      for (let count = 0; count < 64; count++) responseBuffers.acquire(size);
    }
    const served = await serve();
    expect(await getAll(served)).toEqual(bodies);
    await expect.poll(() => responseBuffers.freeBytes).toBeGreaterThan(128 * 1024);
  });

  test('HTTP/1.1 with compression', async () => {
    const served = await serve({ compression: { enabled: true } });
    expect(await getAll(served, { 'accept-encoding': 'gzip' })).toEqual(bodies);
  });

  test('HTTP/2', async () => {
    const { port, ca } = await serve();
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca });
    onTestFinished(() => session.destroy());
    const sent = calls.map(([letter, rows]) => text(session.request({ ':path': pathOf(letter, rows) })));
    expect(await Promise.all(sent)).toEqual(bodies);
  });
});
