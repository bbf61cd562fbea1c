import { type RateLimitPolicy } from '@pgway/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { configurationSchema } from '../../src/config/schema.ts';
import { openSharedServices } from '../../src/workers/shared-services.ts';
import { SharedState } from '../../src/workers/shared-state.ts';
import { answerTimeouts, toPrimary, toWorker } from '../../src/workers/topics.ts';
import { channelPair } from './channels.ts';

const policy: RateLimitPolicy = { name: 'reports', type: 'concurrency', limit: 2 };
const configuration = configurationSchema.parse({});

/** A primary process, and a worker with its rate limits. */
async function connect(writeLog: (text: string) => Promise<void> = () => Promise.resolve()) {
  const shared = new SharedState(configuration, { writeLog, file: null });
  const pair = channelPair();
  shared.add(pair.primary);
  const { rateLimits } = await openSharedServices(pair.worker, configuration, 2);
  return { ...pair, rateLimits: rateLimits! };
}

/** Waits for the messages that are under way. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) {
    // oxlint-disable-next-line no-await-in-loop
    await new Promise((resolve) => setImmediate(resolve));
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

test.each(['primary', 'worker'] as const)('an answer that comes too late takes no permit (%s held up)', async (end) => {
  const { rateLimits, hold, release } = await connect();
  const running = await rateLimits.acquire(policy, 'all');
  hold(end);
  const late = [1, 2].map(async () => rateLimits.acquire(policy, 'all'));
  await settle();
  await vi.advanceTimersByTimeAsync(answerTimeouts.primary);
  expect(await Promise.all(late)).toEqual([null, null]);
  release(end);
  await settle();
  const second = await rateLimits.acquire(policy, 'all');
  const refused = await rateLimits.acquire(policy, 'all');
  rateLimits.release(policy, 'all', running!.permit!);
  rateLimits.release(policy, 'all', running!.permit!);
  const third = await rateLimits.acquire(policy, 'all');
  expect([running, second, refused, third].map((decision) => decision?.allowed)).toEqual([true, true, false, true]);
});

test('a release that a full channel refuses is sent with the next request', async () => {
  const { rateLimits, worker, hold, release } = await connect();
  const permits = [await rateLimits.acquire(policy, 'all'), await rateLimits.acquire(policy, 'all')];
  hold('worker');
  while (worker.tell('unknown', null, 1024 * 1024));
  for (const decision of permits) rateLimits.release(policy, 'all', decision!.permit!);
  expect(await rateLimits.acquire(policy, 'all')).toBe(null);
  release('worker');
  await settle();
  expect(await rateLimits.acquire(policy, 'all')).toMatchObject({ allowed: true, remaining: 1 });
});

test('lines of a worker are refused while an output takes none, and written afterwards', async () => {
  const written: string[] = [];
  let resume = (): void => undefined;
  const { worker } = await connect(async (text) => {
    if (written.length === 0) await new Promise<void>((resolve) => (resume = resolve));
    written.push(text);
  });
  const first = worker.ask(toPrimary.writeConsole, 'a\n', 60_000);
  const second = worker.ask(toPrimary.writeConsole, 'b\n', 60_000);
  await expect(second).rejects.toThrow('the output does not take the lines before');
  resume();
  await first;
  await worker.ask(toPrimary.writeConsole, 'c\n', 60_000);
  expect(written).toEqual(['a\n', 'c\n']);
});

test('metrics that cannot be added end neither the primary process nor later scrapes', async () => {
  const shared = new SharedState(configuration, { writeLog: () => Promise.resolve(), file: null });
  const exited = channelPair();
  const running = channelPair();
  shared.add(exited.primary);
  shared.add(running.primary);
  exited.worker.handle(toWorker.metrics, () => 'no JSON');
  running.worker.handle(toWorker.metrics, () => '[]');
  await running.worker.ask(toPrimary.readMetrics, null, 60_000);
  shared.remove(exited.primary);
  expect(await running.worker.ask(toPrimary.readMetrics, null, 60_000)).toEqual({ running: ['[]'], exited: null });
});
