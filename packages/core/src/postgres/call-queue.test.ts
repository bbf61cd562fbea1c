import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type AllowedCalls, CallQueue, QueuedCall, QueuedTransaction } from './call-queue.ts';
import type { Call } from './port.ts';

const ignore = (): void => undefined;

beforeEach(() => {
  // Each call arrives a millisecond after the one before.
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => ++now);
});

afterEach(() => void vi.restoreAllMocks());

/** A call of a client; null: of an unknown one. */
function callOf(client: object | null, mayBlock = false): QueuedCall {
  const call: Call = { steps: [], mayShare: true, mayBlock, timeout: 0, done: ignore, failed: ignore };
  return new QueuedCall(client === null ? call : { ...call, client }, () => false);
}

function transaction(): QueuedCall {
  return new QueuedTransaction({ failed: ignore }, () => false, ignore);
}

function queueOf(...calls: readonly QueuedCall[]): CallQueue {
  const queue = new CallQueue();
  for (const call of calls) queue.push(call);
  return queue;
}

function allow(unread: readonly object[], allowed: Partial<AllowedCalls> = {}): AllowedCalls {
  return { blocking: () => true, transaction: () => true, unread: () => new Set(unread), ...allowed };
}

/** The indexes of the calls in the order in which they leave the queue. */
function orderOf(calls: readonly QueuedCall[], allowed: AllowedCalls): readonly number[] {
  const queue = queueOf(...calls);
  const order = calls.map(() => queue.shift(allowed)).filter((call) => call !== undefined);
  expect(queue.shift(allowed)).toBeUndefined();
  return order.map((call) => calls.indexOf(call));
}

test('calls of clients that read come first, each group in the order of its arrival', () => {
  const [idle, other] = [{}, {}];
  const calls = [callOf(idle), callOf(idle), callOf(other), callOf(null), callOf(idle)];
  expect(orderOf(calls, allow([idle]))).toEqual([2, 3, 0, 1, 4]);
});

test('without a client that reads nothing, the oldest call is the next one', () => {
  expect(orderOf([callOf({}), callOf(null, true), transaction(), callOf({})], allow([]))).toEqual([0, 1, 2, 3]);
});

test.each([false, true])('that block: %s. Calls of a client that reads nothing wait behind all others', (mayBlock) => {
  const idle = {};
  const calls = [callOf(idle, mayBlock), callOf(idle, !mayBlock), transaction(), callOf({}, !mayBlock), callOf(null)];
  expect(orderOf(calls, allow([idle]))).toEqual([2, 3, 4, 0, 1]);
});

test('calls that may not begin do not make those of a client that reads nothing wait', () => {
  const idle = {};
  const calls = [callOf(idle), callOf(null, true), transaction()];
  expect(orderOf(calls.slice(0, 1), allow([idle], { blocking: () => false }))).toEqual([0]);
  expect(queueOf(...calls).shift(allow([idle], { blocking: () => false }))).toBe(calls[0]);
  expect(queueOf(calls[0]!, calls[2]!).shift(allow([idle], { transaction: () => false }))).toBe(calls[0]);
});

test('the first call that does not block is that of a client that reads', () => {
  const idle = {};
  const calls = [callOf(null, true), callOf(idle), callOf({})];
  expect(queueOf(...calls).first(allow([idle]))).toBe(calls[2]);
  expect(queueOf(...calls.slice(0, 2)).first(allow([idle]))).toBe(calls[1]);
  expect(queueOf(calls[0]!).first(allow([idle]))).toBeUndefined();
});

test('queued calls of a client that reads nothing go before later ones of such clients alone', () => {
  const idle = {};
  const [unread, read] = [callOf(idle), callOf({})];
  expect(queueOf(unread).precedes(callOf(null), allow([idle]))).toBe(false);
  expect(queueOf(unread).precedes(callOf(idle), allow([idle]))).toBe(true);
  expect(queueOf(unread, read).precedes(callOf(null), allow([idle]))).toBe(true);
  expect(queueOf().precedes(callOf(idle), allow([idle]))).toBe(false);
});

test('the time since which calls wait, without those of some clients', () => {
  const [idle, other] = [{}, {}];
  const calls = [callOf(idle, true), callOf(other), callOf(null)];
  const queue = queueOf(...calls);
  const [first, second, third] = calls.map(({ since }) => since);
  expect(queue.oldestSince()).toBe(first);
  expect(queue.oldestSince(new Set([idle]))).toBe(second);
  expect(queue.oldestSince(new Set([idle, other]))).toBe(third);
  expect(queue.oldestSince(new Set([idle, other]), idle)).toBe(first);
  expect(queueOf().oldestSince()).toBe(Infinity);
});
