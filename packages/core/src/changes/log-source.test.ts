import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { LogSource } from './log-source.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface TestSource {
  readonly source: LogSource;
  /** The number of readers that were opened. */
  readonly opens: () => number;
  /** The number of times that the log was not read for long. */
  readonly outages: () => number;
  /** Fails the reader. */
  readonly lose: () => void;
}

/** Starts a source whose readers have nothing to read. */
function startSource(opened: (source: LogSource) => void): TestSource {
  let [opens, outages] = [0, 0];
  let lose = (): void => undefined;
  const source: LogSource = new LogSource(
    (events) => {
      opens++;
      lose = () => events.onFailure(new Error('lost'));
      return Promise.resolve({
        slot: '',
        position: 0n,
        reach: () => Promise.resolve(),
        close: () => Promise.resolve(),
      });
    },
    {
      onTransaction: () => undefined,
      onOpened: () => opened(source),
      onLost: () => Promise.resolve(),
      onOutage: () => void outages++,
      report: () => undefined,
    },
  );
  source.start();
  onTestFinished(() => source.close());
  return { source, opens: () => opens, outages: () => outages, lose: () => lose() };
}

/** Returns the number of readers after each time. */
async function opensAfter(opens: () => number, times: readonly number[]): Promise<readonly number[]> {
  const numbers: number[] = [];
  for (const ms of times) {
    await vi.advanceTimersByTimeAsync(ms);
    numbers.push(opens());
  }
  return numbers;
}

test('readers that are abandoned one after the other are opened later each time, at most after 30 seconds', async () => {
  const { opens } = startSource((source) => source.abandon(new Error('another server')));
  expect(await opensAfter(opens, [0, 499, 1, 999, 1, 1_999, 1])).toEqual([1, 1, 2, 2, 3, 3, 4]);
  await vi.advanceTimersByTimeAsync(120_000);
  const before = opens();
  expect(await opensAfter(opens, [30_000, 30_000])).toEqual([before + 1, before + 2]);
});

test('a reader that was confirmed is opened again after half a second, and one that was not later each time', async () => {
  const { source, opens, lose } = startSource(() => undefined);
  await vi.advanceTimersByTimeAsync(0);
  for (const ms of [500, 1_000, 2_000]) {
    lose();
    await vi.advanceTimersByTimeAsync(ms);
  }
  expect(opens()).toBe(4);
  source.confirm();
  source.abandon(new Error('another server'));
  expect(await opensAfter(opens, [499, 1, 10_000])).toEqual([4, 5, 5]);
  lose();
  expect(await opensAfter(opens, [999, 1, 10_000])).toEqual([5, 6, 6]);
  source.confirm();
  lose();
  expect(await opensAfter(opens, [499, 1, 10_000])).toEqual([6, 7, 7]);
});

test('a log that is not read for two seconds is reported once, also when readers fail before they are confirmed', async () => {
  const { source, opens, outages, lose } = startSource((opened) => {
    if (opens() > 1) opened.abandon(new Error('another server'));
  });
  await vi.advanceTimersByTimeAsync(0);
  source.confirm();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([opens(), outages()]).toEqual([1, 0]);
  lose();
  await vi.advanceTimersByTimeAsync(1_999);
  expect([opens(), outages()]).toEqual([3, 0]);
  await vi.advanceTimersByTimeAsync(1);
  expect(outages()).toBe(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(outages()).toBe(1);
});
