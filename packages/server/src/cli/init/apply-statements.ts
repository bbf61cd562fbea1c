import { StartError } from '@pgway/core';
import { DatabaseError, runStatements } from '@pgway/core/internal';
import type { Environment } from '../../config/environment.ts';
import { loadConfiguration } from '../../config/load.ts';
import { Lifecycle } from '../../lifecycle.ts';
import type { ProcessContext } from '../../process-context.ts';
import { startDatabase } from '../../start.ts';
import { databaseFile } from './project-files.ts';

interface ApplyContext {
  /** The configuration file. */
  readonly file: string;
  readonly environment: Environment;
  readonly process: ProcessContext;
}

/**
 * Runs the statements in the database of the configuration, all or none, and returns its name.
 * @throws StartError
 */
export async function applyStatements(
  statements: readonly string[],
  { file, environment, process }: ApplyContext,
): Promise<string> {
  const { workingDirectory } = process;
  const files = [{ name: file, optional: false }];
  const sources = { workingDirectory, files, environment, overrides: [], otherOptions: [], commandNames: [] };
  const { configuration } = await loadConfiguration(sources);
  const lifecycle = new Lifecycle();
  const removeListener = process.onStop(() => lifecycle.forceStop());
  const progress = (line: string): void => process.stderr.write(`${line}\n`);
  try {
    const connectionString = await startDatabase(lifecycle, configuration, { workingDirectory, progress, joins: true });
    const connection = { connectionString, applicationName: 'pgway init', pooler: configuration.gateway.pooler };
    const results = await runStatements(connection, [...statements, 'select current_database()']);
    return results.at(-1)![0]![0]!;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const { code, message } = error.diagnostics;
    const remedy = `correct that, and run the file with psql -f ${databaseFile}`;
    throw new StartError(`${databaseFile}: nothing was changed in the database: ${message} (${code}); ${remedy}`, {
      cause: error,
    });
  } finally {
    await lifecycle.stop();
    removeListener();
  }
}
