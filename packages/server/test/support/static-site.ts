import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { createGateway } from '@pgway/core';
import { onTestFinished } from 'vitest';
import { parseConfiguration } from './parse-configuration.ts';
import { gatewayOptions } from '../../src/gateway-options.ts';
import { createApp } from '../../src/http/app.ts';
import { listen } from '../../src/http/http-server.ts';
import { folderWith } from './folder.ts';

/** The endpoints of these tests: `GET /api/hello`, `GET /page.html`, and the login `POST /api/enter`. */
export const siteSql: string = `
  create function hello() returns text language sql stable as $$ select 'Hello' $$;
  comment on function hello is 'HTTP GET';
  create function page() returns text language sql stable as $$ select 'from the database' $$;
  comment on function page is 'HTTP GET /page.html';
  create function enter(_name text, _roles text[]) returns table (id text, name text, roles text[], email text) language sql as
    $$ select '7', _name, _roles, 'ada@example.org' $$;
  comment on function enter is 'HTTP
  login';
`;

export type Files = Readonly<Record<string, string | Buffer>>;

export interface Site {
  readonly url: string;
  readonly port: number;
  /** The working directory. */
  readonly folder: string;
}

export interface SiteOptions {
  readonly files: Files;
  /** The section of the configuration. */
  readonly staticFiles?: object;
  /** The other sections. */
  readonly configuration?: object;
}

/** Serves the folder `public` until the test has ended. */
export async function serveSite(connectionString: string, options: SiteOptions): Promise<Site> {
  const folder = await folderWith();
  const { site, close } = await openSite(connectionString, folder, options);
  onTestFinished(close);
  return site;
}

/** Serves the folder `public` of the folder. */
export async function openSite(
  connectionString: string,
  folder: string,
  { files, staticFiles, configuration: sections }: SiteOptions,
): Promise<{ readonly site: Site; readonly close: () => Promise<void> }> {
  await writeFiles(folder, files);
  const configuration = parseConfiguration({
    port: 0,
    staticFiles: { root: 'public', ...staticFiles },
    ...sections,
  });
  const gateway = await createGateway(await gatewayOptions(configuration, connectionString, {}));
  const app = await createApp(configuration, gateway, { workingDirectory: folder });
  const server = await listen(configuration, app.handle);
  return {
    site: { url: `http://127.0.0.1:${server.port}`, port: server.port, folder },
    close: async () => {
      await server.stop(0, AbortSignal.abort());
      await app.close();
      await gateway.close();
    },
  };
}

/** Writes files of one age. Names may have slashes. */
export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    await utimes(path, 1_700_000_000, 1_700_000_000);
  }
}

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends the target as it is: `fetch` normalizes paths. */
export function get(
  port: number,
  target: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawResponse> {
  return send(port, `GET ${target} HTTP/1.1`, headers);
}

export function send(port: number, line: string, headers: Readonly<Record<string, string>> = {}): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const chunks: Buffer[] = [];
    const fields = Object.entries({ host: 'localhost', connection: 'close', ...headers });
    socket.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
    socket.on('end', () => resolve(parseResponse(Buffer.concat(chunks).toString('latin1'))));
    socket.write(`${line}\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`, 'latin1');
  });
}

function parseResponse(text: string): RawResponse {
  const end = text.indexOf('\r\n\r\n');
  const [status, ...fields] = text.slice(0, end).split('\r\n');
  const headers = fields.map((field) => [
    field.slice(0, field.indexOf(':')).toLowerCase(),
    field.slice(field.indexOf(':') + 2),
  ]);
  return { status: Number(status!.split(' ')[1]), headers: Object.fromEntries(headers), body: text.slice(end + 4) };
}

/** Logs in. Returns the cookie. */
export async function login({ url }: Site, name: string, roles: readonly string[] = []): Promise<string> {
  const response = await fetch(`${url}/api/enter`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, roles }),
  });
  return response.headers.getSetCookie()[0]!.split(';', 1)[0]!;
}

/** Sections of the configuration. */
export const cookie = { cookie: { enabled: true } };
/** The headers of a browser that loads a page. */
export const navigation = { accept: 'text/html,*/*;q=0.8', 'sec-fetch-mode': 'navigate' };
