import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const bin: string = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));

/** The built program in a child process. */
export interface Program {
  readonly child: ChildProcess;
  readonly text: { stdout: string; stderr: string };
  /** Resolves with the first match in the standard output; rejects when the process ends without it. */
  until(wanted: RegExp): Promise<RegExpExecArray>;
  /** The exit code, or the name of the signal. */
  readonly ended: Promise<number | string>;
}

/** Runs `command` in the folder. A process that still runs at the end of the test is killed. */
export function start(folder: string, command: readonly string[], environment: NodeJS.ProcessEnv = {}): Program {
  const [file, ...rest] = command as [string, ...string[]];
  const { PATH } = process.env;
  const child = spawn(file, rest, { cwd: folder, env: { PATH, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  const text = { stdout: '', stderr: '' };
  const written = new EventEmitter();
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk));
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text.stdout += chunk;
    written.emit('written');
  });
  const until = async (wanted: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = wanted.exec(text.stdout);
      if (match !== null) return match;
      const code = await Promise.race([once(written, 'written').then(() => null), ended]);
      if (code !== null) throw new Error(`ended with ${code} before ${String(wanted)}:\n${text.stdout}${text.stderr}`);
    }
  };
  return { child, text, until, ended };
}

/** Whether a process listens on the port of this machine. */
export function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.unref().once('connect', () => socket.destroy());
  });
}

/** Waits until no process listens on the port. */
export async function closed(port: number): Promise<void> {
  while (await isOpen(port)) await new Promise((resolve) => setTimeout(resolve, 50));
}
