import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@pgway/testing';
import { type PemCertificate, createCertificate } from '../support/certificates.ts';
import { folderWith } from '../support/folder.ts';
import { isOpen, type Program, start } from '../support/program.ts';
import { deployText } from './deploy-files.ts';

/** A reverse proxy with the configuration of `deploy`, in front of two servers. */
export interface Proxy {
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly certificate: string;
  readonly program: Program;
}

export const proxyNames = ['nginx', 'haproxy'] as const;
export type ProxyName = (typeof proxyNames)[number];

export function isInstalled(command: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Starts the proxy until the end of the test. The servers are `127.0.0.1:8080`. */
export async function startProxy(name: ProxyName, servers: readonly [string, string]): Promise<Proxy> {
  const certificate = await createCertificate({ names: ['localhost', '127.0.0.1'] });
  const folder = await folderWith({ 'certificate.pem': `${certificate.certificate}\n${certificate.key}\n` });
  const [httpPort, httpsPort] = [await freePort(), await freePort()];
  const setUp = { folder, servers, httpPort, httpsPort, certificate };
  const program = name === 'nginx' ? await startNginx(setUp) : await startHaproxy(setUp);
  while (!(await isOpen(httpsPort))) {
    const code = await Promise.race([program.ended, new Promise<null>((resolve) => setTimeout(resolve, 50, null))]);
    if (code !== null) throw new Error(`${name} ended with ${code}: ${program.text.stdout}${program.text.stderr}`);
  }
  return { httpPort, httpsPort, certificate: certificate.certificate, program };
}

interface SetUp {
  readonly folder: string;
  readonly servers: readonly [string, string];
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly certificate: PemCertificate;
}

/** Replaces a text that must occur. */
export function replaceExisting(text: string, search: string | RegExp, replacement: string): string {
  const replaced = text.replaceAll(search, replacement);
  if (replaced === text) throw new Error(`${String(search)} does not occur`);
  return replaced;
}

async function startNginx({ folder, servers, httpPort, httpsPort, certificate }: SetUp): Promise<Program> {
  await mkdir(join(folder, 'temporary'));
  let site = deployText('nginx/pgway.conf');
  site = replaceExisting(site, '10.0.0.11:8080', servers[0]);
  site = replaceExisting(site, '10.0.0.12:8080', servers[1]);
  site = replaceExisting(site, 'listen 80;', `listen 127.0.0.1:${httpPort};`);
  site = replaceExisting(site, 'listen 443 ', `listen 127.0.0.1:${httpsPort} `);
  site = replaceExisting(site, /\/etc\/nginx\/certificates\/api\.example\.org/g, join(folder, 'server'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, 'temporary', kind)};`,
  );
  const main = `
    daemon off;
    master_process off;
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    pid ${join(folder, 'nginx.pid')};
    error_log stderr warn;
    events { worker_connections 512; }
    http { access_log off; ${temporary.join(' ')} include ${join(folder, 'pgway.conf')}; }
  `;
  await writeFile(join(folder, 'server.pem'), certificate.certificate);
  await writeFile(join(folder, 'server.key'), certificate.key);
  await writeFile(join(folder, 'pgway.conf'), site);
  await writeFile(join(folder, 'nginx.conf'), main);
  return start(folder, ['nginx', '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')]);
}

async function startHaproxy({ folder, servers, httpPort, httpsPort }: SetUp): Promise<Program> {
  await writeFile(join(folder, 'haproxy.cfg'), deployText('haproxy/haproxy.cfg'));
  return start(folder, ['haproxy', '-db', '-f', join(folder, 'haproxy.cfg')], {
    PGWAY_SERVER_1: servers[0],
    PGWAY_SERVER_2: servers[1],
    PGWAY_CERTIFICATE: join(folder, 'certificate.pem'),
    PGWAY_HTTP_PORT: String(httpPort),
    PGWAY_HTTPS_PORT: String(httpsPort),
  });
}
