import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { freePort } from '@pgway/testing/free-port';

import type { Random } from '../random.ts';

const program = fileURLToPath(new URL('dist/bin.js', import.meta.resolve('pgway/package.json')));
const maxOutputLength = 2000;

/** The standalone server with two workers, as a process group of its own. */
export class AuditedServer {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #output: () => string;

  private constructor(child: ChildProcess, port: number, output: () => string) {
    this.#child = child;
    this.port = port;
    this.#output = output;
  }

  /** Why the primary process has ended by itself; null while it runs. */
  get ended(): string | null {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) return null;
    return `the server has ended by itself with ${signalCode ?? String(exitCode)}: ${this.#output()}`;
  }

  /** Resolves when the server listens, and rejects when it ends before. */
  static async start(folder: string, connectionString: string, options: readonly string[]): Promise<AuditedServer> {
    const port = await freePort();
    const args = [program, `--port=${port}`, '--workers=2', ...options];
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: { ...process.env, NODE_ENV: 'production', PGWAY_CONNECTION_STRING: connectionString },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    const isListening = await new Promise<boolean>((resolve) => {
      const read = (chunk: Buffer): void => {
        output = (output + chunk.toString()).slice(-maxOutputLength);
        if (/endpoints at http:/.test(output)) resolve(true);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', () => resolve(false));
      child.once('error', () => resolve(false));
    });
    const server = new AuditedServer(child, port, () => output);
    if (isListening) return server;
    server.killAll();
    throw new Error(`the server has ended before it listened: ${output}`);
  }

  /** Kills one of the workers. Returns false when there is none, or on systems without `/proc`. */
  killWorker(random: Random): boolean {
    const workers = this.#workers();
    if (workers.length === 0) return false;
    return kill(random.pick(workers), 'SIGKILL');
  }

  /**
   * Sends the signal to the primary process only, and resolves when it has ended: its workers have to end by themselves. Returns the reason
   * if it had ended before.
   */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<string | null> {
    if (this.ended !== null) return this.ended;
    const exited = once(this.#child, 'exit');
    this.#child.kill(signal);
    await exited;
    return null;
  }

  killAll(): void {
    if (this.#child.pid !== undefined) kill(-this.#child.pid, 'SIGKILL');
  }

  #workers(): readonly number[] {
    const { pid } = this.#child;
    try {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
      return children.split(' ').filter(Boolean).map(Number);
    } catch {
      return [];
    }
  }
}

/** Returns false when the process or group has ended. */
function kill(pid: number, signal: 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
