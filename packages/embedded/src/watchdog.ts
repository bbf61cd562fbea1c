import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import type { Home } from './home.ts';
import { spawnOptions } from './program.ts';
import { FAST_SHUTDOWN_SECONDS } from './shutdown.ts';

/** Stops the server when we die, however we die. */
export interface Watchdog {
  /** The server is stopped already: the watchdog goes. */
  dismiss(): void;
}

/*
 * The watchdog reads from a pipe whose other end only we hold. A line dismisses it; the end of the pipe without a line
 * means that we are dead. It then goes by postmaster.pid, so it can be set before there is a server.
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

export function setWatchdog(home: Home, binaries: Binaries, account: Account | undefined): Watchdog {
  const [command, args] =
    process.platform === 'win32'
      ? [process.execPath, ['-e', WINDOWS_SCRIPT, binaries.pgCtl, home.cluster]]
      : ['/bin/sh', ['-c', SHELL_SCRIPT, 'pgway-watchdog', home.cluster]];
  const dog = spawn(command, args, {
    ...spawnOptions({ account, directory: home.root }),
    // A session of its own: what is sent to our process group, such as Ctrl+C, is not for the watchdog.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  dog.on('error', () => undefined);
  dog.stdin.on('error', () => undefined);
  dog.unref();
  (dog.stdin as unknown as Socket).unref();
  return { dismiss: () => dog.stdin.end('dismissed\n') };
}
