import type { createClient as createLibraryClient, RedisClientOptions } from '@redis/client';
import { parseSentinelUrl, type SentinelAddress } from './sentinel-url.ts';
import { toError } from '@pgway/core/internal';

/** Milliseconds for a connection with its handshake. */
export const connectTimeout = 5_000;
/** Milliseconds for the reply of a Sentinel: another one may know the primary. */
const sentinelTimeout = 2_000;
type CreateLibraryClient = typeof createLibraryClient;
export type LibraryClient = ReturnType<CreateLibraryClient>;

export interface RedisClientLimits {
  /** The maximum number of commands without a reply. */
  readonly maxPendingCommands?: number;
}

/**
 * Returns a function that opens a connection. It does not reconnect automatically.
 * @throws TypeError for an invalid URL
 */
export async function prepareConnect(
  url: string,
  { maxPendingCommands }: RedisClientLimits,
): Promise<() => Promise<LibraryClient>> {
  const { createClient } = await import('@redis/client');
  const options: RedisClientOptions = {
    disableOfflineQueue: true,
    ...(maxPendingCommands === undefined ? {} : { commandsQueueMaxLength: maxPendingCommands }),
  };
  const address = parseSentinelUrl(url);
  if (address !== null) return () => openPrimary(createClient, address, options);
  // An invalid URL throws here, not at each attempt to connect.
  createClient({ url });
  return () => openClient(createClient, { ...options, url });
}

/** Connects to the primary that the first available Sentinel names. */
async function openPrimary(
  createClient: CreateLibraryClient,
  address: SentinelAddress,
  options: RedisClientOptions,
): Promise<LibraryClient> {
  const { tls, server } = address;
  const [host, port] = await findPrimary(createClient, address);
  const { database, ...credentials } = server;
  const client = await openClient(createClient, {
    ...options,
    ...credentials,
    ...(database === undefined ? {} : { database }),
    socket: { host, port: Number(port), ...tlsOption(tls) },
  });
  try {
    // A Sentinel may name a server that has just become a replica.
    const [role] = (await within(client.sendCommand(['ROLE']), sentinelTimeout)) as unknown as [string];
    if (role === 'master') return client;
    throw new Error(`${host}:${port}, which Sentinel names as the primary of "${address.name}", is a replica`);
  } catch (error) {
    destroyClient(client);
    throw error;
  }
}

/** @throws Error with the reasons of all Sentinels */
async function findPrimary(
  createClient: CreateLibraryClient,
  { sentinels, name, tls, sentinel }: SentinelAddress,
): Promise<readonly [host: string, port: string]> {
  const reasons: string[] = [];
  for (const { host, port } of sentinels) {
    let client: LibraryClient | null = null;
    try {
      // In order: the next Sentinel is asked only after this one has failed.
      client = await openClient(
        createClient,
        { ...sentinel, socket: { host, port, ...tlsOption(tls) } },
        sentinelTimeout,
      );
      const command = client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]);
      const reply = (await within(command, sentinelTimeout)) as unknown as readonly [string, string] | null;
      if (reply !== null) return reply;
      reasons.push(`${host}:${port} knows no primary "${name}"`);
    } catch (error) {
      reasons.push(`${host}:${port}: ${toError(error).message}`);
    } finally {
      destroyClient(client);
    }
  }
  throw new Error(`no Sentinel names the primary: ${reasons.join('; ')}`);
}

function tlsOption(tls: boolean): { readonly tls?: true } {
  return tls ? { tls: true } : {};
}

async function openClient(
  createClient: CreateLibraryClient,
  options: RedisClientOptions,
  timeout: number = connectTimeout,
): Promise<LibraryClient> {
  const socket = { ...options.socket, connectTimeout: timeout, reconnectStrategy: false } as const;
  const client = createClient({ ...options, socket } as RedisClientOptions) as LibraryClient;
  // Without a listener, errors would be thrown.
  client.on('error', () => undefined);
  try {
    await within(client.connect(), timeout);
    return client;
  } catch (error) {
    destroyClient(client);
    throw error;
  }
}

export function destroyClient(client: LibraryClient | null): void {
  try {
    client?.destroy();
  } catch {
    // `destroy` throws for a client that is not connected.
  }
}

/** @throws Error when the work does not finish in time */
export function within<Result>(work: Promise<Result>, milliseconds: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // A reply may have arrived while the event loop was busy. It is read before the immediate.
      setImmediate(() => reject(new Error(`Redis did not respond within ${milliseconds} ms`)));
    }, milliseconds).unref();
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
