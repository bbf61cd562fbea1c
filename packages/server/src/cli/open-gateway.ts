import type { Gateway, Observer } from '@pgway/core';
import type { CommandOptions } from '../gateway-options.ts';
import { openLogDatabases, startDatabase, startGateway, warnWithoutAuthentication } from '../start.ts';
import type { CommandContext } from './command-context.ts';

export interface OpenedGateway {
  readonly gateway: Gateway;
  readonly connectionString: string;
}

/** Starts the database, if it is embedded, and the gateway. */
export async function openGateway(
  { task, lifecycle, loaded: { configuration }, reporter, process, worker }: CommandContext,
  options: CommandOptions & { readonly observer: Observer },
): Promise<OpenedGateway> {
  const { workingDirectory } = process;
  const { progress } = reporter;
  const connectionString =
    worker?.connectionString ??
    (await startDatabase(lifecycle, configuration, { workingDirectory, progress, joins: task.command !== 'serve' }));
  await openLogDatabases(lifecycle, reporter.outputs, connectionString);
  warnWithoutAuthentication(configuration, options.observer);
  return {
    gateway: await startGateway(lifecycle, configuration, connectionString, { workingDirectory, ...options }),
    connectionString,
  };
}
