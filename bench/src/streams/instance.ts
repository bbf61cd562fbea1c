/** The entry point of a gateway process with event streams. It reports its memory and CPU on request. */
import { createGateway } from '@pgway/core';

import { listenOnFreePort } from '../contenders/listen.ts';

/** Memory in bytes, CPU in microseconds. */
export interface InstanceUsage {
  readonly rss: number;
  readonly heap: number;
  readonly cpu: number;
  /** Streams that the gateway has closed. */
  readonly dropped: number;
}

let dropped = 0;

const gateway = await createGateway({
  connectionString: process.env['DATABASE_URL']!,
  logConnectionNoticeEvents: false,
  observer: ({ kind }) => void (kind === 'stream-dropped' && dropped++),
  events: {
    heartbeat: Number(process.env['HEARTBEAT'] ?? 15),
    maxQueuedBytes: Number(process.env['QUEUE'] ?? 1024 * 1024),
    maxStreams: 20_000,
    maxStreamsPerAddress: 20_000,
  },
});
const { port } = await listenOnFreePort(gateway.middleware, () => gateway.close());

process.on('message', () => {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  process.send!({ rss, heap: heapUsed, cpu: user + system, dropped } satisfies InstanceUsage);
});
process.once('disconnect', () => process.exit());
process.send!({ port });
