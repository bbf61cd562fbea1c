import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { checkLayers } from './check.ts';
import { ConfigurationError } from './configuration-error.ts';
import {
  connectionFromPgVariables,
  environmentLayer,
  fileLayer,
  overrideLayer,
  setPgVariables,
  suspectVariables,
} from './layers.ts';
import type { Environment, Layer, Override } from './layers.ts';
import { suggestion } from './near-miss.ts';
import type { Configuration } from './schema.ts';

/** Where a configuration comes from, before anything is read. */
export interface Places {
  readonly workingDirectory: string;
  /** The file that the caller named; null looks for `pgway.json` in the working directory. */
  readonly file: string | null;
  readonly environment: Environment;
  readonly overrides: readonly Override[];
  /** Options of the command line that are no settings; named when a misspelled one is close. */
  readonly otherOptions: readonly string[];
}

export interface LoadedConfiguration {
  readonly configuration: Configuration;
  /** The file that was read, as it was named, or null. */
  readonly file: string | null;
  /** PostgreSQL's own variables that name the database, where nothing else does. */
  readonly pgVariables: readonly string[];
  /** Lines for the log: what is probably a mistake but stops nothing. */
  readonly warnings: readonly string[];
}

const usualFile = 'pgway.json';

/**
 * Reads the configuration. Later places win: the defaults, the file, the environment (`DATABASE_URL`, then `PGWAY_…`), the
 * command line. PostgreSQL's own variables (`PGHOST`, `PGDATABASE`, …) are used when none of them names a connection.
 * @throws ConfigurationError with every issue that was found
 */
export async function loadConfiguration(places: Places): Promise<LoadedConfiguration> {
  const file = places.file ?? usualFile;
  const overrides = overrideLayer(places.overrides, places.otherOptions);
  const text = await readText(resolve(places.workingDirectory, file), file, {
    optional: places.file === null,
    // `--port 9000` names no file but an option that lacks its value, which has to be said first.
    issues: overrides.issues,
  });
  const layers: readonly Layer[] = [
    ...(text === null ? [] : [fileLayer(file, text, places.environment)]),
    environmentLayer(places.environment),
    overrides,
  ];
  const checked = checkLayers(layers);
  const configuration = withDatabase(checked, places.environment);
  const isTheirs = checked.connectionString === null && configuration.connectionString !== null;
  return {
    configuration,
    file: text === null ? null : file,
    pgVariables: isTheirs ? setPgVariables(places.environment) : [],
    warnings: suspectVariables(places.environment),
  };
}

/** Decides whether the database is the configured one or the embedded one. */
function withDatabase(configuration: Configuration, environment: Environment): Configuration {
  const { enabled } = configuration.embedded;
  if (configuration.connectionString !== null) {
    if (enabled === true) {
      throw new ConfigurationError(['embedded.enabled: a connection is configured too; give only one of them']);
    }
    return { ...configuration, embedded: { ...configuration.embedded, enabled: false } };
  }
  const connectionString = enabled === true ? null : connectionFromPgVariables(environment);
  if (connectionString === null && enabled === false) {
    throw new ConfigurationError([
      'connectionString: missing; give one, as in --connectionString=postgres://user@localhost:5432/name, or leave embedded.enabled out',
    ]);
  }
  const embedded = { ...configuration.embedded, enabled: connectionString === null };
  return { ...configuration, connectionString, embedded };
}

interface Reading {
  /** Whether the file may be missing. */
  readonly optional: boolean;
  /** What is wrong anyway, and is said too when the file cannot be read. */
  readonly issues: readonly string[];
}

async function readText(path: string, name: string, { optional, issues }: Reading): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (code === 'ENOENT' && optional) return null;
    const reason = code === 'ENOENT' ? `there is no such file${meantBy(name)}` : `the file cannot be read (${code})`;
    throw new ConfigurationError([...issues, `${name}: ${reason}`]);
  }
}

/** What somebody may have wanted who named a file that is not there. */
function meantBy(name: string): string {
  if (/^\w+:\/\//.test(name)) return '; a database is given as --connectionString=…';
  return suggestion(name, ['generate']);
}
