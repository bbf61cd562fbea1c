/** Measures the cost of event streams on one instance. Each stream is an open file in this process and in the instance. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

import type { BenchContext } from '../bench-suite.ts';
import { openDatabase } from '../database.ts';
import type { Section } from '../report/section.ts';
import { median } from '../report/summary.ts';
import { formatNumber, formatTable } from '../report/table.ts';
import type { InstanceUsage } from './instance.ts';
import type { StreamsBenchOptions } from './options.ts';
import { openStreamReaders } from './stream-reader.ts';

const sql = `
create function say(_text text) returns void language plpgsql as $$ begin raise info '%', _text; end $$;
comment on function say is 'HTTP POST
info_path
info_scope all';
create function burst(_n int, _pause float) returns void language plpgsql as $$
begin
  for i in 1.._n loop
    raise info 'message % of a burst, and some text to make it as long as such messages are', i;
    if i % 10 = 0 then perform pg_sleep(_pause * 10); end if;
  end loop;
end $$;
comment on function burst is 'HTTP POST
info_path
info_scope all
timeout 300s';
`;

const few = 100;

/** Bytes, milliseconds and shares of one processor. */
interface ManyStreams {
  readonly openMs: number;
  readonly rssBefore: number;
  readonly rss: number;
  readonly heap: number;
  /** From a call until the last stream has its message. */
  readonly deliveryMs: readonly number[];
  readonly idleCpuShare: number;
  readonly heapAfter: number;
}

interface MessageRate {
  readonly messages: number;
  readonly perSecond: number;
  readonly lost: number;
  readonly cpuShare: number;
  readonly maxHeap: number;
}

interface Instance {
  readonly port: number;
  usage(): Promise<InstanceUsage>;
  call(name: string, body: object): Promise<void>;
  close(): Promise<void>;
}

