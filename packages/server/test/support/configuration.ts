import { commandNames, parseArguments, programOptions } from '../../src/cli/arguments.ts';
import { ConfigurationError } from '../../src/config/configuration-error.ts';
import { type ConfigurationSources, type LoadedConfiguration, loadConfiguration } from '../../src/config/load.ts';
import { folderWith } from './folder.ts';

export interface Given {
  readonly files?: Readonly<Record<string, unknown>>;
  readonly environment?: ConfigurationSources['environment'];
  readonly arguments?: readonly string[];
}

/** Loads the configuration of a new folder with the files. */
export async function load(given: Given): Promise<LoadedConfiguration> {
  return loadFrom(await folderWith(given.files), given);
}

export function loadFrom(workingDirectory: string, given: Omit<Given, 'files'> = {}): Promise<LoadedConfiguration> {
  const { files, overrides } = parseArguments(given.arguments ?? []);
  return loadConfiguration({
    workingDirectory,
    files,
    environment: given.environment ?? {},
    overrides,
    otherOptions: programOptions,
    commandNames,
  });
}

/** Returns the issues of a configuration that is not accepted. */
export async function issuesOf(given: Given): Promise<readonly string[]> {
  try {
    await load(given);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.issues;
    throw error;
  }
  throw new Error('the configuration was accepted');
}
