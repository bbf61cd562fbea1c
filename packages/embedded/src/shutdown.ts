import type { Binaries } from './binaries.ts';
import type { Home } from './home.ts';
import { eventually } from './processes.ts';
import { runProgram } from './program.ts';

/** Seconds that a fast shutdown may take: it writes a checkpoint. The watchdog gives the same. */
export const FAST_SHUTDOWN_SECONDS = 30;
const IMMEDIATE_SHUTDOWN_SECONDS = 5;

/** A server that can be told to stop. */
export interface Stoppable {
  running(): boolean | Promise<boolean>;
  signal(name: NodeJS.Signals): void;
}

/** Fast shutdown (clients are cut off, data are written), then an immediate one (recovery at the next start), then force. */
export async function shutDown(server: Stoppable): Promise<void> {
  const stopped = async (): Promise<boolean> => !(await server.running());
  if (await stopped()) return;
  server.signal('SIGINT');
  if (await eventually(stopped, FAST_SHUTDOWN_SECONDS * 1000)) return;
  server.signal('SIGQUIT');
  if (await eventually(stopped, IMMEDIATE_SHUTDOWN_SECONDS * 1000)) return;
  server.signal('SIGKILL');
  await eventually(stopped, IMMEDIATE_SHUTDOWN_SECONDS * 1000);
}

/** The same where there are no signals (Windows). */
export async function shutDownByControl(binaries: Binaries, home: Home): Promise<void> {
  for (const [mode, seconds] of [
    ['fast', FAST_SHUTDOWN_SECONDS],
    ['immediate', IMMEDIATE_SHUTDOWN_SECONDS],
  ] as const) {
    const args = ['stop', '-D', home.cluster, '-s', '-w', '-t', String(seconds), '-m', mode];
    const { code } = await runProgram(binaries.pgCtl, args, { account: undefined, directory: home.root });
    if (code === 0) return;
  }
}
