import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { Answers, ContenderName, Probe, Question, Settings } from './contenders/contender.ts';

/** A contender in a process of its own, listening. */
export interface ContenderProcess {
  /** `http://127.0.0.1:port`, without a slash at the end. */
  readonly origin: string;
  ask<P extends Probe>(probe: P): Promise<Answers[P]>;
  close(): Promise<void>;
}

const entry = fileURLToPath(new URL('contenders/child.js', import.meta.url));

export async function startContender(name: ContenderName, settings: Settings): Promise<ContenderProcess> {
  // UTC: `pg` turns a date into midnight of the local zone.
  const child = fork(entry, { execArgv: [], env: { ...process.env, NODE_ENV: 'production', TZ: 'UTC' } });
  const exited = once(child, 'exit');
  const close = async (): Promise<void> => {
    if (child.connected) child.disconnect();
    await exited;
  };
  try {
    const { port } = await send(child, { ask: 'start', name, settings });
    return { origin: `http://127.0.0.1:${port}`, ask: (probe) => send(child, { ask: probe }), close };
  } catch (error) {
    await close();
    throw new Error(`${name} did not start: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

async function send<A extends Question['ask']>(
  child: ChildProcess,
  question: Question & { readonly ask: A },
): Promise<Answers[A]> {
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new Error('its process has ended'));
    const answered = (message: unknown): void => {
      child.off('exit', gone);
      const reply = message as { result?: Answers[A]; error?: string };
      if (reply.result === undefined) reject(new Error(reply.error ?? 'it gave no answer'));
      else resolve(reply.result);
    };
    if (!child.connected) {
      gone();
      return;
    }
    child.once('exit', gone);
    child.once('message', answered);
    child.send(question);
  });
}
