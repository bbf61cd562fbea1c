import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { PostgresServer } from '@pgway/embedded';

/**
 * Starts an embedded PostgreSQL in a temporary folder, which `stop` removes.
 * @param settings of PostgreSQL, by name
 * @param packageDirectory the folder of the package with its binaries. Default: the one of the workspace
 */
export async function startTemporaryServer(
  settings: Readonly<Record<string, string>>,
  packageDirectory?: string,
): Promise<PostgresServer> {
  // Imported on demand: with `--database` the bench runs on platforms without an embedded PostgreSQL.
  const { startPostgres } = await import('@pgway/embedded');
  const folder = await mkdtemp(join(tmpdir(), 'pgway-bench-'));
  const removeFolder = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    // As root the server runs as another user, who needs permission to enter the folder.
    await chmod(folder, 0o711);
    const server = await startPostgres({
      dataDirectory: join(folder, 'data'),
      durable: false,
      settings,
      ...(packageDirectory === undefined ? {} : { packageDirectory }),
    });
    const stop = async (): Promise<void> => {
      try {
        await server.stop();
      } finally {
        await removeFolder();
      }
    };
    return { ...server, stop };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}
