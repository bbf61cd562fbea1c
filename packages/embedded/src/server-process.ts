import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import { PostgresServerError } from './embedded-error.ts';
import type { Home } from './home.ts';
import { readPostmasterFile } from './postmaster-file.ts';
import { spawnOptions } from './program.ts';
import { shutDown, shutDownByControl } from './shutdown.ts';

/** A PostgreSQL server process that we started. */
export interface ServerProcess {
  ended(): boolean;
  /** Resolves when it has ended, with how: `by SIGKILL`, `with exit code 2`. Not where that is not told (Windows). */
  readonly end: Promise<string>;
  /** Whether it takes connections. */
  ready(): Promise<boolean>;
  /** The last lines that it wrote. */
  log(): readonly string[];
  stop(): Promise<void>;
}

export interface ServerOrder {
  readonly home: Home;
  readonly binaries: Binaries;
  readonly account: Account | undefined;
  /** `name=value` each. */
  readonly settings: readonly string[];
}

const LOG_LINES = 40;

export async function startProcess(order: ServerOrder): Promise<ServerProcess> {
  return process.platform === 'win32' ? startByControl(order) : startChild(order);
}

function startChild(order: ServerOrder): ServerProcess {
  const { home, binaries, account, settings } = order;
  const args = ['-D', home.cluster, ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(binaries.postgres, args, {
    ...spawnOptions({ account, directory: home.root }),
    // A session of its own: Ctrl+C is for us, and we stop the server when the last request is answered.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  let over = false;
  child.once('error', (error) => {
    lines.push(error.message);
    over = true;
  });
  const end = new Promise<string>((resolve) => {
    // "close" comes after the last line has been read.
    child.once('close', (code, signal) => {
      over = true;
      resolve(signal === null ? `with exit code ${String(code)}` : `by ${signal}`);
    });
  });
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    if (lines.length > LOG_LINES) lines.shift();
  });
  // A program that has nothing else to do may end; the watchdog then stops the server.
  child.unref();
  (child.stderr as unknown as Socket).unref();
  return {
    ended: () => over,
    end,
    ready: async () => {
      const file = await readPostmasterFile(home.cluster);
      return file !== undefined && file.pid === child.pid && file.ready;
    },
    log: () => [...lines],
    stop: () => shutDown({ running: () => !over, signal: (name) => void child.kill(name) }),
  };
}

/**
 * On Windows pg_ctl starts the server: it gives up administrator's rights, with which PostgreSQL refuses to run. The server
 * is then no child of ours, and its log goes to a file.
 */
async function startByControl(order: ServerOrder): Promise<ServerProcess> {
  const { home, binaries, settings } = order;
  if (settings.some((setting) => /["%\r\n]/.test(setting))) {
    throw new PostgresServerError(
      'a PostgreSQL setting with a quotation mark, percent sign or line break cannot be given on Windows',
    );
  }
  await rm(home.logFile, { force: true });
  const options = settings.map((setting) => `-c "${setting}"`).join(' ');
  const args = ['start', '-D', home.cluster, '-s', '-w', '-t', '600', '-l', home.logFile, '-o', options];
  const code = await runControl(binaries.pgCtl, args, home.root);
  const lines = (await readFile(home.logFile, 'utf8').catch(() => '')).split(/\r?\n/).slice(-LOG_LINES);
  let over = code !== 0;
  return {
    ended: () => over,
    end: new Promise(() => undefined),
    ready: async () => !over,
    log: () => lines,
    stop: async () => {
      if (!over) await shutDownByControl(binaries, home);
      over = true;
    },
  };
}

/** Without pipes: the server would inherit them, and they would never end. */
function runControl(command: string, args: readonly string[], directory: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const control = spawn(command, args, { ...spawnOptions({ account: undefined, directory }), stdio: 'ignore' });
    control.once('error', () => resolve(undefined));
    control.once('exit', (code) => resolve(code ?? undefined));
  });
}
