import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ByteSink } from '../http/response.ts';
import { StreamWriter } from './stream-writer.ts';
import { ResponseBacklog } from './response-backlog.ts';

const kibibyte = 1024;
const timeout = 30_000;

/** A sink that accepts one piece at a time. */
class Reader implements ByteSink {
  readonly pieces: number[] = [];
  outcome = 'open';
  /** Whether it never asks for a pause. */
  isFast = false;
  /** Called during a write. */
  taking: () => void = () => undefined;

  write(chunk: Uint8Array): boolean {
    this.pieces.push(chunk.length);
    this.taking();
    return this.isFast;
  }

  end(chunk: Uint8Array): void {
    if (chunk.length > 0) this.pieces.push(chunk.length);
    this.outcome = 'ended';
  }

  fail(error: Error): void {
    this.outcome = error.message;
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a stream writer', () => {
  test('writes a large chunk in pieces, each after the sink has drained', () => {
    const reader = new Reader();
    const writer = new StreamWriter({ slowClientTimeout: timeout });
    writer.end(new Uint8Array(600 * kibibyte));
    writer.open(reader);
    expect(reader.pieces).toEqual([256 * kibibyte]);
    writer.resume();
    writer.resume();
    expect([reader.pieces, reader.outcome]).toEqual([[256, 256, 88].map((size) => size * kibibyte), 'open']);
    writer.resume();
    expect(reader.outcome).toBe('ended');
  });

  test('writes a few last bytes together with the end', () => {
    const reader = new Reader();
    const writer = new StreamWriter({ slowClientTimeout: timeout });
    writer.open(reader);
    writer.end(new Uint8Array(10));
    expect([reader.pieces, reader.outcome]).toEqual([[10], 'ended']);
  });

  test('keeps the order when the sink asks for more during a write', () => {
    const reader = new Reader();
    const writer = new StreamWriter({ slowClientTimeout: timeout });
    reader.taking = () => writer.resume();
    writer.open(reader);
    writer.write(new Uint8Array(1));
    writer.write(new Uint8Array(600 * kibibyte));
    writer.end(new Uint8Array(2));
    expect([reader.pieces, reader.outcome]).toEqual([[1, 256 * kibibyte, 256 * kibibyte, 88 * kibibyte, 2], 'ended']);
  });

  test('is not aborted while the client makes progress', () => {
    const reader = new Reader();
    const writer = new StreamWriter({ slowClientTimeout: timeout });
    writer.end(new Uint8Array(1024 * kibibyte));
    writer.open(reader);
    for (let taken = 0; taken < 4; taken++) {
      vi.advanceTimersByTime(timeout - 1);
      writer.resume();
    }
    expect(reader.outcome).toBe('ended');
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([
    ['in the middle', (writer: StreamWriter) => void writer.write(new Uint8Array(1024 * kibibyte))],
    ['at the end', (writer: StreamWriter) => writer.end(new Uint8Array(100 * kibibyte))],
    [
      'while more comes',
      (writer: StreamWriter) => {
        for (let more = 0; more < 3; more++) {
          writer.write(new Uint8Array(kibibyte));
          vi.advanceTimersByTime(timeout / 3 - 1);
        }
      },
    ],
  ])('is cut off when its reader takes nothing: %s', (_, give) => {
    const reader = new Reader();
    const onAbort = vi.fn<() => void>();
    const writer = new StreamWriter({ slowClientTimeout: timeout, onAbort });
    writer.open(reader);
    give(writer);
    vi.advanceTimersByTime(timeout);
    expect([reader.outcome, onAbort.mock.calls.length, writer.isFull]).toEqual([
      'the client has not read the response in time',
      1,
      false,
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is aborted when the sink is never opened', () => {
    const onAbort = vi.fn<() => void>();
    const writer = new StreamWriter({ slowClientTimeout: timeout, onAbort });
    vi.advanceTimersByTime(timeout);
    expect(onAbort).toHaveBeenCalledOnce();
    const reader = new Reader();
    writer.open(reader);
    expect(reader.outcome).toBe('the client has not read the response in time');
  });
});

describe('the backlog', () => {
  const held = (
    maxBytes: number,
  ): {
    readonly backlog: ResponseBacklog;
    readonly ended: string[];
    readonly hold: (name: string, bytes: number) => void;
  } => {
    const backlog = new ResponseBacklog(maxBytes);
    const ended: string[] = [];
    const keys = new Map<string, object>();
    return {
      backlog,
      ended,
      hold(name, bytes) {
        const key = keys.get(name) ?? {};
        keys.set(name, key);
        backlog.track(key, bytes, () => ended.push(name));
      },
    };
  };

  test('past the limit, the responses without progress for the longest time are aborted', () => {
    const { backlog, ended, hold } = held(100);
    hold('first', 40);
    hold('second', 40);
    // More bytes of the same response are not progress.
    hold('first', 50);
    hold('third', 40);
    expect([ended, backlog.bytes]).toEqual([['first'], 80]);
    hold('fourth', 90);
    expect([ended, backlog.bytes]).toEqual([['first', 'second', 'third'], 90]);
  });

  test('a single response may exceed the limit', () => {
    const { backlog, ended, hold } = held(100);
    hold('large', 1_000);
    expect([ended, backlog.bytes]).toEqual([[], 1_000]);
    hold('next', 1);
    expect([ended, backlog.bytes]).toEqual([['large'], 1]);
  });
});
