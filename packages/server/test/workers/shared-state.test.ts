import {
  type CacheLookup,
  type CacheMiss,
  type LoginRateLimiter,
  memorySessions,
  type RateLimitPolicy,
} from '@pgway/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { openSharedServices, type SharedServices } from '../../src/workers/shared-services.ts';
import { SharedState } from '../../src/workers/shared-state.ts';
import { answerTimeouts, toPrimary, toWorker } from '../../src/workers/topics.ts';
import { channelPair } from './channels.ts';
import { ChangeRelay } from '../../src/workers/change-relay.ts';

const noChanges = new ChangeRelay(() => Promise.reject(new Error('no database')));

const policy: RateLimitPolicy = { name: 'reports', type: 'concurrency', limit: 2 };
const configuration = parseConfiguration({});

/** A primary process, and a worker with its rate limits. */
async function connect(writeLog: (lines: Uint8Array) => Promise<void> = () => Promise.resolve()) {
  const shared = new SharedState(configuration, { writeLog, file: null }, noChanges);
  const pair = channelPair();
  shared.add(pair.primary);
  const { rateLimits } = await openSharedServices(pair.worker, configuration, { processes: 2, leads: () => false });
  return { ...pair, rateLimits: rateLimits! };
}

/** Waits for the messages that are under way. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) {
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

/** A primary process with two workers; `fill` leaves no room in the channel of the first one. */
async function connectTwo() {
  const shared = new SharedState(configuration, { writeLog: () => Promise.resolve(), file: null }, noChanges);
  const pairs = [channelPair(), channelPair()] as const;
  for (const { primary } of pairs) shared.add(primary);
  const services = await Promise.all(
    pairs.map(({ worker }) => openSharedServices(worker, configuration, { processes: 2, leads: () => false })),
  );
  const [{ worker, hold, release }] = pairs;
  return {
    services: services as [SharedServices, SharedServices],
    hold: () => hold('primary'),
    fill: () => {
      hold('worker');
      while (worker.tell('unknown', null, 1024 * 1024));
    },
    release: async () => {
      release('worker');
      await settle();
    },
  };
}

describe('a full channel', () => {
  test('delays the outcome of a login', async () => {
    const { services, fill, release } = await connectTwo();
    const logins = services.map(({ authentication }) => authentication.loginRateLimit as LoginRateLimiter);
    const attempt = { user: 'ann', address: '192.0.2.1' };
    const consumed = await Promise.all(Array.from({ length: 5 }, async () => logins[0]!.consume(attempt)));
    expect([...consumed, await logins[1]!.consume(attempt)].map(({ ok }) => ok)).toEqual([
      ...Array.from({ length: 5 }, () => true),
      false,
    ]);
    fill();
    for (let login = 0; login < 5; login++) logins[0]!.complete(attempt, 'aborted');
    await release();
    expect(await logins[1]!.consume(attempt)).toEqual({ ok: true });
  });

  test('delays the end of a session on the other workers; the client gets a 503', async () => {
    const { services, fill, release } = await connectTwo();
    const [own, other] = services.map(({ authentication }) => authentication.wrapSessions!(memorySessions()));
    const expires = Date.now() / 1000 + 60;
    fill();
    const unavailable = { code: 'sessions-unavailable', status: 503, headers: ['retry-after', '1'] };
    await expect(own!.end('a', expires)).rejects.toMatchObject(unavailable);
    await expect(own!.useRefreshToken('b', 0, expires)).rejects.toMatchObject(unavailable);
    expect([own, other].map((sessions) => sessions!.isAlive('a'))).toEqual([false, true]);
    await release();
    expect(other!.isAlive('a')).toBe(false);
    expect(await own!.useRefreshToken('b', 0, expires)).toBe(true);
    await own!.end('b', expires);
    expect(other!.isAlive('b')).toBe(false);
  });

  test('delays an invalidation; the call does not fail', async () => {
    const { services, fill, release } = await connectTwo();
    const caches = services.map(({ cache }) => cache!);
    const states: unknown[] = [];
    await caches[0]!.open!(({ unavailable }) => void states.push(unavailable?.message ?? null));
    const key = { routine: 'library.books', text: 'all' };
    const found = () => caches.map((cache) => (cache.get(key) as CacheLookup).response !== null);
    for (const cache of caches) {
      const { version } = cache.get(key) as CacheMiss;
      void cache.set(
        key,
        { body: Buffer.from('[]'), rows: 1, headers: [], etag: '"a"', storedAt: Date.now() },
        { version, expires: null },
      );
    }
    fill();
    // Nothing is sent to the other worker, which invalidates its own cache.
    await caches[0]!.invalidate(['library.books'], 'process');
    expect([found(), states]).toEqual([[false, true], []]);
    for (let call = 0; call < 3; call++) await caches[0]!.invalidate(['library.books']);
    expect([found(), states]).toEqual([[false, true], ['the channel is full']]);
    await release();
    expect(found()).toEqual([false, false]);
    await caches[0]!.invalidate(['library.books']);
    expect(states).toEqual(['the channel is full', null]);
  });
});

test('an invalidation that the primary process does not answer does not fail the call', async () => {
  const { services, hold } = await connectTwo();
  hold();
  const invalidated = services[0].cache!.invalidate(['library.books']);
  await settle();
  await vi.advanceTimersByTimeAsync(answerTimeouts.primary);
  await expect(invalidated).resolves.toBe(undefined);
});

test('lines of a worker are refused while an output takes none, and written afterwards', async () => {
  const written: string[] = [];
  let resume = (): void => undefined;
  const { worker } = await connect(async (lines) => {
    if (written.length === 0) await new Promise<void>((resolve) => (resume = resolve));
    written.push(Buffer.from(lines).toString());
  });
  const first = worker.ask(toPrimary.writeConsole, Buffer.from('a\n'), 60_000);
  const second = worker.ask(toPrimary.writeConsole, Buffer.from('b\n'), 60_000);
  await expect(second).rejects.toThrow('the output does not take the lines before');
  resume();
  await first;
  await worker.ask(toPrimary.writeConsole, Buffer.from('c\n'), 60_000);
  expect(written).toEqual(['a\n', 'c\n']);
});

test('metrics that cannot be added end neither the primary process nor later scrapes', async () => {
  const shared = new SharedState(configuration, { writeLog: () => Promise.resolve(), file: null }, noChanges);
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
