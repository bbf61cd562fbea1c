import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer, request as httpsRequest } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fetchHandler } from '../../src/adapters/fetch.ts';
import { canonicalAddress, type ClientOrigin, createOriginReader } from '../../src/adapters/forwarded.ts';
import { nodeMiddleware } from '../../src/adapters/node.ts';
import type { GatewayRequest } from '../../src/http/request.ts';
import type { GatewayResponse } from '../../src/http/response.ts';
import { requestOf } from './request.ts';
import { codePoint } from '../support/code-point.ts';

/** The client connection of a request that this peer sends with these headers. */
function origin(
  trusted: readonly string[],
  remoteAddress: string,
  headers: Readonly<Record<string, string>>,
): ClientOrigin {
  return createOriginReader(trusted)(requestOf({ remoteAddress, headers }));
}

describe('without trusted proxies', () => {
  test('the peer is the client, and headers are ignored', () => {
    const headers = {
      'x-forwarded-for': '1.2.3.4',
      'x-forwarded-proto': 'https',
      forwarded: 'for=1.2.3.4;proto=https',
    };
    expect(origin([], '192.0.2.1', headers)).toEqual({ address: '192.0.2.1', secure: false });
    expect(origin(['10.0.0.0/8'], '192.0.2.1', headers)).toEqual({ address: '192.0.2.1', secure: false });
  });

  test('an IPv4-mapped IPv6 address is normalized to IPv4', () => {
    expect(origin([], '::ffff:192.0.2.1', {}).address).toBe('192.0.2.1');
    expect(origin([], '::ffff:c000:201', {}).address).toBe('192.0.2.1');
    expect(origin([], '2001:DB8:0::1', {}).address).toBe('2001:db8::1');
    expect(origin([], 'fe80::1%eth0', {}).address).toBe('fe80::1');
  });

  test('without a peer address the client address is unknown', () => {
    const request = { ...requestOf({ headers: { 'x-forwarded-for': '1.2.3.4' } }), remoteAddress: undefined };
    expect(createOriginReader(['loopback'])(request).address).toBe(null);
  });
});

