import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type RedisServer, startRedis } from './redis.ts';

/** A primary of Redis with a replica, watched by three Sentinels. */
export interface RedisSentinelGroup {
  /** The URL with all Sentinels, and a user with its password. */
  readonly url: string;
  /** The first one is the primary until a failover. */
  readonly servers: readonly [RedisServer, RedisServer];
  readonly sentinels: readonly RedisServer[];
  /** Makes the Sentinels replace the primary. They do not do so by themselves within a minute. */
  failover(): Promise<void>;
  stop(): Promise<void>;
}

const name = 'pgway-test';
const user = ['--user', 'gateway', 'on', '>secret', '~*', '&*', '+@all'];

/** Starts the servers and waits until the Sentinels know each other and both servers. */
export async function startRedisSentinelGroup(): Promise<RedisSentinelGroup> {
  const directory = await mkdtemp(join(tmpdir(), 'pgway-sentinel-'));
  const started: RedisServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.stop()));
    await rm(directory, { recursive: true, force: true });
  };
  const start = async (options: readonly string[], file?: string): Promise<RedisServer> => {
    const server = await startRedis(options, file);
    started.push(server);
    return server;
  };
  const startSentinel = async (number: number, port: number): Promise<RedisServer> => {
    // Sentinel writes to its configuration file.
    const file = join(directory, `${number}.conf`);
    await writeFile(
      file,
      `sentinel monitor ${name} 127.0.0.1 ${port} 2
sentinel down-after-milliseconds ${name} 60000
sentinel failover-timeout ${name} 5000
user gateway on >sentinel-secret ~* &* +@all
`,
    );
    return start(['--sentinel'], file);
  };
  try {
    const primary = await start(user);
    const replica = await start([...user, '--replicaof', '127.0.0.1', String(primary.port)]);
    await untilReply(primary, 'WAIT 1 1000', ':1');
    const sentinels = await Promise.all([1, 2, 3].map((number) => startSentinel(number, primary.port)));
    await Promise.all(
      sentinels.map(async (sentinel) => {
        await untilReply(sentinel, `SENTINEL CKQUORUM ${name}`, '+OK 3 usable');
        await untilReply(sentinel, `SENTINEL REPLICAS ${name}`, '*1');
      }),
    );
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const url = `redis-sentinel://gateway:secret@${hosts}/${name}/0?sentinelUser=gateway&sentinelPassword=sentinel-secret`;
    const failover = (): Promise<void> => untilReply(sentinels[0]!, `SENTINEL FAILOVER ${name}`, '+OK');
    return { url, servers: [primary, replica], sentinels, failover, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilReply(server: RedisServer, command: string, beginning: string): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    const reply = await server.command(command);
    if (reply.startsWith(beginning)) return;
    if (performance.now() > end) throw new Error(`${command}: ${reply}`);
    await delay(50);
  }
}
