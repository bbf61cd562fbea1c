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
  // Further pending bytes are no progress.
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
