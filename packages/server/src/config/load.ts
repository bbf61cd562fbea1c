import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigurationError } from './configuration-error.ts';
import {
  connectionFromPgVariables,
  environmentLayer,
  fileLayer,
  misspelledVariables,
  overrideLayer,
  presentPgVariables,
} from './layers.ts';
import type { Environment, Layer, Override } from './layers.ts';
import type { Configuration } from './schema.ts';
import { didYouMean } from './suggestion.ts';
import { validateLayers } from './validate.ts';

/** The sources of a configuration. */
export interface ConfigurationSources {
  readonly workingDirectory: string;
  /** Null: `pgway.json` in the working directory, if it exists. */
  readonly file: string | null;
  readonly environment: Environment;
  readonly overrides: readonly Override[];
  /** Command-line options that are no settings, for suggestions. */
  readonly otherOptions: readonly string[];
}

export interface LoadedConfiguration {
  readonly configuration: Configuration;
  /** The name of the file that was read, or null. */
  readonly file: string | null;
  /** The libpq variables that name the database; empty when another source does. */
  readonly pgVariables: readonly string[];
  /** Probable mistakes, for the log. */
  readonly warnings: readonly string[];
}

const defaultFile = 'pgway.json';

/**
 * Loads the configuration. Later sources win: defaults, file, environment (`DATABASE_URL`, then `PGWAY_…`), command line. The
 * libpq variables (`PGHOST`, `PGDATABASE`, …) apply when no source names a connection.
 * @throws ConfigurationError with every issue
 */
export async function loadConfiguration(sources: ConfigurationSources): Promise<LoadedConfiguration> {
  const file = sources.file ?? defaultFile;
  const overrides = overrideLayer(sources.overrides, sources.otherOptions);
  const text = await readText(resolve(sources.workingDirectory, file), file, {
    optional: sources.file === null,
    // `--port 9000` parses as a file `9000`; the error is the missing value of `--port`.
    issues: overrides.issues,
  });
  const layers: readonly Layer[] = [
    ...(text === null ? [] : [fileLayer(file, text, sources.environment)]),
    environmentLayer(sources.environment),
    overrides,
  ];
  const validated = validateLayers(layers);
  const configuration = selectDatabase(validated, sources.environment);
  const usesPgVariables = validated.connectionString === null && configuration.connectionString !== null;
  return {
    configuration,
    file: text === null ? null : file,
    pgVariables: usesPgVariables ? presentPgVariables(sources.environment) : [],
    warnings: misspelledVariables(sources.environment),
  };
}

/** Selects the configured database, that of the libpq variables, or the embedded one. */
function selectDatabase(configuration: Configuration, environment: Environment): Configuration {
  const { enabled } = configuration.embedded;
  if (configuration.connectionString !== null) {
    if (enabled === true) {
      throw new ConfigurationError(['embedded.enabled: a connection is configured as well; set only one of them']);
    }
    return { ...configuration, embedded: { ...configuration.embedded, enabled: false } };
  }
  const connectionString = enabled === true ? null : connectionFromPgVariables(environment);
  if (connectionString === null && enabled === false) {
    throw new ConfigurationError([
      'connectionString: missing; set it, as in --connectionString=postgres://user@localhost:5432/name, or remove embedded.enabled',
    ]);
  }
  const embedded = { ...configuration.embedded, enabled: connectionString === null };
  return { ...configuration, connectionString, embedded };
}

interface ReadOptions {
  /** Whether the file may be missing. */
  readonly optional: boolean;
  /** Earlier issues, reported together with a read error. */
  readonly issues: readonly string[];
}

async function readText(path: string, name: string, { optional, issues }: ReadOptions): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (code === 'ENOENT' && optional) return null;
    const reason =
      code === 'ENOENT' ? `no such file${fileHint(name)}` : `cannot read the file (${code}); ${readRemedy(code)}`;
    throw new ConfigurationError([...issues, `${name}: ${reason}`]);
  }
}

function readRemedy(code: string): string {
  return code === 'EISDIR' ? 'this is a folder: pass a file in it' : 'give the user of this process read permission';
}

function fileHint(name: string): string {
  if (/^\w+:\/\//.test(name)) return '; pass a database as --connectionString=…';
  const hint = didYouMean(name, ['generate']);
  return hint === '' ? '; pass an existing file, and options as --name=value' : hint;
}
