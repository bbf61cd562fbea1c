/**
 * Measures the cost of event streams on one instance: `npm run bench:streams`. Ten thousand streams need as many open files in this
 * process and in the instance: set `ulimit -n 12000` or more.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

import { openDatabase } from '../database.ts';
import type { InstanceUsage } from './instance.ts';
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

const many = Number(process.argv[2] ?? 10_000);
const few = 100;
const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
const milliseconds = (time: number): string => `${time.toFixed(0)} ms`;
const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!;

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

async function measureMany(connectionString: string): Promise<void> {
  const instance = await startInstance(connectionString);
  const before = await instance.usage();
  const began = performance.now();
  const readers = await openStreamReaders(instance.port, '/api/say/info', many);
  const opened = performance.now() - began;
  await sleep(2_000);
  const open = await instance.usage();
  console.log(
    `${many} streams opened in ${milliseconds(opened)}: ${mebibytes(open.rss)} resident, ${mebibytes(open.heap)} heap (before: ${mebibytes(before.rss)})`,
  );
  const times: number[] = [];
  for (let round = 0; round < 7; round++) {
    const marker = `broadcast ${round}.`;
    const arrived = Promise.all(readers.map((reader) => reader.waitForMarker(marker)));
    const start = performance.now();
    // One at a time, so that messages do not share the CPU.
    // oxlint-disable-next-line no-await-in-loop
    await instance.call('say', { text: marker });
    // oxlint-disable-next-line no-await-in-loop
    await arrived;
    times.push(performance.now() - start);
    // oxlint-disable-next-line no-await-in-loop
    await sleep(300);
  }
  console.log(`a message to all of them: ${times.map(milliseconds).join(', ')}; median ${milliseconds(median(times))}`);
  const [idleBefore, idleSince] = [await instance.usage(), performance.now()];
  await sleep(15_000);
  const idle = await instance.usage();
  const share = (idle.cpu - idleBefore.cpu) / 10 / (performance.now() - idleSince);
  console.log(`idle for a heartbeat: ${share.toFixed(1)} % of one processor, ${mebibytes(idle.rss)} resident`);
  for (const { socket } of readers) socket.destroy();
  await sleep(1_000);
  console.log(`all disconnected: ${mebibytes((await instance.usage()).heap)} heap`);
  await instance.close();
}

async function measureRate(connectionString: string): Promise<void> {
  const instance = await startInstance(connectionString);
  const readers = await openStreamReaders(instance.port, '/api/burst/info', few);
  const seconds = 20;
  const messages = seconds * 1_000;
  const before = await instance.usage();
  const arrived = Promise.all(readers.map((reader) => reader.waitForMarker('message ', messages)));
  const start = performance.now();
  const done = instance.call('burst', { n: messages, pause: 0.0009 });
  const heaps: number[] = [];
  const watch = setInterval(() => void instance.usage().then(({ heap }) => heaps.push(heap)), 2_000);
  await done;
  await Promise.race([arrived, sleep(10_000)]);
  const took = (performance.now() - start) / 1_000;
  clearInterval(watch);
  await sleep(2_500);
  const after = await instance.usage();
  const counts = readers.map(({ count }) => count);
  const lost = counts.reduce((sum, count) => sum + messages - count, 0);
  console.log(
    `${messages} messages in ${took.toFixed(1)} s (${(messages / took).toFixed(0)} a second) to ${few} streams: ${lost} lost; ` +
      `${((after.cpu - before.cpu) / 1e4 / took).toFixed(0)} % of one processor; heap ${heaps.map(mebibytes).join(', ')}`,
  );
  for (const { socket } of readers) socket.destroy();
  await instance.close();
}

async function measureDead(connectionString: string): Promise<void> {
  const heartbeat = 2;
  const instance = await startInstance(connectionString, { HEARTBEAT: String(heartbeat), QUEUE: '100000000' });
  const [dead, alive] = await openStreamReaders(instance.port, '/api/say/info', 2);
  dead!.socket.pause();
  const text = 'x'.repeat(100_000);
  // Fills the buffers of the connection.
  for (let n = 0; n < 60; n++) {
    // oxlint-disable-next-line no-await-in-loop
    await instance.call('say', { text });
  }
  const start = performance.now();
  while ((await instance.usage()).dropped === 0 && performance.now() - start < 4 * heartbeat * 1_000) await sleep(50);
  const took = (performance.now() - start) / 1_000;
  console.log(`a client that reads nothing, heartbeat ${heartbeat} s: closed after ${took.toFixed(1)} s`);
  alive!.socket.destroy();
  await instance.close();
}

const database = await openDatabase(process.env['BENCH_DATABASE_URL'] ?? null, 1);
try {
  const client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  await client.query(sql);
  await client.end();
  await measureMany(database.connectionString);
  await measureRate(database.connectionString);
  await measureDead(database.connectionString);
} finally {
  await database.close();
}
