import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type {
  ContenderResponses,
  ContenderName,
  Probe,
  ContenderRequest,
  ContenderSettings,
} from './contenders/contender.ts';
import { toError } from '@pgway/core/internal';

/** A contender that listens in a separate process. */
export interface ContenderProcess {
  /** `http://127.0.0.1:port`, without a slash at the end. */
  readonly origin: string;
  request<P extends Probe>(probe: P): Promise<ContenderResponses[P]>;
  close(): Promise<void>;
}

const entry = fileURLToPath(new URL('contenders/child.js', import.meta.url));

export async function startContender(name: ContenderName, settings: ContenderSettings): Promise<ContenderProcess> {
  // UTC: `pg` turns a date into midnight of the local zone.
  const child = fork(entry, { execArgv: [], env: { ...process.env, NODE_ENV: 'production', TZ: 'UTC' } });
  const exited = once(child, 'exit');
  const close = async (): Promise<void> => {
    if (child.connected) child.disconnect();
    await exited;
  };
  try {
    const { port } = await send(child, { kind: 'start', name, settings });
    return { origin: `http://127.0.0.1:${port}`, request: (probe) => send(child, { kind: probe }), close };
  } catch (error) {
    await close();
    throw new Error(`${name} did not start: ${toError(error).message}`, {
      cause: error,
    });
  }
}

async function send<A extends ContenderRequest['kind']>(
  child: ChildProcess,
  request: ContenderRequest & { readonly kind: A },
): Promise<ContenderResponses[A]> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error('its process has ended'));
    const onMessage = (message: unknown): void => {
      child.off('exit', onExit);
      const reply = message as { result?: ContenderResponses[A]; error?: string };
      if (reply.result === undefined) reject(new Error(reply.error ?? 'it returned no result'));
      else resolve(reply.result);
    };
    if (!child.connected) {
      onExit();
      return;
    }
    child.once('exit', onExit);
    child.once('message', onMessage);
    child.send(request);
  });
}
