import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ByteSink } from '../http/response.ts';
import { StreamWriter } from './stream-writer.ts';
import { ResponseBacklog } from './response-backlog.ts';

const kibibyte = 1024;
const timeout = 30_000;

/** A reader that takes one piece at a time, when it is told to. */
class Reader implements ByteSink {
  readonly pieces: number[] = [];
  outcome = 'open';
  /** Whether it can always take more. */
  isFast = false;
  /** Called while a piece is taken. */
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

describe('a delivery', () => {
  test('gives a large chunk in pieces, each after the reader took the one before', () => {
    const reader = new Reader();
    const delivery = new StreamWriter({ slowClientTimeout: timeout });
    delivery.end(new Uint8Array(600 * kibibyte));
    delivery.open(reader);
    expect(reader.pieces).toEqual([256 * kibibyte]);
    delivery.resume();
    delivery.resume();
    expect([reader.pieces, reader.outcome]).toEqual([[256, 256, 88].map((size) => size * kibibyte), 'open']);
    delivery.resume();
    expect(reader.outcome).toBe('ended');
  });

  test('gives small last bytes along with the end', () => {
    const reader = new Reader();
    const delivery = new StreamWriter({ slowClientTimeout: timeout });
    delivery.open(reader);
    delivery.end(new Uint8Array(10));
    expect([reader.pieces, reader.outcome]).toEqual([[10], 'ended']);
  });

  test('keeps the order when the reader asks for more while it takes a piece', () => {
    const reader = new Reader();
    const delivery = new StreamWriter({ slowClientTimeout: timeout });
    reader.taking = () => delivery.resume();
    delivery.open(reader);
    delivery.write(new Uint8Array(1));
    delivery.write(new Uint8Array(600 * kibibyte));
    delivery.end(new Uint8Array(2));
    expect([reader.pieces, reader.outcome]).toEqual([[1, 256 * kibibyte, 256 * kibibyte, 88 * kibibyte, 2], 'ended']);
  });

  test('is not cut off while its reader takes something, however slowly', () => {
    const reader = new Reader();
    const delivery = new StreamWriter({ slowClientTimeout: timeout });
    delivery.end(new Uint8Array(1024 * kibibyte));
    delivery.open(reader);
    for (let taken = 0; taken < 4; taken++) {
      vi.advanceTimersByTime(timeout - 1);
      delivery.resume();
    }
    expect(reader.outcome).toBe('ended');
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([
    ['in the middle', (delivery: StreamWriter) => void delivery.write(new Uint8Array(1024 * kibibyte))],
    ['at the end', (delivery: StreamWriter) => delivery.end(new Uint8Array(100 * kibibyte))],
    [
      'while more comes',
      (delivery: StreamWriter) => {
        for (let more = 0; more < 3; more++) {
          delivery.write(new Uint8Array(kibibyte));
          vi.advanceTimersByTime(timeout / 3 - 1);
        }
      },
    ],
  ])('is cut off when its reader takes nothing: %s', (_, give) => {
    const reader = new Reader();
    const cutOff = vi.fn<() => void>();
    const delivery = new StreamWriter({ slowClientTimeout: timeout, onAbort: cutOff });
    delivery.open(reader);
    give(delivery);
    vi.advanceTimersByTime(timeout);
    expect([reader.outcome, cutOff.mock.calls.length, delivery.isFull]).toEqual([
      'the answer was not fetched',
      1,
      false,
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is cut off when nothing reads it at all', () => {
    const cutOff = vi.fn<() => void>();
    const delivery = new StreamWriter({ slowClientTimeout: timeout, onAbort: cutOff });
    vi.advanceTimersByTime(timeout);
    expect(cutOff).toHaveBeenCalledOnce();
    const reader = new Reader();
    delivery.open(reader);
    expect(reader.outcome).toBe('the answer was not fetched');
  });
});

describe('held answers', () => {
  const held = (
    most: number,
  ): {
    readonly answers: ResponseBacklog;
    readonly ended: string[];
    readonly hold: (name: string, bytes: number) => void;
  } => {
    const answers = new ResponseBacklog(most);
    const ended: string[] = [];
    const keys = new Map<string, object>();
    return {
      answers,
      ended,
      hold(name, bytes) {
        const key = keys.get(name) ?? {};
        keys.set(name, key);
        answers.track(key, bytes, () => ended.push(name));
      },
    };
  };

  test('past the bound, those are cut off whose readers have taken nothing for the longest time', () => {
    const { answers, ended, hold } = held(100);
    hold('first', 40);
    hold('second', 40);
    // More of the same answer is no progress of its reader.
    hold('first', 50);
    hold('third', 40);
    expect([ended, answers.bytes]).toEqual([['first'], 80]);
    hold('fourth', 90);
    expect([ended, answers.bytes]).toEqual([['first', 'second', 'third'], 90]);
  });

  test('one answer alone may be larger', () => {
    const { answers, ended, hold } = held(100);
    hold('large', 1_000);
    expect([ended, answers.bytes]).toEqual([[], 1_000]);
    hold('next', 1);
    expect([ended, answers.bytes]).toEqual([['large'], 1]);
  });
});