describe('behind trusted proxies', () => {
  test('the client is the last hop that is not a trusted proxy', () => {
    const trusted = ['loopback', '10.0.0.0/8', 'fd00::/8'];
    const from = (text: string, peer = '127.0.0.1') => origin(trusted, peer, { 'x-forwarded-for': text }).address;
    expect(from('203.0.113.9')).toBe('203.0.113.9');
    expect(from('203.0.113.9', '::1')).toBe('203.0.113.9');
    expect(from('203.0.113.9', '::ffff:127.0.0.1')).toBe('203.0.113.9');
    expect(from('203.0.113.9, 10.1.2.3')).toBe('203.0.113.9');
    expect(from('203.0.113.9, ::ffff:10.1.2.3, fd00::7')).toBe('203.0.113.9');
    expect(from('10.0.0.8, 10.1.2.3')).toBe('10.0.0.8');
  });

  test('an address forged by the client stands before its real one and is ignored', () => {
    expect(origin(['loopback'], '127.0.0.1', { 'x-forwarded-for': '127.0.0.1, 198.51.100.66' }).address).toBe(
      '198.51.100.66',
    );
  });

  test('ports and brackets are removed from an address', () => {
    const from = (text: string) => origin(['loopback'], '127.0.0.1', { 'x-forwarded-for': text }).address;
    expect(['1.2.3.4:80', '[2001:db8::1]', '[2001:db8::1]:80', '2001:db8::1'].map(from)).toEqual([
      '1.2.3.4',
      '2001:db8::1',
      '2001:db8::1',
      '2001:db8::1',
    ]);
  });

  test('a hop that is not an address hides the hops before it', () => {
    const from = (text: string) => origin(['loopback'], '127.0.0.1', { 'x-forwarded-for': text }).address;
    expect(['1.2.3.4, unknown', '1.2.3.4, ', '1.2.3.4, 01.2.3.4', '1.2.3.4, <b>'].map(from)).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });

  test('the scheme is that of the client', () => {
    const secure = (addresses: string | null, schemes: string) =>
      origin(['loopback', '10.0.0.1'], '127.0.0.1', {
        ...(addresses === null ? {} : { 'x-forwarded-for': addresses }),
        'x-forwarded-proto': schemes,
      }).secure;
    expect(secure('203.0.113.9', 'https')).toBe(true);
    expect(secure('203.0.113.9', 'http')).toBe(false);
    expect(secure(null, 'HTTPS')).toBe(true);
    expect(secure('203.0.113.9, 10.0.0.1', 'https, http')).toBe(true);
    expect(secure('203.0.113.9, 10.0.0.1', 'http, https')).toBe(false);
    // The client wrote the first value of each header; the proxy appended the others.
    expect(secure('1.2.3.4, 203.0.113.9', 'https, http')).toBe(false);
    // The client wrote a scheme only.
    expect(secure('203.0.113.9', 'https, http')).toBe(false);
  });

  test('without a forwarded scheme, the scheme of the connection applies', () => {
    const request = requestOf({ remoteAddress: '127.0.0.1', secure: true, headers: { 'x-forwarded-for': '1.2.3.4' } });
    expect(createOriginReader(['loopback'])(request)).toEqual({ address: '1.2.3.4', secure: true });
  });

  test('Forwarded applies if there is no X-Forwarded header', () => {
    const from = (text: string, more = {}) =>
      origin(['loopback', '10.0.0.1'], '127.0.0.1', { forwarded: text, ...more });
    expect(from('for=203.0.113.9;proto=https;by=10.0.0.1')).toEqual({ address: '203.0.113.9', secure: true });
    expect(from('For="[2001:db8:cafe::17]:4711";Proto=http')).toEqual({ address: '2001:db8:cafe::17', secure: false });
    expect(from('for=203.0.113.9;proto=https, for=10.0.0.1;proto=http')).toEqual({
      address: '203.0.113.9',
      secure: true,
    });
    expect(from('for=1.1.1.1;proto=https, for=203.0.113.9').secure).toBe(false);
    expect(from('for=_hidden;proto=https').address).toBe(null);
    expect(from('for=1.1.1.1;for=2.2.2.2').address).toBe(null);
    expect(from('for="1.1.1.1, for=2.2.2.2').address).toBe('2.2.2.2');
    expect(from('for=1.1.1.1 2.2.2.2').address).toBe(null);
    expect(from('by="a, for=1.1.1.1";for=2.2.2.2').address).toBe('2.2.2.2');
    expect(from('for=1.1.1.1;proto=https', { 'x-forwarded-for': '203.0.113.9' })).toEqual({
      address: '203.0.113.9',
      secure: false,
    });
    expect(from('for=1.1.1.1;proto=https', { 'x-forwarded-proto': 'http' })).toEqual({
      address: '127.0.0.1',
      secure: false,
    });
  });

  test("an unclosed quotation mark hides only the client's own values", () => {
    const from = (client: string, added: string) =>
      origin(['loopback'], '127.0.0.1', { forwarded: `${client}, ${added}` }).address;
    const clients = ['"', 'for=6.6.6.6;x="', 'for="6.6.6.6', 'for=6.6.6.6;x="\\', 'for=6.6.6.6;x="";y="'];
    const quoted = clients.map((client) => from(client, 'for="[2001:db8::7]:4711"'));
    expect(quoted.filter((address) => address !== null && address !== '2001:db8::7')).toEqual([]);
    const open = clients.map((client) => from(client, 'for=203.0.113.9;proto=https'));
    expect(open.filter((address) => address !== null && address !== '203.0.113.9')).toEqual([]);
  });

  test('if the proxies write Forwarded, X-Forwarded-For of the client is ignored', () => {
    const headers = { 'x-forwarded-for': '1.1.1.1', 'x-forwarded-proto': 'https', forwarded: 'for=203.0.113.9' };
    const read = createOriginReader(['loopback'], 'forwarded');
    expect(read(requestOf({ remoteAddress: '127.0.0.1', headers }))).toEqual({ address: '203.0.113.9', secure: false });
  });
});

