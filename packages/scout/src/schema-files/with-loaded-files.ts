import type { Client } from 'pg';
import type { CommandContext } from '../command/command-context.ts';
import { loadSchemaFiles, MissingRole } from './load-schema-files.ts';
import type { SchemaFiles } from './read-schema-files.ts';
import { runOnServer, type ScratchServer, withScratchDatabase } from './scratch-server.ts';

type Surroundings = Pick<CommandContext, 'progress' | 'signal'>;

/**
 * Runs a function with a database that has the schema of the files. The embedded PostgreSQL gets the roles that they name.
 * @throws CommandError when a statement fails, or a role is missing on a given server
 */
export async function withLoadedFiles<Result>(
  server: ScratchServer,
  files: SchemaFiles,
  { progress, signal }: Surroundings,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await withScratchDatabase(server, signal, async (open) => {
        await loadSchemaFiles(await open(), files, progress);
        signal.throwIfAborted();
        // The scripts have changed the settings of their session.
        return use(await open());
      });
    } catch (error) {
      if (!(error instanceof MissingRole) || !server.isOwn) throw error;
      await runOnServer(server.settings, `create role "${error.role.replaceAll('"', '""')}"`);
    }
  }
}
