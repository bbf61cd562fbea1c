/** The PostgreSQL that `pgway` runs in the working folder. */
import { openClient, parseConnectionString } from '@pgway/core/connection';
import type { Environment } from '../process/process-context.ts';
import { type ConnectionParts, type SelectedConnection, selectConnection } from './select-connection.ts';
import type { Settings } from './settings.ts';

export interface ConnectionSources {
  /** The value of `--connection`. */
  readonly selected: string | null;
  readonly settings: Settings;
  readonly parts: ConnectionParts;
  readonly process: { readonly environment: Environment; readonly workingDirectory: string };
}

/** Returns the selected connection, or that to the PostgreSQL that `pgway` runs in the folder; null when there is neither. */
export async function findConnection(sources: ConnectionSources): Promise<SelectedConnection | null> {
  const { selected, settings, parts, process } = sources;
  const environment = { ...settings.variables, ...process.environment };
  return (
    selectConnection(selected, settings, environment, parts) ??
    (await embeddedConnection(settings.dataDirectory, process.workingDirectory))
  );
}

/**
 * Returns the connection to the embedded PostgreSQL that a server of the folder runs: to its only database besides `postgres`, or to
 * that; null without such a server, and without the optional package.
 * @param dataDirectory the configured one, relative to the folder; null for the default
 */
async function embeddedConnection(dataDirectory: string | null, folder: string): Promise<SelectedConnection | null> {
  const embedded = await import('@pgway/embedded').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return null;
  });
  if (embedded === null) return null;
  const { findRunningPostgres, resolveDataDirectory } = embedded;
  const found = await findRunningPostgres(await resolveDataDirectory(dataDirectory, folder));
  if (found === null) return null;
  const settings = parseConnectionString(found);
  const client = await openClient(settings);
  try {
    const { rows } = await client.query<{ name: string }>(`select datname::pg_catalog.text as name
      from pg_catalog.pg_database where not datistemplate and datallowconn and datname <> 'postgres' limit 2`);
    const database = rows.length === 1 ? rows[0]!.name : 'postgres';
    return { origin: 'the embedded PostgreSQL of this folder', settings: { ...settings, database } };
  } finally {
    await client.end();
  }
}
