import { expect, test, vi, onTestFinished } from 'vitest';
import { BatchQueue, type BatchSink } from '../../src/log/batch-queue.ts';

/** A sink that fails or waits on demand. */
function createQueue({
  maxItems = 5,
  batchSize = 2,
}: { readonly maxItems?: number; readonly batchSize?: number } = {}) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const written: string[] = [];
  const reports: string[] = [];
  const state = { error: null as Error | null, lost: 0, gate: null as Promise<void> | null, isClosed: false };
  const sink: BatchSink<string> = {
    write: async (items) => {
      await state.gate;
      if (state.error !== null) throw state.error;
      written.push(items.join(''));
      return state.lost;
    },
    close: async () => void (state.isClosed = true),
  };
  const queue = new BatchQueue<string>({
    name: 'the log',
    sink,
    sizeOf: (item) => item.length,
    maxItems,
    batchSize,
    delayMs: 10,
    retryMs: 1000,
    report: (message) => void reports.push(message),
  });
  const push = (items: string): void => {
    for (const item of items) queue.push(item);
  };
  return { queue, push, written, reports, state };
}

test('items are written in order, in batches: at once when one is full, otherwise after the delay', async () => {
  const { push, written } = createQueue();

  push('a');
  await vi.advanceTimersByTimeAsync(9);
  expect(written).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(written).toEqual(['a']);
  push('bcd');
  await vi.advanceTimersByTimeAsync(0);
  // An item that arrives during a write waits for others, too.
  expect(written).toEqual(['a', 'bc']);
  await vi.advanceTimersByTimeAsync(10);

  expect(written).toEqual(['a', 'bc', 'd']);
});

test('a failing output: one report, the oldest items are dropped and counted, and writing resumes', async () => {
  const { push, written, reports, state } = createQueue();

  state.error = new Error('no space left');
  push('abcdefgh');
  await vi.advanceTimersByTimeAsync(3500);
  expect(reports).toEqual(['the log cannot be written, and lines may be lost: no space left']);
  state.error = null;
  await vi.advanceTimersByTimeAsync(510);

  expect(written).toEqual(['de', 'fg', 'h']);
  expect(reports.slice(1)).toEqual(['the log is written again', 'the log: 3 lines were lost']);
});

test('a slow output: adding does not wait, and the losses are counted', async () => {
  const { queue, push, written, reports, state } = createQueue();

  let open!: () => void;
  state.gate = new Promise((resolve) => (open = resolve));
  push('abcdefghij');
  open();
  await vi.advanceTimersByTimeAsync(10);

  expect(written).toEqual(['ab', 'fg', 'hi', 'j']);
  expect(reports).toEqual(['the log: 3 lines were lost']);
  await queue.close(1000);
});

test('losses of the output are reported at most once a minute, and at the end', async () => {
  const { queue, push, reports, state } = createQueue();

  state.lost = 1;
  push('abcdef');
  await vi.advanceTimersByTimeAsync(59_000);
  expect(reports).toEqual(['the log: 1 line was lost']);
  await vi.advanceTimersByTimeAsync(1000);
  push('gh');
  await vi.advanceTimersByTimeAsync(0);
  push('ij');
  await queue.close(1000);

  expect(reports).toEqual(['the log: 1 line was lost', 'the log: 3 lines were lost', 'the log: 1 line was lost']);
});

test('the end writes what is queued, tries a failing output once more, and takes no further items', async () => {
  const { queue, push, written, reports, state } = createQueue();

  state.error = new Error('down');
  push('abc');
  await vi.advanceTimersByTimeAsync(0);
  state.error = null;
  await queue.close(1000);
  push('x');
  await vi.advanceTimersByTimeAsync(10_000);

  expect(written).toEqual(['ab', 'c']);
  expect(state.isClosed).toBe(true);
  expect(reports).toEqual(['the log cannot be written, and lines may be lost: down', 'the log is written again']);
});

test('the end waits for a hanging output no longer than its time', async () => {
  const { queue, push, reports, state } = createQueue();

  state.gate = new Promise(() => undefined);
  push('abcd');
  const closed = queue.close(1000);
  await vi.advanceTimersByTimeAsync(1000);
  await closed;

  expect(reports).toEqual(['the log: 2 lines were lost']);
});

test('items are dropped by size too', async () => {
  const { queue, written, reports } = createQueue({ maxItems: 100, batchSize: 100 });

  const large = 'x'.repeat(7 * 1024 * 1024);
  for (const name of 'abc') queue.push(name + large);
  await queue.close(1000);

  expect(written.map((text) => text.replaceAll(large, ''))).toEqual(['bc']);
  expect(reports).toEqual(['the log: 1 line was lost']);
});
