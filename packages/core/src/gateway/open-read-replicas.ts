import type { Database } from '../postgres/port.ts';
import { type ConnectionSettings, parseConnectionString } from '../postgres/connection-string.ts';
import type { ReplicaConnections } from '../postgres/checked-replica.ts';
import { ReplicaSet } from '../postgres/replica-set.ts';
import type { Observer } from '../ports/ports.ts';
import type { ResolvedOptions } from './options/options.ts';
import { OptionsError, toStartError } from './start-error.ts';

export interface ReadReplicas {
  readonly replicas: ReplicaSet;
  /** The databases that the gateway has to close. */
  readonly databases: readonly Database[];
}

export interface OpenReadReplicasInput {
  readonly options: ResolvedOptions;
  readonly observe: Observer;
  /** Opens a pool. @param limits `single`: one connection, for checks */
  readonly open: (
    settings: ConnectionSettings,
    limits: 'pool' | 'single',
    onConnectionError: (error: Error) => void,
  ) => Database;
  /** Opens a separate connection to the primary. */
  readonly openPrimary: () => Database;
}

/**
 * Opens the pools of the read replicas, and starts to check them. A replica that is unavailable does not prevent the start.
 * @returns null without replicas
 * @throws StartError for an invalid connection string, and options that replicas cannot be used with
 */
export function openReadReplicas({ options, observe, open, openPrimary }: OpenReadReplicasInput): ReadReplicas | null {
  const settings = options.readReplicas.connectionStrings.flatMap(parseServers);
  if (settings.length === 0) return null;
  if (options.connectionProvider !== null) {
    throw new OptionsError(
      'readReplicas cannot be used with a connectionProvider, whose connections may lead anywhere; remove one of them',
    );
  }
  checkNames(settings.map(replicaName));
  const primary = openPrimary();
  const connections: ReplicaConnections[] = settings.map((server) => ({
    name: replicaName(server),
    // Connections to a server that was promoted are refused. The check tells why.
    database: open({ ...server, target: 'standby' }, 'pool', (error) => pause(replicaName(server), error)),
    checks: open({ ...server, target: 'any' }, 'single', () => undefined),
  }));
  const replicas = new ReplicaSet({
    primary,
    replicas: connections,
    maxLagMs: options.readReplicas.maxLagSeconds * 1_000,
    onChange: (replica, unusableReason) =>
      observe(
        unusableReason === null
          ? { kind: 'replica-usable', replica }
          : { kind: 'replica-unusable', replica, reason: unusableReason },
      ),
  });
  const pause = (name: string, error: Error): void =>
    replicas.all.find((replica) => replica.name === name)?.pause(error);
  return { replicas, databases: [primary, ...connections.flatMap(({ database, checks }) => [database, checks])] };
}

/** Returns the settings of each server that a connection string names. */
function parseServers(text: string, index: number): readonly ConnectionSettings[] {
  try {
    const { host, port, furtherServers = [], ...rest } = parseConnectionString(text);
    const first = { ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) };
    return [first, ...furtherServers].map((server) => ({ ...rest, ...server }));
  } catch (error) {
    const { message } = toStartError(error);
    throw new OptionsError(`readReplicas.connectionStrings[${index}]: ${message}`, { cause: error });
  }
}

function replicaName({ host = 'localhost', port = 5432 }: ConnectionSettings): string {
  return `${host}:${port}`;
}

function checkNames(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new OptionsError(
    `readReplicas.connectionStrings: ${JSON.stringify(twice)} is listed twice; list each server once`,
  );
}
