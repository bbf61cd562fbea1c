/** No server outlives the process that started it: a watchdog stops it, and the next start stops one that is left. */
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Binaries } from './binaries.ts';
import type { DataDirectory } from './data-directory.ts';
import { PostgresServerError } from './postgres-server-error.ts';
import { commandLine, type OsUser, processExists, processIdentity, sendSignal, spawnOptions } from './processes.ts';
import {
  FAST_SHUTDOWN_SECONDS,
  readPostmasterPid,
  removePostmasterPid,
  shutDown,
  shutDownWithPgCtl,
} from './server-process.ts';

/** Marks the command line of every server that this package starts. */
export const SERVER_MARK = 'cluster_name=pgway';

/** A program that stops the server when this process dies. */
export interface Watchdog {
  /** Ends the watchdog, after the server was stopped. */
  dismiss(): void;
}

/*
 * The watchdog reads from a pipe that only this process writes to. A line dismisses it; the end of the pipe without a line
 * means that this process is dead. It finds the server by postmaster.pid, so it can start before the server.
 */
const SHELL_SCRIPT = `
read -r word && exit 0
file="$1/postmaster.pid"
server() { pid=; read -r pid 2>/dev/null < "$file"; case "$pid" in ''|*[!0-9]*) return 1 ;; esac; }
server || sleep 1
server || exit 0
first=$pid
kill -INT "$first" 2>/dev/null
ticks=0
while server && [ "$pid" = "$first" ] && kill -0 "$first" 2>/dev/null && [ $ticks -lt ${String((FAST_SHUTDOWN_SECONDS + 5) * 5)} ]; do
  sleep 0.2
  ticks=$((ticks + 1))
  [ $ticks -eq ${String(FAST_SHUTDOWN_SECONDS * 5)} ] && kill -QUIT "$first" 2>/dev/null
done
exit 0
`;

const WINDOWS_SCRIPT = `
const { spawnSync } = require('node:child_process');
const [control, cluster] = process.argv.slice(1);
const stop = (mode, seconds) =>
  spawnSync(control, ['stop', '-D', cluster, '-s', '-w', '-t', seconds, '-m', mode], { stdio: 'ignore', windowsHide: true }).status === 0;
process.stdin.on('data', () => process.exit(0));
process.stdin.on('end', () => process.exit(stop('fast', '${String(FAST_SHUTDOWN_SECONDS)}') || stop('immediate', '5') ? 0 : 1));
process.stdin.on('error', () => {});
`;

export function startWatchdog(directory: DataDirectory, binaries: Binaries, user: OsUser | undefined): Watchdog {
  const [command, args] =
    process.platform === 'win32'
      ? [process.execPath, ['-e', WINDOWS_SCRIPT, binaries.pgCtl, directory.cluster]]
      : ['/bin/sh', ['-c', SHELL_SCRIPT, 'pgway-watchdog', directory.cluster]];
  const child = spawn(command, args, {
    ...spawnOptions({ user, directory: directory.root }),
    // A separate session: signals to the process group, such as Ctrl+C, must not end the watchdog.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  (child.stdin as unknown as Socket).unref();
  return { dismiss: () => child.stdin.end('dismissed\n') };
}

/**
 * Stops a server that this package started and that has lost its parent process. Requires the lock of the data directory.
 * Leaves a program alone that has got the process id of an earlier server.
 * @throws {PostgresServerError} when a server runs on the cluster that this package did not start
 */
export async function stopOrphan(
  directory: DataDirectory,
  binaries: Binaries,
  report: (message: string) => void,
): Promise<void> {
  const file = await readPostmasterPid(directory.cluster);
  // PostgreSQL removes the file of a dead process itself, after a check for shared memory in use.
  if (file === undefined || !processExists(file.pid)) return;
  const command = await commandLine(file.pid);
  if (command === undefined) return;
  if (!/postgres|postmaster/i.test(command)) {
    await removePostmasterPid(directory.cluster);
    return;
  }
  // The path may have another spelling, or name another cluster: PostgreSQL detects that and refuses to start.
  if (!hasArgument(command, directory.cluster)) return;
  const processName = `process ${String(file.pid)}`;
  if (!command.includes(SERVER_MARK)) {
    throw new PostgresServerError(
      `a PostgreSQL server that was started by another program (${processName}) uses "${directory.cluster}"; stop it, or choose another data directory`,
    );
  }
  report(`stopping the PostgreSQL server that an earlier run left behind (${processName})`);
  if (process.platform === 'win32') return shutDownWithPgCtl(binaries, directory);
  const identity = await processIdentity(file.pid);
  await shutDown({
    isRunning: async () => identity !== undefined && (await processIdentity(file.pid)) === identity,
    signal: (name) => sendSignal(file.pid, name),
  });
}

/** Whether a process is a server of this package on the cluster. */
export async function isServerOf(pid: number, cluster: string): Promise<boolean> {
  const command = processExists(pid) ? await commandLine(pid) : undefined;
  return command !== undefined && hasArgument(command, cluster) && command.includes(SERVER_MARK);
}

function hasArgument(command: string, path: string): boolean {
  const normalize = (text: string): string =>
    process.platform === 'win32' ? text.replaceAll('"', '').replaceAll('\\', '/').toLowerCase() : text;
  return ` ${normalize(command)} `.includes(` ${normalize(path)} `);
}
