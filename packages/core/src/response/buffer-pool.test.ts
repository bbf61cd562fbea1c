import { describe, expect, test } from 'vitest';
import { BufferPool } from './buffer-pool.ts';

const kibibyte = 1024;

describe('the pool of buffers', () => {
  test('returns a released buffer again, for any size that fits', () => {
    const pool = new BufferPool();
    const first = pool.acquire(40 * kibibyte);
    expect(first.bytes.length).toBe(64 * kibibyte);
    const second = pool.acquire(40 * kibibyte);
    expect(second.bytes).not.toBe(first.bytes);
    first.release();
    expect(pool.acquire(64 * kibibyte).bytes).toBe(first.bytes);
    expect([pool.acquire(0), pool.acquire(513), pool.acquire(1024)].map(({ bytes }) => bytes.length)).toEqual([
      512, 1024, 1024,
    ]);
  });

  test('takes a buffer back once: a late second release does not give away a buffer that is in use', () => {
    const pool = new BufferPool();
    const first = pool.acquire(1000);
    first.release();
    first.release();
    expect(pool.freeBytes).toBe(1024);
    const second = pool.acquire(1000);
    first.release();
    expect([second.bytes === first.bytes, pool.acquire(1000).bytes === second.bytes]).toEqual([true, false]);
  });

  test('keeps a limited number of free buffers, and no large ones', () => {
    const pool = new BufferPool();
    for (const size of [512, 64 * kibibyte, 256 * kibibyte, 256 * kibibyte + 1]) {
      const buffers = Array.from({ length: 100 }, () => pool.acquire(size));
      for (const buffer of buffers) buffer.release();
    }
    expect(pool.freeBytes).toBe(64 * 512 + 64 * 64 * kibibyte + 16 * 256 * kibibyte);
    expect(pool.acquire(300_001).bytes.length).toBe(300_001);
  });

  test('overwrites free buffers on request of a test', () => {
    const pool = new BufferPool();
    pool.freeByte = 0xfe;
    const { bytes } = pool.acquire(1000);
    bytes.fill(1);
    const used = pool.acquire(1000);
    used.bytes.fill(2);
    used.release();
    expect([used.bytes.every((byte) => byte === 0xfe), bytes.every((byte) => byte === 1)]).toEqual([true, true]);
  });
});
