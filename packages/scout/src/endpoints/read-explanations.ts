/** The endpoints that the gateway creates for the connected database, with the settings of `pgway.json` in the working folder. */
import { createGateway, type GatewayOptions, OptionsError, StartError } from '@pgway/core';
import { type ConnectionSettings, openClient } from '@pgway/core/connection';
import type { EndpointExplanation } from '@pgway/core/explanation';
// The build adds these modules of the server to the program.
import { ConfigurationError } from '../../../server/src/config/configuration-error.ts';
import { loadConfiguration, type LoadedConfiguration } from '../../../server/src/config/load.ts';
import { gatewayOptions } from '../../../server/src/gateway-options.ts';
import { servedDiagnostics } from '../../../server/src/generated-files.ts';
import type { CommandContext } from '../command/command-context.ts';
import { CommandError, UsageError } from '../process/errors.ts';
import type { ProcessContext } from '../process/process-context.ts';

export interface Explanations {
  /** Of each routine, in the order of the catalog. */
  readonly explanations: readonly EndpointExplanation[];
  /** Probable mistakes in the settings. */
  readonly warnings: readonly string[];
}

/**
 * Explains the endpoints of the selected database. The gateway reads the catalog as at its start, and connects to no other service.
 * @throws UsageError for invalid settings; CommandError when the database cannot be read
 */
export async function readExplanations({
  process,
  progress,
  withConnection,
}: Pick<CommandContext, 'process' | 'progress' | 'withConnection'>): Promise<Explanations> {
  const { configuration, warnings } = await loadSettings(process);
  const explanations: EndpointExplanation[] = [];
  const read = async ({ settings }: { readonly settings: ConnectionSettings }): Promise<void> => {
    progress.show('reading endpoints');
    const described = withoutServices(configuration);
    const gateway = await openGateway({
      ...(await gatewayOptions(described, '', {
        strict: false,
        workingDirectory: process.workingDirectory,
        observer: () => {},
        endpointsExplained: (all) => void explanations.push(...all),
        endpointCreateHandlers: [(endpoints) => servedDiagnostics(endpoints, configuration)],
      })),
      dataSource: { connect: () => connect(settings) },
    });
    await gateway.close();
  };
  await withConnection(read);
  return { explanations, warnings };
}

/** @throws UsageError for invalid settings, in the words of the server */
async function loadSettings({ workingDirectory, environment }: ProcessContext): Promise<LoadedConfiguration> {
  try {
    return await loadConfiguration({
      workingDirectory,
      environment,
      files: [],
      // The database is the one that pgscout has selected.
      overrides: [
        { key: 'connectionString', value: 'postgres:///' },
        { key: 'embedded.enabled', value: 'false' },
      ],
      otherOptions: [],
      commandNames: [],
    });
  } catch (error) {
    if (error instanceof ConfigurationError) throw new UsageError(error.message);
    throw error;
  }
}

type Configuration = LoadedConfiguration['configuration'];

/** Returns the configuration without what endpoints do not depend on and would need other services, listen, or store keys. */
function withoutServices(configuration: Configuration): Configuration {
  const { gateway, events, authentication, dataProtection, sessions, readReplicas } = configuration;
  return {
    ...configuration,
    gateway: {
      ...gateway,
      refreshOnNotify: null,
      cacheInvalidateChannel: null,
      startRetry: 0,
    },
    events: { ...events, broadcast: 'local' },
    authentication: { ...authentication, production: false },
    dataProtection: { ...dataProtection, folder: null, readCommand: null, writeCommand: null },
    sessions: { ...sessions, beginCommand: null, channel: null },
    readReplicas: { ...readReplicas, connectionStrings: [] },
    redisCache: { ...configuration.redisCache, url: null },
    redisRateLimits: { ...configuration.redisRateLimits, url: null },
    tenant: { ...configuration.tenant, by: null },
  };
}

async function openGateway(options: GatewayOptions): ReturnType<typeof createGateway> {
  try {
    return await createGateway(options);
  } catch (error) {
    if (error instanceof OptionsError) throw new UsageError(error.message);
    if (error instanceof StartError) throw new CommandError(error.message);
    throw error;
  }
}

/** Opens a connection as a pool of `pg` does. */
async function connect(settings: ConnectionSettings): ReturnType<NonNullable<GatewayOptions['dataSource']>['connect']> {
  const client = await openClient(settings);
  return Object.assign(client, { release: () => void client.end().catch(() => {}) });
}
