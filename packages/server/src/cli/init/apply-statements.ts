import { StartError } from '@pgway/core';
import { DatabaseError, runStatements } from '@pgway/core/internal';
import type { Environment } from '../../config/environment.ts';
import { loadConfiguration } from '../../config/load.ts';
import { Lifecycle } from '../../lifecycle.ts';
import type { ProcessContext } from '../../process-context.ts';
import { startDatabase } from '../../start.ts';
import type { Choices } from './choices.ts';
import { databaseFile, databaseObjects, databaseStatements } from './project-files.ts';

interface ApplyContext {
  /** The configuration file. */
  readonly file: string;
  readonly environment: Environment;
  readonly process: ProcessContext;
}

/** Names are found as the statements find them: along the search_path. */
const existingObjectsSql = (names: readonly string[]): string => `
  select current_database(), string_agg(distinct name, ', ')
  from unnest(array[${names.map((name) => `'${name}'`).join(', ')}]) name
  where to_regclass(name) is not null
    or exists (select from pg_proc where proname = name and pronamespace = any (current_schemas(false)::regnamespace[]))`;

/**
 * Runs the statements of these choices in the database of the configuration, all or none, unless it has an object of one of their names.
 * Returns a line that says what was done.
 * @throws StartError
 */
export async function applyStatements(choices: Choices, { file, environment, process }: ApplyContext): Promise<string> {
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
    const [rows] = await runStatements(connection, [existingObjectsSql(databaseObjects(choices))]);
    const [database, existing] = rows![0]!;
    if (existing !== null) {
      return `${databaseFile}  not applied: the database ${database} has ${existing}; compare the file with it, and run what is missing`;
    }
    await runStatements(connection, databaseStatements(choices));
    return `${databaseFile}  applied to the database ${database}`;
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