async function startInstance(connectionString: string, environment: NodeJS.ProcessEnv = {}): Promise<Instance> {
  const child: ChildProcess = fork(fileURLToPath(new URL('instance.js', import.meta.url)), {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production', DATABASE_URL: connectionString, ...environment },
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    port,
    usage: async () => {
      child.send('usage');
      return ((await once(child, 'message')) as [InstanceUsage])[0];
    },
    call: async (name, body) => {
      const response = await fetch(`http://127.0.0.1:${port}/api/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
    },
    close: async () => {
      const exit = once(child, 'exit');
      child.disconnect();
      await exit;
    },
  };
}

/** Measures many streams, a rate of messages, and a client that reads nothing. */
export async function benchStreams(options: StreamsBenchOptions, { signal, log }: BenchContext): Promise<Section> {
  const database = await openDatabase(options.database, 1);
  try {
    const client = new pg.Client({ connectionString: database.connectionString });
    await client.connect();
    await client.query(sql);
    await client.end();
    log(`${options.streams} event streams …`);
    const many = await measureMany(database.connectionString, options, signal);
    log('messages to event streams …');
    const rate = await measureRate(database.connectionString, options, signal);
    const closedAfter = await measureDead(database.connectionString);
    return {
      title: 'Event streams',
      text: [`PostgreSQL ${database.version}.`, describe(options, many, { rate, closedAfter })].join('\n\n'),
      charts: [],
      data: { options, many, rate, closedAfter },
      faults: rate.lost === 0 ? [] : [`${rate.lost} messages of event streams were lost`],
    };
  } finally {
    await database.close();
  }
}

function describe(
  { streams }: StreamsBenchOptions,
  many: ManyStreams,
  { rate, closedAfter }: { readonly rate: MessageRate; readonly closedAfter: number },
): string {
  const count = streams.toLocaleString('en-US');
  const mebibytes = (bytes: number): string => `${formatNumber(bytes / 2 ** 20)} MiB`;
  const share = (value: number): string => `${formatNumber(value * 100)} % of one processor`;
  return formatTable(
    ['', ''],
    [
      [`${count} streams open`, `${formatNumber(many.openMs)} ms`],
      ['resident memory before and with them', `${mebibytes(many.rssBefore)}, ${mebibytes(many.rss)}`],
      ['heap with them, and after they have disconnected', `${mebibytes(many.heap)}, ${mebibytes(many.heapAfter)}`],
      ['a message to all of them, from the call to the last stream', `${formatNumber(median(many.deliveryMs))} ms`],
      ['idle, with heartbeats', share(many.idleCpuShare)],
      [`messages per second to ${few} streams`, formatNumber(rate.perSecond)],
      [`lost, of ${formatNumber(rate.messages * few)}`, String(rate.lost)],
      ['CPU and largest heap during that', `${share(rate.cpuShare)}, ${mebibytes(rate.maxHeap)}`],
      ['a client that reads nothing, heartbeat 2 s: closed after', `${formatNumber(closedAfter)} s`],
    ],
  );
}

async function measureMany(
  connectionString: string,
  { streams, idleSeconds }: StreamsBenchOptions,
  signal: AbortSignal,
): Promise<ManyStreams> {
  const instance = await startInstance(connectionString);
  try {
    const before = await instance.usage();
    const began = performance.now();
    const readers = await openStreamReaders(instance.port, '/api/say/info', streams);
    const openMs = performance.now() - began;
    await sleep(2_000, undefined, { signal });
    const open = await instance.usage();
    const deliveryMs: number[] = [];
    for (let round = 0; round < 7; round++) {
      const marker = `broadcast ${round}.`;
      const arrived = Promise.all(readers.map((reader) => reader.waitForMarker(marker)));
      const start = performance.now();
      await instance.call('say', { text: marker });
      await arrived;
      deliveryMs.push(performance.now() - start);
      await sleep(300, undefined, { signal });
    }
    const [idleBefore, idleSince] = [await instance.usage(), performance.now()];
    await sleep(idleSeconds * 1000, undefined, { signal });
    const idleCpuShare = ((await instance.usage()).cpu - idleBefore.cpu) / 1000 / (performance.now() - idleSince);
    for (const { socket } of readers) socket.destroy();
    await sleep(1_000, undefined, { signal });
    const { heap: heapAfter } = await instance.usage();
    return { openMs, rssBefore: before.rss, rss: open.rss, heap: open.heap, deliveryMs, idleCpuShare, heapAfter };
  } finally {
    await instance.close();
  }
}

async function measureRate(
  connectionString: string,
  { messageSeconds }: StreamsBenchOptions,
  signal: AbortSignal,
): Promise<MessageRate> {
  const instance = await startInstance(connectionString);
  try {
    const readers = await openStreamReaders(instance.port, '/api/burst/info', few);
    const messages = messageSeconds * 1_000;
    const before = await instance.usage();
    const arrived = Promise.all(readers.map((reader) => reader.waitForMarker('message ', messages)));
    const start = performance.now();
    await instance.call('burst', { n: messages, pause: 0.0009 });
    const { heap } = await instance.usage();
    await Promise.race([arrived, sleep(10_000, undefined, { signal })]);
    const seconds = (performance.now() - start) / 1_000;
    const after = await instance.usage();
    const lost = readers.reduce((sum, { count }) => sum + messages - count, 0);
    for (const { socket } of readers) socket.destroy();
    const cpuShare = (after.cpu - before.cpu) / 1e6 / seconds;
    return { messages, perSecond: messages / seconds, lost, cpuShare, maxHeap: Math.max(heap, after.heap) };
  } finally {
    await instance.close();
  }
}

/** Returns the seconds until a client that reads nothing is disconnected. */
async function measureDead(connectionString: string): Promise<number> {
  const heartbeat = 2;
  const instance = await startInstance(connectionString, { HEARTBEAT: String(heartbeat), QUEUE: '100000000' });
  try {
    const [dead, alive] = await openStreamReaders(instance.port, '/api/say/info', 2);
    dead!.socket.pause();
    const text = 'x'.repeat(100_000);
    // Fills the buffers of the connection.
    for (let n = 0; n < 60; n++) await instance.call('say', { text });
    const start = performance.now();
    while ((await instance.usage()).dropped === 0 && performance.now() - start < 4 * heartbeat * 1_000) await sleep(50);
    alive!.socket.destroy();
    dead!.socket.destroy();
    return (performance.now() - start) / 1_000;
  } finally {
    await instance.close();
  }
}
