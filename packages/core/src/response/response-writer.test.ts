import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Endpoint, ResultColumn } from '../endpoints/endpoint.ts';
import { selectFormat } from './format.ts';
import { ResponseWriter } from './response-writer.ts';

const column = { name: 'a', key: 'a', type: { json: 'number' } } as ResultColumn;
const format = selectFormat({ result: { kind: 'values', column }, raw: null, contentType: null } as Endpoint);

/** The field of a DataRow. */
const one = Buffer.from([0, 0, 0, 1, 0x31]);

/** A response with an element of the list for each write. */
function open(
  bufferRows: number,
  takes = (): boolean => true,
): { readonly writer: ResponseWriter; readonly writes: string[] } {
  const writes: string[] = [];
  const writer = new ResponseWriter(
    format,
    { bufferRows, sizeHint: 256, slowClientTimeout: 60_000, holdLimit: null },
    {
      whole: (bytes) => void writes.push(`whole: ${bytes.toString()}`),
      failed: (error) => void writes.push(`failed: ${error.message}`),
      stream: (source) => {
        source.pipe({
          write: (bytes) => {
            writes.push(`part: ${Buffer.from(bytes).toString()}`);
            return takes();
          },
          end: (bytes) => void writes.push(`end: ${Buffer.from(bytes).toString()}`),
          fail: (error) => void writes.push(`fail: ${error.message}`),
        });
        source.resume();
      },
    },
  );
  return { writer, writes };
}

/** Passes rows on, as if they had arrived with one packet. Returns whether the response takes more. */
function receive(writer: ResponseWriter, rows: number): boolean {
  for (let row = 0; row < rows; row++) writer.row(one, 0, 1);
  return writer.chunkEnd();
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a response in several packets', () => {
  test('is one write, also of a statement whose first row comes late', () => {
    const { writer, writes } = open(2);
    vi.advanceTimersByTime(500);
    receive(writer, 2);
    receive(writer, 2);
    vi.advanceTimersByTime(19);
    receive(writer, 2);
    writer.done();
    expect(writes).toEqual(['whole: [1,1,1,1,1,1]']);
  });

  test('is a stream when more rows come after 20 ms, which then writes those that wait for 20 ms', () => {
    const { writer, writes } = open(2);
    receive(writer, 2);
    vi.advanceTimersByTime(20);
    receive(writer, 1);
    expect(writes).toEqual(['part: [1,1,1']);
    receive(writer, 2);
    vi.advanceTimersByTime(15);
    receive(writer, 1);
    vi.advanceTimersByTime(4);
    expect(writes).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(writes.slice(1)).toEqual(['part: ,1,1,1']);
    receive(writer, 1);
    vi.advanceTimersByTime(100);
    expect(writes).toHaveLength(2);
    writer.done();
    expect(writes.slice(2)).toEqual(['end: ,1]']);
  });

  test('fails as a whole while its first rows wait', () => {
    const { writer, writes } = open(2);
    receive(writer, 2);
    vi.advanceTimersByTime(499);
    writer.failed(new Error('division by zero'));
    expect(writes).toEqual(['failed: division by zero']);
  });

  test('begins after 500 ms without more rows', () => {
    const { writer, writes } = open(2);
    receive(writer, 2);
    vi.advanceTimersByTime(499);
    expect(writes).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(writes).toEqual(['part: [1,1']);
    writer.done();
    expect(writes.slice(1)).toEqual(['end: ]']);
  });

  test('asks for a pause when 1 MiB waits for a client, also of rows that arrive slowly', () => {
    const { writer, writes } = open(2, () => false);
    receive(writer, 70_000);
    let waiting = 0;
    let mayContinue = true;
    while (mayContinue && waiting < 4_000_000) {
      vi.advanceTimersByTime(20);
      mayContinue = receive(writer, 20_000);
      waiting += 40_000;
    }
    expect(waiting).toBe(1_120_000);
    expect(writes).toHaveLength(1);
  });

  test('fails when a late write does', () => {
    const { writer, writes } = open(2, () => {
      throw new Error('closed');
    });
    receive(writer, 2);
    vi.advanceTimersByTime(500);
    writer.done();
    expect(writes).toEqual(['part: [1,1', 'fail: closed']);
  });

  test('has no write after its end', () => {
    for (const end of ['done', 'cancel'] as const) {
      const { writer, writes } = open(2);
      receive(writer, 70_000);
      expect(writes).toHaveLength(1);
      receive(writer, 2);
      writer[end]();
      const count = writes.length;
      vi.advanceTimersByTime(100);
      expect([writes.length, vi.getTimerCount()]).toEqual([count, 0]);
    }
  });
});
