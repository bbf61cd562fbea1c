/** The built program in processes of its own, also on a terminal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Outcome } from './scout.ts';

export const bin: string = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));

export interface Run {
  readonly environment?: NodeJS.ProcessEnv;
  readonly folder?: string;
  /** A file for the standard output in place of the terminal. */
  readonly output?: string;
}

/** Runs the program without a terminal. */
export async function runProgram(argv: readonly string[], { environment = {}, folder }: Run = {}): Promise<Outcome> {
  const { PATH } = process.env;
  const child = spawn(process.execPath, [bin, ...argv], {
    env: { PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(folder === undefined ? {} : { cwd: folder }),
  });
  const text = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (text.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...text };
}

/** Runs a command on a pseudo terminal, and passes on its input and output. */
const terminalScript = `
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))`;

/** Runs the program on a terminal. Each answer is typed, or called, when its question is shown. The result of a call is typed. */
export async function runOnTerminal(
  argv: readonly string[],
  answers: readonly (readonly [question: string, answer: string | (() => void | Promise<string>)])[],
  { environment = {}, folder, output }: Run = {},
): Promise<{ readonly code: number; readonly screen: string }> {
  const { PATH } = process.env;
  const redirected = output === undefined ? [] : ['sh', '-c', 'exec "$@" >"$OUTPUT"', 'sh'];
  const child = spawn('python3', ['-c', terminalScript, ...redirected, process.execPath, bin, ...argv], {
    env: { PATH, TERM: 'xterm', OUTPUT: output, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(folder === undefined ? {} : { cwd: folder }),
  });
  let screen = '';
  let shown = 0;
  const open = [...answers];
  child.stdout.on('data', (chunk: Buffer) => {
    screen += chunk.toString();
    const [next] = open;
    const found = next === undefined ? -1 : screen.indexOf(next[0], shown);
    if (found === -1) return;
    open.shift();
    shown = found + next![0].length;
    const answer = next![1];
    if (typeof answer === 'string') child.stdin.write(`${answer}\r`);
    else void answer()?.then((text) => child.stdin.write(`${text}\r`));
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, screen: screen.replaceAll('\r\n', '\n') };
}
