/** One gateway with streams, in a process of its own; it tells its memory and CPU when it is asked. */
import { createGateway } from '@pgway/core';

import { listen } from '../contenders/listen.ts';

/** What the instance tells about itself: bytes, microseconds. */
export interface Usage {
  readonly rss: number;
  readonly heap: number;
  readonly cpu: number;
  /** Readers that were cut off. */
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
const { port } = await listen(gateway.middleware, () => gateway.close());

process.on('message', () => {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  process.send!({ rss, heap: heapUsed, cpu: user + system, dropped } satisfies Usage);
});
process.once('disconnect', () => process.exit());
process.send!({ port });
