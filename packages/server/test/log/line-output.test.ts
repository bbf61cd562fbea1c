import { expect, onTestFinished, test, vi } from 'vitest';
import { blockBytes, LineOutput } from '../../src/log/line-output.ts';

/** An output whose writes wait for `open`, and are recorded when they begin. */
function createOutput() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const writes: string[] = [];
  const atExit: string[] = [];
  const reports: string[] = [];
  const state = { gate: null as Promise<void> | null };
  const output = new LineOutput({
    name: 'the log',
    sink: {
      write: async (blocks) => {
        writes.push(Buffer.concat(blocks).toString());
        await state.gate;
        return 0;
      },
      close: () => Promise.resolve(),
    },
    writeSync: (bytes) => void atExit.push(Buffer.from(bytes).toString()),
    retryMs: 1000,
    report: (message) => void reports.push(message),
  });
  const block = (): (() => void) => {
    let open!: () => void;
    state.gate = new Promise((resolve) => (open = resolve));
    return open;
  };
  return { output, writes, atExit, reports, block };
}

test('lines are written together, 100 ms after the first of them or when a block is full', async () => {
  const { output, writes } = createOutput();

  output.write('a\n');
  await vi.advanceTimersByTimeAsync(60);
  output.write('ż\n');
  await vi.advanceTimersByTimeAsync(39);
  expect(writes).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(writes).toEqual(['a\nż\n']);

  const line = `${'x'.repeat(999)}\n`;
  for (let count = 0; count < 100; count++) output.write(line);
  await vi.advanceTimersByTimeAsync(0);
  // A line of 1,000 characters may have three times as many bytes.
  expect(writes.slice(1)).toEqual([line.repeat(63)]);
  await output.close(1000);

  expect(writes.slice(1).join('')).toBe(line.repeat(100));
});

test('a line that is longer than a block is written whole, in its order', async () => {
  const { output, writes } = createOutput();

  const long = `${'ż'.repeat(blockBytes)}\n`;
  for (const line of ['a\n', long, 'b\n']) output.write(line);
  await output.close(1000);

  expect(writes.join('')).toBe(`a\n${long}b\n`);
});

test('while a reader does not read, lines fill whole blocks; of these, the oldest are dropped and counted as lines', async () => {
  const { output, writes, reports, block } = createOutput();

  const open = block();
  output.write('first\n');
  await vi.advanceTimersByTimeAsync(100);
  output.write('second\n');
  await vi.advanceTimersByTimeAsync(1000);
  output.write('third\n');
  await vi.advanceTimersByTimeAsync(1000);
  open();
  await vi.advanceTimersByTimeAsync(100);
  expect(writes).toEqual(['first\n', 'second\nthird\n']);

  const reopen = block();
  const line = `${'x'.repeat(999)}\n`;
  const count = 20_000;
  for (let written = 0; written < count; written++) output.write(line);
  reopen();
  await output.close(1000);

  const kept = writes.slice(2).join('').length / line.length;
  expect(count - kept).toBe(output.lost);
  expect(output.lost).toBeGreaterThan(0);
  expect(kept * line.length).toBeGreaterThan(16 * 1024 * 1024 - 2 * blockBytes);
  expect(reports).toEqual([`the log: ${output.lost} lines were lost`]);
});

test('at the exit of the process, a file gets what waits, and the lines of the write that runs separately', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const appended: string[][] = [];
  const output = new LineOutput({
    name: 'the log file',
    sink: { write: () => new Promise(() => undefined), close: () => Promise.resolve() },
    retryMs: 1_000,
    report: () => undefined,
    appendSync: (...texts) => appended.push(texts.map((bytes) => Buffer.from(bytes).toString())),
  });

  output.write('first\n');
  await vi.advanceTimersByTimeAsync(100);
  output.write('second\n');
  output.flushAtExit();

  expect(appended).toEqual([['second\n', 'first\n']]);
});

test('at the exit of the process, the last lines are written once, unless the reader does not read', async () => {
  const { output, writes, atExit, block } = createOutput();

  output.write('last\n');
  output.flushAtExit();
  output.flushAtExit();
  await vi.advanceTimersByTimeAsync(100);
  expect([writes, atExit]).toEqual([[], ['last\n']]);

  block();
  output.write('stuck\n');
  await vi.advanceTimersByTimeAsync(100);
  output.write('later\n');
  output.flushAtExit();

  expect([writes, atExit]).toEqual([['stuck\n'], ['last\n']]);
});
