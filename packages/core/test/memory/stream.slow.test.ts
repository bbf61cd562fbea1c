import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

const million = 1_000_000;
const mebibyte = 1024 * 1024;
/** How much more memory a million rows may take than a thousand. */
const allowance = 64 * mebibyte;

const gateway = useGateway(
  `
  create function numbers(_count int) returns table (id int, name text, at timestamptz, amount numeric, flag bool) language sql stable as $$
    select i, 'name of number ' || i, '2024-01-12 11:06:59+00'::timestamptz, i * 1.01, i % 2 = 0
    from (select generate_series(1, _count) as i) as s $$;
  comment on function numbers(int) is 'HTTP';
`,
  { commandTimeout: 120 },
);

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function residentMemory(): number {
  collectGarbage();
  return process.memoryUsage().rss;
}

/** The most that the process had while `work` ran, without what a collection would have freed. */
async function peakOf(work: () => Promise<void>): Promise<number> {
  let peak = residentMemory();
  const watch = setInterval(() => {
    peak = Math.max(peak, residentMemory());
  }, 100);
  try {
    await work();
  } finally {
    clearInterval(watch);
  }
  return peak;
}

interface Reader {
  readonly socket: Socket;
  /** Bytes that have arrived. */
  received(): number;
  ended: Promise<string>;
}

/** Reads into one buffer over and over, so that the reader itself needs no memory; keeps the first and the last bytes. */
function read(count: number): Reader {
  let received = 0;
  let tail = Buffer.alloc(0);
  const buffer = Buffer.alloc(64 * 1024);
  const socket = connect({
    port: Number(new URL(gateway.url).port),
    host: '127.0.0.1',
    onread: {
      buffer,
      callback: (length: number): boolean => {
        received += length;
        tail = Buffer.concat([tail, buffer.subarray(Math.max(0, length - 200), length)]).subarray(-200);
        return true;
      },
    },
  });
  socket.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(tail.toString('latin1')));
  });
  socket.write(`GET /api/numbers?count=${count} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  return { socket, received: () => received, ended };
}

async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error('it did not come true within a minute');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function runningStatements(): Promise<number> {
  const rows = await gateway.database.query(
    `select from pg_stat_activity where datname = current_database() and application_name = 'pgway' and state = 'active'`,
  );
  return rows.length;
}

async function thousands(): Promise<void> {
  for (let round = 0; round < 20; round++) await read(1_000).ended;
}

describe('a million rows need no more memory than a thousand', () => {
  test('with a reader that keeps up', async () => {
    await thousands();
    const few = await peakOf(thousands);
    const reader = read(million);
    const many = await peakOf(async () => {
      expect(await reader.ended).toMatch(/"id":1000000,.*\}\]\r\n0\r\n\r\n$/);
    });
    expect(reader.received()).toBeGreaterThan(100 * million);
    expect(many - few).toBeLessThan(allowance);
  });

  test('with a reader that stalls, and goes on later', async () => {
    const few = await peakOf(thousands);
    const reader = read(million);
    const many = await peakOf(async () => {
      await until(() => reader.received() > mebibyte);
      reader.socket.pause();
      // The statement waits for its reader: nothing more arrives, and it is not done.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(await runningStatements()).toBe(1);
      expect(reader.received()).toBeLessThan(50 * million);
      reader.socket.resume();
      expect(await reader.ended).toMatch(/"id":1000000,.*\}\]\r\n0\r\n\r\n$/);
    });
    expect(many - few).toBeLessThan(allowance);
  });

  test('with a reader that leaves in the middle: the statement is cancelled', async () => {
    const few = await peakOf(thousands);
    const many = await peakOf(async () => {
      for (let round = 0; round < 3; round++) {
        const reader = read(million);
        await until(() => reader.received() > mebibyte);
        reader.socket.destroy();
        await until(async () => (await runningStatements()) === 0);
        expect(reader.received()).toBeLessThan(50 * million);
      }
    });
    expect(many - few).toBeLessThan(allowance);
  });

  test('with a reader that stalls and then leaves', async () => {
    const few = await peakOf(thousands);
    const many = await peakOf(async () => {
      const reader = read(million);
      await until(() => reader.received() > mebibyte);
      reader.socket.pause();
      await new Promise((resolve) => setTimeout(resolve, 500));
      reader.socket.destroy();
      await until(async () => (await runningStatements()) === 0);
    });
    expect(many - few).toBeLessThan(allowance);
    const { status } = await gateway.send('GET /api/numbers?count=1');
    expect(status).toBe(200);
  });
});
