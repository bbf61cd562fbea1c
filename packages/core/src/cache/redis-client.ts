import type { createClient as createRedisClient, RedisClientOptions } from '@redis/client';

const maxReconnectDelay = 2_000;

export type RedisClient = ReturnType<typeof createRedisClient>;

/**
 * Returns a factory of clients of Redis or Valkey. A client reconnects automatically; without a connection a command fails at once instead of
 * being queued.
 * @param url `redis://user:password@host:6379/0`, `rediss://…` for TLS
 * @throws Error when `@redis/client` is not installed
 */
export async function redisClientFactory(url: string, options: RedisClientOptions = {}): Promise<() => RedisClient> {
  const { createClient } = await load();
  return () =>
    createClient({
      ...options,
      url,
      disableOfflineQueue: true,
      socket: {
        connectTimeout: 5_000,
        reconnectStrategy: (retries) => Math.min(maxReconnectDelay, 50 * 2 ** Math.min(retries, 10)),
      },
    }) as RedisClient;
}

async function load(): Promise<{ readonly createClient: typeof createRedisClient }> {
  try {
    return await import('@redis/client');
  } catch (error) {
    throw new Error('the package @redis/client is needed: npm install @redis/client', { cause: error });
  }
}
