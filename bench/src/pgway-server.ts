/** The standalone server `pgway`, as a program of its own. */
import { closeSync, openSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@pgway/testing/free-port';

import type { ContenderSettings } from './contenders/contender.ts';
import { type ProgramServer, startProgram } from './program-server.ts';

const program = fileURLToPath(new URL('dist/bin.js', import.meta.resolve('pgway/package.json')));

/** Starts the server with its defaults for production; its log goes to a file. */
export async function startPgwayServer(
  { connectionString, pool }: ContenderSettings,
  options: readonly string[],
): Promise<ProgramServer> {
  const folder = await mkdtemp(join(tmpdir(), 'pgway-bench-'));
  const output = openSync(join(folder, 'server.log'), 'w');
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  const port = await freePort();
  try {
    const server = await startProgram({
      name: 'pgway',
      command: process.execPath,
      args: [program, `--port=${port}`, `--gateway.poolSize=${pool}`, '--log.format=json', ...options],
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
