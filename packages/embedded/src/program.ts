import { spawn } from 'node:child_process';
import type { Account } from './account.ts';

/** How a program that was run to its end went. */
export interface Outcome {
  /** The exit code; undefined when it could not be started or was killed by a signal. */
  readonly code: number | undefined;
  /** Standard output and standard error together, at most the last 64 kB. */
  readonly output: string;
}

const OUTPUT_LIMIT = 65_536;

/** Runs a program to its end, as another account when one is given. Never rejects: the outcome tells. */
export function runProgram(command: string, args: readonly string[], where: Surroundings): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...spawnOptions(where), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-OUTPUT_LIMIT);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (error) => resolve({ code: undefined, output: error.message }));
    child.once('close', (code) => resolve({ code: code ?? undefined, output }));
  });
}

export interface Surroundings {
  readonly account: Account | undefined;
  readonly directory: string;
}

/** What every program of ours is started with: the account, the folder and a bare environment. */
export function spawnOptions(where: Surroundings): {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly windowsHide: true;
  readonly uid?: number;
  readonly gid?: number;
} {
  const { account, directory } = where;
  return {
    cwd: directory,
    env: bareEnvironment(),
    windowsHide: true,
    // Node wants signed numbers, and `nobody` is 4294967294 on macOS.
    ...(account === undefined ? {} : { uid: account.uid | 0, gid: account.gid | 0 }),
  };
}

/**
 * The gateway's secrets are none of the database's business, and PGPORT, PGDATA or a locale that is not there would
 * steer PostgreSQL: only what it needs is passed on.
 */
function bareEnvironment(): NodeJS.ProcessEnv {
  if (process.platform === 'win32') {
    return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/i.test(name)));
  }
  const { PATH = '/usr/local/bin:/usr/bin:/bin', TZ } = process.env;
  return { PATH, LC_ALL: 'C', ...(TZ === undefined ? {} : { TZ }) };
}
