import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ClientKey } from './port.ts';
import { StalledCalls, type StalledCall, type StallingSession, type WaitingCalls } from './stalled-calls.ts';

/** The clock, in milliseconds. */
let now = 0;

beforeEach(() => {
  now = 10_000;
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate'] });
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

class Response implements StallingSession<StalledCall> {
  readonly state = { isRetired: false };
  readonly call = { progressedAt: now, call: { client: {} } };
  isEnded = false;

  get stalledCall(): StalledCall | null {
    return this.isEnded ? null : this.call;
  }

  abandon(): void {
    this.isEnded = true;
  }

  progress(): void {
    this.call.progressedAt = now;
  }
}

interface Pool {
  readonly responses: readonly Response[];
  /** Which of the responses have ended. */
  readonly ended: () => readonly number[];
  readonly clients: () => ReadonlySet<ClientKey>;
  /**
   * Checks until so many milliseconds have passed.
   * @param turnMs the time of one turn of the event loop
   * @param between invoked in each turn
   */
  readonly run: (ms: number, turnMs: number, between?: () => void) => void;
}

/** A pool whose connections all have a stalled response. */
function startPool(size: number, waitsSince: number | WaitingCalls['oldestSince'] = now): Pool {
  const oldestSince = typeof waitsSince === 'number' ? () => waitsSince : waitsSince;
  const responses = Array.from({ length: size }, () => new Response());
  const sessions = new Map(responses.map((response) => [response, null]));
  const calls = new StalledCalls<StalledCall>(sessions, { oldestSince }, size);
  return {
    responses,
    clients: () => calls.unread(),
    ended: () => responses.flatMap(({ isEnded }, index) => (isEnded ? [index] : [])),
    run: (ms, turnMs, between) => {
      for (const end = now + ms; now < end;) {
        now += turnMs;
        calls.check(now);
        between?.();
        // Immediate callbacks alone, and those that they schedule: each turn checks once.
        vi.advanceTimersByTime(1);
        vi.advanceTimersByTime(1);
      }
    },
  };
}

test('past the share, a response without progress for half a second ends for a waiting call; the others after two seconds', () => {
  const { responses, ended, run } = startPool(4);
  for (const response of responses.slice(2)) {
    run(20, 20);
    response.progress();
  }
  run(400, 20);
  expect(ended()).toEqual([]);
  run(200, 20);
  expect(ended()).toEqual([0, 1]);
  // These two have made progress.
  run(1_000, 20);
  expect(ended()).toEqual([0, 1]);
  run(600, 20);
  expect(ended()).toEqual([0, 1, 2, 3]);
});

test('no response ends while no call waits', () => {
  const { ended, run } = startPool(4, Infinity);
  run(10_000, 20);
  expect(ended()).toEqual([]);
});

test('after a call has waited for a second, responses whose clients have read nothing have no share', () => {
  const { responses, ended, run } = startPool(4, now - 1_000);
  run(20, 20);
  responses[3]!.progress();
  run(20, 20);
  responses[3]!.progress();
  run(560, 20);
  expect(ended()).toEqual([0, 1, 2]);
});

test('the clients that have read nothing of a response', () => {
  const { responses, clients, run } = startPool(3);
  const of = (...indexes: readonly number[]): ReadonlySet<ClientKey> =>
    new Set(indexes.map((index) => responses[index]!.call.call.client));
  expect(clients()).toEqual(of(0, 1, 2));
  run(40, 20);
  responses[1]!.progress();
  responses[2]!.isEnded = true;
  run(20, 20);
  expect([...clients()]).toEqual([...of(0)]);
});

test('the network of several clients counts when a response has waited for a tenth of a second, the connection of one at once', () => {
  const { responses, clients, run } = startPool(2);
  const [network, other] = responses.map(({ call }) => call.call);
  network!.client = '192.0.2.1';
  run(80, 20);
  expect([...clients()]).toEqual([other!.client]);
  run(40, 20);
  expect([...clients()]).toEqual(['192.0.2.1', other!.client]);
});

test('calls of a client that has read nothing end its own responses alone', () => {
  const waits = now - 60_000;
  const { responses, ended, run } = startPool(4, (unread, own) => {
    const attacker = responses[3]!.call.call.client;
    return unread?.has(attacker) === true && own !== attacker ? Infinity : waits;
  });
  run(20, 20);
  for (const response of responses.slice(0, 3)) response.progress();
  run(600, 20);
  expect(ended()).toEqual([3]);
  // Its next response has not begun to wait within a second: its calls count.
  run(2_000, 20);
  expect(ended()).toEqual([0, 1, 2, 3]);
});

test('a client that reads at its own pace is not ended, though others wait for a long time', () => {
  const { responses, ended, run } = startPool(4, now - 60_000);
  // Each turn brings it nearer to a pace of 1.5 seconds: three times the limit of the first one.
  for (const paceMs of [200, 400, 700, 1_200, 1_500, 1_500]) {
    run(paceMs, 20);
    for (const response of responses) response.progress();
  }
  expect(ended()).toEqual([]);
  run(2_100, 20);
  expect(ended()).toEqual([0, 1, 2, 3]);
});

test('a client that has read quickly and then stops has no longer time than one that has read nothing', () => {
  const { responses, ended, run } = startPool(2, now - 60_000);
  for (let count = 0; count < 50; count++) {
    run(20, 20);
    for (const response of responses) response.progress();
  }
  run(560, 20);
  expect(ended()).toEqual([0]);
});

test.each([100, 450, 3_000])(
  'turns of %i ms: a client that makes progress in each second turn is not ended, however long they take',
  (turnMs) => {
    const { responses, ended, run } = startPool(4, now - 60_000);
    for (let count = 0; count < 40; count++) {
      run(2 * turnMs, turnMs);
      for (const response of responses) response.progress();
    }
    expect(ended()).toEqual([]);
    // One that stops is ended all the same.
    run(60 * turnMs, turnMs);
    expect(ended()).toEqual([0, 1, 2, 3]);
  },
);

test('progress that a socket reports just after the check counts', () => {
  const { responses, ended, run } = startPool(1);
  run(10_000, 1_000);
  expect(ended()).toEqual([]);
  run(1_980, 20, () => responses[0]!.progress());
  run(480, 20);
  expect(ended()).toEqual([]);
});
