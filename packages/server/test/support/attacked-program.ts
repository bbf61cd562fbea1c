import * as http from 'node:http';
import * as https from 'node:https';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createCertificate } from './certificates.ts';
import { folderWith } from './folder.ts';
import { bin, type Program, start } from './program.ts';

/** The program in a process of its own, for clients that attack it. */
export interface AttackedProgram {
  readonly program: Program;
  readonly port: number;
  readonly folder: string;
  /** The certificate of the program. */
  readonly ca: string;
  /** The physical memory of the process in MiB. */
  readonly memory: () => Promise<number>;
  /** Calls `hello` as another client, on a new connection from 127.0.0.9, and fails unless the answer is right. */
  readonly serveOthers: () => Promise<void>;
}

/** The SQL of the endpoint that `serveOthers` calls. */
export const helloSql = `
  create function hello(_name text) returns text language sql stable as $$ select 'Hello ' || _name $$;
  comment on function hello is 'HTTP GET';
`;

/** Starts the program; with TLS in `configuration`, with a certificate for it. */
export async function startAttacked(connectionString: string, configuration: object = {}): Promise<AttackedProgram> {
  const { certificate, key } = await createCertificate();
  const folder = await folderWith({ 'server.crt': certificate, 'server.key': key });
  await writeFile(join(folder, 'pgway.json'), JSON.stringify({ port: 0, connectionString, ...configuration }));
  const program = start(folder, [process.execPath, bin]);
  const [, scheme, port] = await program.until(/endpoints? at (https?):\/\/127\.0\.0\.1:(\d+)/);
  return {
    program,
    port: Number(port),
    folder,
    ca: certificate,
    memory: async () => {
      const status = await readFile(`/proc/${program.child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)![1]) / 1024;
    },
    serveOthers: async () => {
      const name = `${Math.random()}`;
      const path = `/api/hello?name=${name}`;
      expect(await ask(scheme === 'https' ? certificate : null, Number(port), path)).toBe(`200 Hello ${name}`);
    },
  };
}

function ask(ca: string | null, port: number, path: string): Promise<string> {
  const options = { host: '127.0.0.1', port, path, localAddress: '127.0.0.9', agent: false };
  const outgoing = ca === null ? http.request(options) : https.request({ ...options, ca });
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject).on('response', (response: http.IncomingMessage) => {
      response
        .setEncoding('utf8')
        .toArray()
        .then((body) => resolve(`${response.statusCode} ${body.join('')}`), reject);
    });
    outgoing.end();
  });
}
