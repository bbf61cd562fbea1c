/** Gateways of the benchmark, each in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { GatewayOptions } from '@pgway/core';

import type { GrowthRequest, GrowthResponses } from './gateway.ts';

export interface Instance {
  readonly child: ChildProcess;
  readonly start: GrowthResponses['start'];
}

const entry = fileURLToPath(new URL('gateway.js', import.meta.url));

/**
 * @param options those that JSON can contain
 * @param sqlFiles a folder of SQL files that are endpoints; null: none
 */
export async function startInstance(options: GatewayOptions, sqlFiles: string | null = null): Promise<Instance> {
  const child = fork(entry, { execArgv: ['--expose-gc'], env: { ...process.env, NODE_ENV: 'production' } });
  try {
    return { child, start: await ask(child, { kind: 'start', options, sqlFiles }) };
  } catch (error) {
    await closeChild(child);
    throw error;
  }
}

export function closeInstance({ child }: Instance): Promise<void> {
  return closeChild(child);
}

async function closeChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  if (child.connected) child.disconnect();
  await exited;
}

/** Sends a request to the process, which handles one at a time. */
export function ask<K extends GrowthRequest['kind']>(
  child: ChildProcess,
  request: GrowthRequest & { readonly kind: K },
): Promise<GrowthResponses[K]> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error('the process of the gateway has ended'));
    child.once('exit', onExit);
    child.once('message', (message: { result?: GrowthResponses[K]; error?: string }) => {
      child.off('exit', onExit);
      if (message.result === undefined) reject(new Error(message.error));
      else resolve(message.result);
    });
    child.send(request);
  });
}
