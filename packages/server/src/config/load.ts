import { ConfigurationError } from './configuration-error.ts';
import {
  type Dotenv,
  type NamedFile,
  readConfigurationFile,
  readDotenv,
  type SelectedFiles,
  selectFiles,
} from './configuration-files.ts';
import { contradictions } from './contradictions.ts';
import { decryptValues } from './encrypted-values.ts';
import { fileLayer } from './file-layer.ts';
import { environmentLayer, lacksValue, misspelledVariables, overrideLayer } from './layers.ts';
import type { Environment } from './environment.ts';
import type { Layer, Override } from './layers.ts';
import { connectionFromPgVariables, presentPgVariables } from './pg-variables.ts';
import type { Configuration } from './schema.ts';
import { settingAt } from './settings.ts';
import { unreadFiles } from './unread-files.ts';
import { mergeLayers, settingOrigins, validateLayers } from './validate.ts';

/** The sources of a configuration. */
export interface ConfigurationSources {
  readonly workingDirectory: string;
  /** Empty: `pgway.json` and `pgway.<environment>.json` in the working directory, if they exist. */
  readonly files: readonly NamedFile[];
  readonly environment: Environment;
  readonly overrides: readonly Override[];
  /** Command-line options that are not settings, for suggestions. */
  readonly otherOptions: readonly string[];
  /** The commands, for suggestions. */
  readonly commandNames: readonly string[];
}

export interface LoadedConfiguration {
  readonly configuration: Configuration;
  /** The files that were read, in order. */
  readonly files: readonly string[];
  /** The environment that selects `pgway.<environment>.json`; null without one. */
  readonly environmentName: string | null;
  /** The places of the settings that are not at their defaults, by path. */
  readonly origins: ReadonlyMap<string, string>;
  /** The settings whose value was encrypted, as a whole or in part. */
  readonly encrypted: ReadonlySet<string>;
  /** The libpq variables that name the database; empty when another source does. */
  readonly pgVariables: readonly string[];
  /** Probable mistakes, for the log. */
  readonly warnings: readonly string[];
}

/**
 * Loads the configuration. Later sources win: defaults, files in their order, environment (`DATABASE_URL`, then `PGWAY_…`),
 * command line. Variables of the process win over those of `.env`. The libpq variables (`PGHOST`, `PGDATABASE`, …) apply when no
 * source names a connection.
 * @throws ConfigurationError with every issue
 */
export async function loadConfiguration(sources: ConfigurationSources): Promise<LoadedConfiguration> {
  const dotenv = await readDotenv(sources.workingDirectory);
  const environment = { ...dotenv.variables, ...definedVariables(sources.environment) };
  const values = new Set(sources.overrides.filter(lacksValue).map(({ next }) => next));
  const named = sources.files.filter(({ name }) => !values.has(name));
  const selected = selectFiles(named, environment);
  const files = await readFiles(selected.files, environment, sources);
  const overrides = overrideLayer(sources.overrides, sources.otherOptions);
  const variables = environmentLayer(environment, (name) => placeOfVariable(name, sources.environment));
  const layers: readonly Layer[] = [...files.layers, variables, overrides];
  const isUnconfigured = named.length === 0 && files.names.length === 0;
  const unread = isUnconfigured ? await unreadFiles(sources.workingDirectory) : [];
  return resolved(layers, environment, { dotenv, files, selected, unread });
}

/** A variable that is undefined must not hide the one of `.env`. */
function definedVariables(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined));
}

function placeOfVariable(name: string, environment: Environment): string {
  return environment[name] === undefined ? `${name} in .env` : name;
}

interface ReadLayers {
  readonly layers: readonly Layer[];
  readonly names: readonly string[];
  readonly issues: readonly string[];
  readonly warnings: readonly string[];
}

async function readFiles(
  files: readonly NamedFile[],
  environment: Environment,
  { workingDirectory, commandNames }: ConfigurationSources,
): Promise<ReadLayers> {
  const read = await Promise.all(files.map((file) => readConfigurationFile(workingDirectory, file, commandNames)));
  const present = read.flatMap(({ name, text }) => (text === null ? [] : [{ name, text }]));
  return {
    layers: present.map(({ name, text }) => fileLayer(name, text, environment)),
    names: present.map(({ name }) => name),
    issues: read.flatMap(({ issues }) => issues),
    warnings: read.flatMap(({ warnings }) => warnings),
  };
}

interface ReadSources {
  readonly dotenv: Dotenv;
  readonly files: ReadLayers;
  readonly selected: SelectedFiles;
  /** Warnings of files that are probably meant as the configuration. */
  readonly unread: readonly string[];
}

async function resolved(
  layers: readonly Layer[],
  environment: Environment,
  { dotenv, files, selected, unread }: ReadSources,
): Promise<LoadedConfiguration> {
  const values = await decryptValues(mergeLayers(layers), layers);
  const { configuration: valid, issues } = validateLayers(layers, values.tree, values.paths);
  const all = [...values.issues, ...issues, ...dotenv.issues, ...selected.issues, ...files.issues];
  if (valid === null || all.length > 0) throw new ConfigurationError(all);
  const configuration = selectDatabase(valid, environment);
  const conflicts = [...missingDatabase(configuration), ...contradictions(valid)];
  if (conflicts.length > 0) throw new ConfigurationError(conflicts);
  const usesPgVariables = valid.connectionString === null && configuration.connectionString !== null;
  const pgVariables = usesPgVariables ? presentPgVariables(environment) : [];
  const origins = new Map(settingOrigins(layers));
  if (usesPgVariables) origins.set('connectionString', pgVariables.join(', '));
  return {
    configuration,
    files: files.names,
    environmentName: selected.environmentName,
    origins,
    encrypted: new Set(values.paths.map((path) => settingAt(path))),
    pgVariables,
    warnings: [...unread, ...dotenv.warnings, ...files.warnings, ...misspelledVariables(environment)],
  };
}

/** Selects the configured database, that of the libpq variables, or the embedded one. */
function selectDatabase(configuration: Configuration, environment: Environment): Configuration {
  const { embedded } = configuration;
  const connectionString =
    configuration.connectionString ?? (embedded.enabled === true ? null : connectionFromPgVariables(environment));
  const enabled = connectionString === null && embedded.enabled !== false;
  return { ...configuration, connectionString, embedded: { ...embedded, enabled } };
}

function missingDatabase({ connectionString, embedded }: Configuration): readonly string[] {
  if (connectionString !== null || embedded.enabled === true) return [];
  return [
    'connectionString: missing; set it, as in --connectionString=postgres://user@localhost:5432/name, or remove embedded.enabled',
  ];
}
