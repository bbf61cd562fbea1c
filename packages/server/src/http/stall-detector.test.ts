import { beforeEach, expect, test, vi } from 'vitest';
import { StallDetector } from './stall-detector.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  return () => void vi.useRealTimers();
});

const destination = {};

test('a destination that has bytes but takes none is stalled after the timeout', () => {
  const stalls = new StallDetector(1000);
  expect(stalls.isStalled(destination, 10, 0)).toBe(false);
  vi.advanceTimersByTime(999);
  expect(stalls.isStalled(destination, 10, 0)).toBe(false);
  vi.advanceTimersByTime(1);
  expect(stalls.isStalled(destination, 10, 0)).toBe(true);
  // Further pending bytes are not progress.
  expect(stalls.isStalled(destination, 20, 0)).toBe(true);
});

test('it is not when it takes some, or has none', () => {
  const stalls = new StallDetector(1000);
  expect(stalls.isStalled(destination, 10, 0)).toBe(false);
  vi.advanceTimersByTime(1000);
  expect(stalls.isStalled(destination, 9, 1)).toBe(false);
  vi.advanceTimersByTime(999);
  expect(stalls.isStalled(destination, 9, 1)).toBe(false);
  vi.advanceTimersByTime(1000);
  expect(stalls.isStalled(destination, 0, 10)).toBe(false);
  expect(stalls.isStalled(destination, 5, 11)).toBe(false);
});

test('a write of more than 256 KiB, whose progress is unknown, has more time', () => {
  const stalls = new StallDetector(1000);
  const pendingBytes = 3 * 256 * 1024;
  expect(stalls.isStalled(destination, pendingBytes, 0)).toBe(false);
  vi.advanceTimersByTime(2999);
  expect(stalls.isStalled(destination, pendingBytes, 0)).toBe(false);
  vi.advanceTimersByTime(1);
  expect(stalls.isStalled(destination, pendingBytes, 0)).toBe(true);
});

test('past the limit of all pending bytes, those without progress for the longest time are stalled at once', () => {
  const stalls = new StallDetector(60_000, 100);
  const [oldest, older, moving, latest] = [{}, {}, {}, {}];
  const check = (destinations: readonly (readonly [object, number, number])[]): readonly boolean[] => {
    stalls.beginCheck();
    vi.advanceTimersByTime(1000);
    return destinations.map(([to, pendingBytes, sentBytes]) => stalls.isStalled(to, pendingBytes, sentBytes));
  };
  expect(check([[oldest, 50, 0]])).toEqual([false]);
  expect(
    check([
      [oldest, 50, 0],
      [older, 40, 0],
    ]),
  ).toEqual([false, false]);
  const all = (sent: number) =>
    check([
      [moving, 30, sent],
      [latest, 40, 0],
      [older, 40, 0],
      [oldest, 50, 0],
    ]);
  expect(all(0)).toEqual([false, false, false, false]);
  // 160 of 100 bytes: the two oldest ones hold the excess.
  expect(all(1)).toEqual([false, false, true, true]);
  expect(check([[latest, 40, 0]])).toEqual([false]);
});
