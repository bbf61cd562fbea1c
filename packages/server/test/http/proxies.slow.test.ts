/** HAProxy and nginx in front: proxy and server see the same requests on their shared connections. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { nodeMiddleware } from '../../../core/src/adapters/node.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { listen } from '../../src/http/http-server.ts';
import { folderWith } from '../support/folder.ts';
import { isOpen } from '../support/program.ts';
import { openRaw } from '../support/raw-client.ts';

interface ProxyPorts {
  readonly port: number;
  readonly server: number;
}

const haproxy = ({ port, server }: ProxyPorts): string => `
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
  http-reuse always
frontend front
  bind 127.0.0.1:${port}
  default_backend back
backend back
  server one 127.0.0.1:${server}
`;

const nginx = ({ port, server }: ProxyPorts): string => `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  upstream back { server 127.0.0.1:${server}; keepalive 1; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://back; proxy_http_version 1.1; proxy_set_header Host $host; proxy_set_header Connection ""; proxy_request_buffering off; }
  }
}
`;

const proxies = [
  ['haproxy', haproxy, (folder: string) => ['-db', '-f', join(folder, 'proxy.conf')]],
  ['nginx', nginx, (folder: string) => ['-p', folder, '-c', join(folder, 'proxy.conf'), '-e', 'stderr']],
] as const;

function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const post = (...headers: readonly string[]): string =>
  ['POST /attack HTTP/1.1', 'Host: localhost', ...headers, '', ''].join('\r\n');
const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n';
const chunked = 'Transfer-Encoding: chunked';

/** Requests that hide another one in their body, or behind an ambiguous end. */
const attacks: Readonly<Record<string, string>> = {
  'length and chunks': `${post('Content-Length: 5', chunked)}0\r\n\r\n${smuggled}`,
  'chunks and length': `${post(chunked, `Content-Length: ${5 + smuggled.length}`)}0\r\n\r\n${smuggled}`,
  'two lengths': `${post('Content-Length: 0', `Content-Length: ${smuggled.length}`)}${smuggled}`,
  'an unknown coding': `${post('Transfer-Encoding: xchunked', `Content-Length: ${smuggled.length}`)}${smuggled}`,
  'an empty coding': `${post('Transfer-Encoding:', `Content-Length: ${smuggled.length}`)}${smuggled}`,
  'a coding after a tab': `${post('Transfer-Encoding:\tchunked', 'Content-Length: 5')}0\r\n\r\n${smuggled}`,
  'a coding after a space before the colon': `${post('Transfer-Encoding : chunked', 'Content-Length: 5')}0\r\n\r\n${smuggled}`,
  'a folded coding': `${post('Transfer-Encoding:', ' chunked', 'Content-Length: 5')}0\r\n\r\n${smuggled}`,
  'two codings': `${post(chunked, 'Transfer-Encoding: identity')}0\r\n\r\n${smuggled}`,
  'HTTP/1.0 with chunks': `${post(chunked, 'Content-Length: 5').replace('1.1', '1.0')}0\r\n\r\n${smuggled}`,
  'an extension with LF': `${post(chunked)}2;\n${'a'.repeat(2)}\r\n0\r\n\r\n${smuggled}`,
  'a chunk longer than its size': `${post(chunked)}1\r\nab\r\n0\r\n\r\n${smuggled}`,
  'a large chunk size': `${post(chunked)}100000000000000000\r\n\r\n${smuggled}`,
  'a body of GET': `${post(`Content-Length: ${smuggled.length}`).replace('POST', 'GET')}${smuggled}`,
  'an upgrade to h2c': `${post('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__', 'Content-Length: 0')}`,
  'an expectation': `${post('Expect: 100-continue', `Content-Length: ${smuggled.length}`)}${smuggled}`,
};

/** Attacks a proxy. Returns what other clients have received after each attack. */
async function answersBehind([program, configuration, argv]: (typeof proxies)[number]): Promise<readonly string[]> {
  const echo = nodeMiddleware(async (request) => {
    await request.body(1000).catch(() => null);
    return { kind: 'whole', status: 200, headers: [], body: `answer to ${request.path}` };
  });
  const server = await listen(parseConfiguration({ port: 0, limits: { requestTimeout: 1 } }), echo);
  onTestFinished(() => server.stop(0, AbortSignal.abort()));
  const port = await freePort();
  const folder = await folderWith({ 'proxy.conf': configuration({ port, server: server.port }) });
  const child = spawn(program, argv(folder), { cwd: folder, stdio: 'ignore' });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await expect.poll(() => isOpen(port)).toBe(true);

  const answers: string[] = [];
  for (const [name, bytes] of Object.entries(attacks)) {
    const attacker = openRaw({ port });
    attacker.socket.write(bytes);
    for (const path of ['/a', '/b']) {
      const victim = openRaw({ port });
      victim.socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      // On the connection of the attack.
      const [, ...bodies] = (await victim.closed).split('answer to ');
      answers.push(`${name}: ${bodies.join(' ')}`);
    }
    attacker.socket.destroy();
  }
  return answers;
}

describe('the answers to other clients are their own', () => {
  const expected = Object.keys(attacks).flatMap((name) => [`${name}: /a`, `${name}: /b`]);
  for (const proxy of proxies) {
    test.skipIf(!isInstalled(proxy[0]))(`behind ${proxy[0]}`, async () => {
      expect(await answersBehind(proxy)).toEqual(expected);
    });
  }
});
