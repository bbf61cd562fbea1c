import { expect, test } from 'vitest';
import { CallQueue, QueuedCall } from './call-queue.ts';
import type { Call } from './port.ts';

const ignore = (): void => undefined;

/** A queue with a call for each connection; null: a connection with one call at a time. */
function queueOf(...connections: readonly (object | null)[]): {
  readonly queue: CallQueue;
  readonly calls: readonly Call[];
} {
  const queue = new CallQueue();
  const calls = connections.map((connection): Call => {
    return {
      steps: [],
      mayShare: true,
      timeout: 0,
      done: ignore,
      failed: ignore,
      ...(connection === null ? {} : { connection }),
    };
  });
  for (const call of calls) queue.push(new QueuedCall(call, (queued) => queue.remove(queued)));
  return { queue, calls };
}

test('calls of clients that read come first, each group in the order of its arrival', () => {
  const [idle, other] = [{}, {}];
  const { queue, calls } = queueOf(idle, idle, other, null, idle);
  const allowed = { blocking: () => true, transaction: () => true, unread: () => new Set([idle]) };
  const order = calls.map(() => calls.indexOf(queue.shift(allowed)!.call));
  expect(order).toEqual([2, 3, 0, 1, 4]);
  expect(queue.shift(allowed)).toBeUndefined();
});

test('without a client that reads nothing, the oldest call is the next one', () => {
  const { queue, calls } = queueOf({}, null, {});
  const allowed = { blocking: () => true, transaction: () => true, unread: () => new Set<object>() };
  expect(calls.map(() => calls.indexOf(queue.shift(allowed)!.call))).toEqual([0, 1, 2]);
});