describe('the trustedProxies option', () => {
  test('addresses, blocks and loopback are accepted, in both families', () => {
    const trusts = (entry: string, peer: string) =>
      origin([entry], peer, { 'x-forwarded-for': '203.0.113.9' }).address === '203.0.113.9';
    expect(trusts('10.0.0.7', '10.0.0.7')).toBe(true);
    expect(trusts('10.0.0.7', '10.0.0.8')).toBe(false);
    expect(trusts('10.0.0.0/31', '10.0.0.1')).toBe(true);
    expect(trusts('10.0.0.0/31', '10.0.0.2')).toBe(false);
    expect(trusts('::ffff:10.0.0.0/127', '10.0.0.1')).toBe(true);
    expect(trusts('::ffff:10.0.0.0/127', '10.0.0.2')).toBe(false);
    expect(trusts('10.0.0.7', '::ffff:10.0.0.7')).toBe(true);
    expect(trusts('2001:db8::/32', '2001:db8:1::1')).toBe(true);
    expect(trusts('2001:db8::/32', '2001:db9::1')).toBe(false);
    expect(trusts('loopback', '127.8.9.10')).toBe(true);
    expect(trusts('loopback', '::1')).toBe(true);
    expect(trusts('loopback', '128.0.0.1')).toBe(false);
    expect(trusts('0.0.0.0/0', '2001:db8::1')).toBe(false);
  });

  test('any other value stops the start', () => {
    for (const entry of [
      '',
      'proxy.local',
      '10.0.0.0/33',
      '::/129',
      '10.0.0.0/-1',
      '::ffff:1.2.3.4/95',
      '10.0.0.1/8/9',
    ]) {
      expect(() => createOriginReader([entry])).toThrow(TypeError);
    }
  });
});

