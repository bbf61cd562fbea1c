import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort, useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';
import { isOpen } from '../support/program.ts';
import { runServer } from '../support/run-server.ts';

/** Responses to QUERY behind the caches of nginx and HAProxy: the key of a cache has the body (RFC 10008, section 2.7), or nothing is stored. */

const database = useDatabase(
  `create table film (id int primary key, title text not null); insert into film values (1, 'Alien'), (2, repeat('x', 5000));`,
);

interface Ports {
  readonly port: number;
  readonly server: number;
}

const nginx =
  (location: string) =>
  ({ port, server }: Ports): string =>
    `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  proxy_cache_path cache keys_zone=responses:1m;
  server {
    listen 127.0.0.1:${port};
    location / {
      ${location}
      proxy_pass http://127.0.0.1:${server};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_cache responses;
      proxy_cache_methods GET HEAD POST;
      proxy_cache_key $uri$is_args$args;
    }
  }
}
`;

const haproxy =
  (rule: string) =>
  ({ port, server }: Ports): string =>
    `
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
cache responses
  total-max-size 4
  max-age 60
frontend front
  bind 127.0.0.1:${port}
  ${rule}
  http-request cache-use responses
  http-response cache-store responses
  default_backend back
backend back
  server one 127.0.0.1:${server}
`;

const programs = {
  nginx: (folder: string) => ['-p', folder, '-c', join(folder, 'proxy.conf'), '-e', 'stderr'],
  haproxy: (folder: string) => ['-db', '-f', join(folder, 'proxy.conf')],
};
type Program = keyof typeof programs;

function isInstalled(program: Program): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Starts the server with the proxy in front. Returns the URL of the proxy, and the module of the client that calls it. */
async function start(program: Program, configuration: (ports: Ports) => string) {
  const port = await freePort();
  const folder = await folderWith({
    'pgway.json': {
      connectionString: database.connectionString,
      port: 0,
      sqlFiles: '*.sql',
      typescriptClient: { filePath: 'client.mjs', skipTypes: true, customHost: `http://127.0.0.1:${port}` },
    },
    'film.sql':
      '-- HTTP GET /film\n-- cache-control: public, max-age=60\n-- single\nselect id, clock_timestamp()::text as at from film where title = :title',
  });
  const server = await runServer(folder);
  expect(await run(['generate'], {}, createTestProcess(folder))).toBe(0);
  const proxyFolder = await folderWith({ 'proxy.conf': configuration({ port, server: server.port }) });
  const child = spawn(program, programs[program](proxyFolder), { cwd: proxyFolder, stdio: 'ignore' });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await expect.poll(() => isOpen(port)).toBe(true);
  const client = (await import(pathToFileURL(join(folder, 'client.mjs')).href)) as Readonly<
    Record<string, (request: object) => Promise<{ readonly id: number } | null>>
  >;
  return { url: `http://127.0.0.1:${port}/film`, client };
}

const json = { 'content-type': 'application/json' };

const cached: Readonly<Record<Program, (ports: Ports) => string>> = { nginx: nginx(''), haproxy: haproxy('') };

const refusing: readonly (readonly [number, Program, (ports: Ports) => string])[] = [
  [405, 'nginx', nginx('if ($request_method = QUERY) { return 405; }')],
  [501, 'nginx', nginx('if ($request_method = QUERY) { return 501; }')],
  [405, 'haproxy', haproxy('http-request deny deny_status 405 unless METH_GET or METH_POST')],
  [501, 'haproxy', haproxy('http-request return status 501 if { method QUERY }')],
];

describe.each(['nginx', 'haproxy'] as const)('%s', (program) => {
  const isMissing = !isInstalled(program);

  test.skipIf(isMissing)('its cache stores responses to GET, and none to QUERY, whatever their bodies', async () => {
    const { url } = await start(program, cached[program]);
    const query = async (title: string): Promise<unknown> => {
      const response = await fetch(url, { method: 'QUERY', headers: json, body: JSON.stringify({ title }) });
      return response.status === 200 ? response.json() : response.status;
    };
    const get = async (title: string): Promise<unknown> => (await fetch(`${url}?title=${title}`)).json();

    const first = await query('Alien');
    expect(first).toMatchObject({ id: 1 });
    expect(await query('x'.repeat(5000))).toMatchObject({ id: 2 });
    expect(await query('none')).toBe(204);
    expect(await query('Alien')).not.toEqual(first);
    // The URL of QUERY is that of GET without parameters.
    expect((await fetch(url)).status).toBe(400);
    const stored = await get('Alien');
    expect(await get('Alien')).toEqual(stored);
    expect(await query('Alien')).not.toEqual(stored);
  });

  test.skipIf(isMissing).each(refusing.filter(([, refuser]) => refuser === program))(
    '%d of %s to QUERY: the generated client sends GET',
    async (_, refuser, configuration) => {
      const { client } = await start(refuser, configuration);
      expect(await client['film']!({ title: 'x'.repeat(5000) })).toMatchObject({ id: 2 });
      expect(await client['film']!({ title: 'Alien' })).toMatchObject({ id: 1 });
      expect(await client['film']!({ title: 'y'.repeat(5000) })).toBeNull();
    },
  );
});
