import type { Gateway } from '@pgway/core';
import { onTestFinished } from 'vitest';
import type { Configuration } from '../../src/config/schema.ts';
import { parseConfiguration } from './parse-configuration.ts';
import { Lifecycle } from '../../src/lifecycle.ts';
import { startGateway, startHttpServer } from '../../src/start.ts';

export interface Served {
  readonly url: string;
  readonly port: number;
  readonly gateway: Gateway;
  readonly lifecycle: Lifecycle;
  readonly configuration: Configuration;
}

/** Serves with this configuration until the test has ended. */
export async function serveDatabase(connectionString: string, file: object): Promise<Served> {
  const configuration = parseConfiguration({ port: 0, ...file });
  const lifecycle = new Lifecycle();
  onTestFinished(async () => {
    lifecycle.forceStop();
    await lifecycle.stop();
  });
  const gateway = await startGateway(lifecycle, configuration, connectionString, {});
  const { port } = await startHttpServer(lifecycle, configuration, gateway, { handlers: [], certificates: null });
  return { url: `http://127.0.0.1:${port}`, port, gateway, lifecycle, configuration };
}

export async function read(url: string): Promise<readonly [status: number, body: unknown]> {
  const response = await fetch(url);
  return [response.status, await response.json()];
}

/** The checks of a healthy server. */
export const allOk = { database: 'ok', pool: 'ok', catalog: 'ok' };