describe('generated headers', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6());
  const text = fc.oneof(
    fc.string({ unit: codePoint, maxLength: 80 }),
    fc.array(fc.oneof(address, fc.string({ maxLength: 10 })), { maxLength: 6 }).map((parts) => parts.join(', ')),
    fc
      .array(fc.constantFrom('for=', 'proto=https', '"', ';', ',', '\\', '[', ']', '1.2.3.4'), { maxLength: 20 })
      .map((p) => p.join('')),
  );
  const headers = fc.record(
    { 'x-forwarded-for': text, 'x-forwarded-proto': text, forwarded: text, 'x-forwarded-host': text },
    { requiredKeys: [] },
  );

  test('an untrusted peer is the client', () => {
    fc.assert(
      fc.property(headers, (given) => {
        expect(origin(['loopback', '10.0.0.0/8'], '192.0.2.1', given)).toEqual({ address: '192.0.2.1', secure: false });
      }),
    );
  });

  test('the result is an address in canonical form, or null', () => {
    fc.assert(
      fc.property(headers, (given) => {
        const { address: found } = origin(['loopback'], '127.0.0.1', given);
        expect(found).toBe(canonicalAddress(found ?? undefined));
      }),
      { numRuns: 1000 },
    );
  });

  test('a header of maximum length is parsed in linear time', () => {
    const hostile = [
      '"\\'.repeat(320_000),
      '"'.repeat(640_000),
      'for='.repeat(160_000),
      'a=b;'.repeat(160_000),
      ','.repeat(640_000),
    ];
    // A quadratic search would run for minutes.
    const found = hostile.map((forwarded) => origin(['loopback'], '127.0.0.1', { forwarded }));
    expect(found).toHaveLength(hostile.length);
  });

  test('a forged Forwarded header never changes the client address', () => {
    const part = fc.constantFrom('for=6.6.6.6', 'for="6.6.6.6"', '"', ';', ',', '\\', ' ', 'x=', 'proto=https', '=');
    const before = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));
    const added = fc.constantFrom('for=203.0.113.9', 'for="203.0.113.9:80"', 'proto=https;for="203.0.113.9"');
    fc.assert(
      fc.property(before, added, (client, own) => {
        const found = origin(['loopback'], '127.0.0.1', { forwarded: `${client}, ${own}` });
        expect([null, '203.0.113.9']).toContain(found.address);
      }),
      { numRuns: 5000 },
    );
  });

  test('the hop that the proxy appends is the client, regardless of forged values before it', () => {
    const mapped = (text: string): boolean =>
      canonicalAddress(text)!.startsWith('127.') || canonicalAddress(text) === '::1';
    fc.assert(
      fc.property(text, address, (before, client) => {
        fc.pre(!mapped(client));
        const found = origin(['loopback'], '127.0.0.1', { 'x-forwarded-for': `${before}, ${client}` });
        expect(found.address).toBe(canonicalAddress(client));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('connections in the adapters', () => {
  const seen: GatewayRequest[] = [];
  const handle = async (request: GatewayRequest): Promise<GatewayResponse> => {
    seen.push(request);
    const body = `${request.remoteAddress} ${request.secure}`;
    return { kind: 'whole', status: 200, headers: [], body };
  };

  async function listening<Result>(
    server: Server,
    ask: (port: number) => Promise<Result>,
    host = '127.0.0.1',
  ): Promise<Result> {
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    try {
      return await ask((server.address() as AddressInfo).port);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  }

  test('node: the address of the peer, and not secure without TLS', async () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '1.2.3.4' };
    const answer = await listening(createHttpServer(nodeMiddleware(handle)), async (port) =>
      (await fetch(`http://127.0.0.1:${port}/`, { headers })).text(),
    );
    expect(answer).toBe('127.0.0.1 false');
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === 'IPv6'));
  test.skipIf(!hasIpv6)('node: an IPv4 address on a dual-stack socket is normalized', async () => {
    const ask = async (port: number): Promise<string> => (await fetch(`http://127.0.0.1:${port}/`)).text();
    expect(await listening(createHttpServer(nodeMiddleware(handle)), ask, '::')).toBe('127.0.0.1 false');
  });

  test.skipIf(spawnSync('openssl', ['version']).status !== 0)('node: a TLS connection is secure', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'pgway-https-'));
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
    const form = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-subj', '/CN=localhost'];
    execFileSync('openssl', ['req', '-x509', '-days', '2', '-nodes', ...form, '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    });
    const files = { key: await readFile(key), cert: await readFile(cert) };
    await rm(directory, { recursive: true });
    const answer = await listening(
      createHttpsServer(files, nodeMiddleware(handle)),
      (port) =>
        new Promise((resolve, reject) => {
          const options = { port, host: '127.0.0.1', ca: files.cert, servername: 'localhost', agent: false };
          const sent = httpsRequest(options, (response) => {
            response.on('data', (chunk: Buffer) => resolve(chunk.toString()));
          });
          sent.on('error', reject).end();
        }),
    );
    expect(answer).toBe('127.0.0.1 true');
  });

  test('fetch: the scheme of the URL, and the address that the host passes', async () => {
    const answer = fetchHandler(handle);
    const text = async (url: string, connection?: object) => (await answer(new Request(url), connection))!.text();
    expect(await text('http://example.org/')).toBe('undefined false');
    expect(await text('https://example.org/', { remoteAddress: '192.0.2.1' })).toBe('192.0.2.1 true');
    // Hosts pass second arguments of other shapes.
    expect(await text('https://example.org/', { remoteAddress: { hostname: 'x' } })).toBe('undefined true');
  });
});
