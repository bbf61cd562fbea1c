/** The standalone server `pgway`, as a program of its own. */
import { closeSync, openSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@pgway/testing/free-port';

import { collectorOption, type ContenderSettings } from './contenders/contender.ts';
import { type ProgramServer, startProgram } from './program-server.ts';

const program = fileURLToPath(new URL('dist/bin.js', import.meta.resolve('pgway/package.json')));

/** Starts the server with its defaults for production; its log goes to a file. */
export async function startPgwayServer(
  { connectionString, pool }: ContenderSettings,
  options: readonly string[],
): Promise<ProgramServer> {
  const folder = await mkdtemp(join(tmpdir(), 'pgway-bench-'));
  const output = openSync(join(folder, 'server.log'), 'w');
  const collector = options.includes(collectorOption) ? await startCollector() : null;
  const removeFolder = (): void => {
    rmSync(folder, { recursive: true, force: true });
    collector?.close();
  };
  const given = options.map((option) => (option === collectorOption ? `--tracing.endpoint=${collector!.url}` : option));
  // The last option of a name applies.
  const port = await freePort();
  try {
    const server = await startProgram({
      name: 'pgway',
      command: process.execPath,
      args: [program, `--port=${port}`, `--gateway.poolSize=${pool}`, '--log.format=json', ...given],
      env: { ...process.env, PGWAY_CONNECTION_STRING: connectionString },
      folder,
      output,
      port,
    });
    return {
      ...server,
      async close() {
        await server.close();
        removeFolder();
      },
    };
  } catch (error) {
    removeFolder();
    throw error;
  } finally {
    closeSync(output);
  }
}

interface Collector {
  readonly url: string;
  close(): void;
}

/** Takes traces and drops them. */
async function startCollector(): Promise<Collector> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
