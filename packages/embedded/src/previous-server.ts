import type { Binaries } from './binaries.ts';
import { PostgresServerError } from './embedded-error.ts';
import type { Home } from './home.ts';
import { readPostmasterFile, removePostmasterFile } from './postmaster-file.ts';
import { birthOf, commandLineOf, signal, signalReaches } from './processes.ts';
import { shutDown, shutDownByControl } from './shutdown.ts';

/** Every server of ours bears this mark on its command line. */
export const OUR_MARK = 'cluster_name=pgway';

/**
 * Deals with what a run that was killed left behind. Only for the holder of the claim, so whatever runs on the cluster
 * has lost its gateway: a server of ours is stopped. Another program that was given the id of a dead server is left in
 * peace, and a server that somebody else started is reported.
 */
export async function clearPreviousServer(
  home: Home,
  binaries: Binaries,
  report: (message: string) => void,
): Promise<void> {
  const file = await readPostmasterFile(home.cluster);
  // The file of a process that is gone is PostgreSQL's to clear: it also looks for shared memory still in use.
  if (file === undefined || !signalReaches(file.pid)) return;
  const command = await commandLineOf(file.pid);
  if (command === undefined) return;
  if (!/postgres|postmaster/i.test(command)) {
    await removePostmasterFile(home.cluster);
    return;
  }
  // Perhaps of another cluster, perhaps of this one under another spelling: PostgreSQL finds out, and refuses if in doubt.
  if (!names(command, home.cluster)) return;
  const processName = `process ${String(file.pid)}`;
  if (!command.includes(OUR_MARK)) {
    throw new PostgresServerError(
      `a PostgreSQL server that pgway did not start runs on ${home.cluster} (${processName}): stop it first, or choose another data directory`,
    );
  }
  report(`stopping the PostgreSQL server that an earlier run left behind (${processName})`);
  if (process.platform === 'win32') return shutDownByControl(binaries, home);
  const birth = await birthOf(file.pid);
  await shutDown({
    running: async () => birth !== undefined && (await birthOf(file.pid)) === birth,
    signal: (name) => signal(file.pid, name),
  });
}

function names(command: string, path: string): boolean {
  const plain = (text: string): string =>
    process.platform === 'win32' ? text.replaceAll('"', '').replaceAll('\\', '/').toLowerCase() : text;
  return ` ${plain(command)} `.includes(` ${plain(path)} `);
}
