import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairQueue } from '../../src/auth-schemes/fair-queue.ts';

const refusal = new Error('too many wait');

/** A queue whose work ends when the test ends it. */
function make(atOnce: number, waiting: number) {
  const queue = new FairQueue({ concurrency: atOnce, maxQueued: waiting, refusal });
  const begun: string[] = [];
  const refused: string[] = [];
  const ends: (() => void)[] = [];
  const all: Promise<void>[] = [];
  const ask = (address: string | null, name: string): void => {
    const work = async (): Promise<void> => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
    };
    all.push(queue.run(address, work).catch((error: unknown) => void (error === refusal && refused.push(name))));
  };
  /** Ends all work, one item after the other. */
  const drain = async (): Promise<void> => {
    const settled = Promise.all(all).then(() => true);
    while (!(await Promise.race([settled, new Promise<false>((resolve) => void setImmediate(() => resolve(false)))]))) {
      ends.shift()?.();
    }
  };
  return { ask, begun, refused, drain };
}

describe('a queue that is fair across addresses', () => {
  test('waiting calls run in turns of addresses, each address in its own order', async () => {
    const { ask, begun, drain } = make(1, 10);
    for (const name of ['a1', 'a2', 'a3', 'a4']) ask('192.0.2.1', name);
    for (const name of ['b1', 'b2']) ask('192.0.2.2', name);
    ask('192.0.2.3', 'c1');
    await drain();
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  test('a full queue evicts the newest call of the address with the most, for an address with fewer', async () => {
    const { ask, begun, refused, drain } = make(1, 3);
    for (const name of ['a1', 'a2', 'a3', 'a4']) ask('192.0.2.1', name);
    ask('192.0.2.1', 'a5');
    ask('192.0.2.2', 'b1');
    ask('192.0.2.2', 'b2');
    ask('192.0.2.3', 'c1');
    await drain();
    // a5 and b2 would have equalled the longest queue and were refused; a4 and a3 were evicted.
    expect([begun, refused.toSorted()]).toEqual([
      ['a1', 'a2', 'b1', 'c1'],
      ['a3', 'a4', 'a5', 'b2'],
    ]);
  });

  test('addresses of one IPv6 network share a queue, and so do unknown addresses', async () => {
    const { ask, begun, drain } = make(1, 10);
    for (const [index, address] of ['2001:db8::1', '2001:db8::2', '2001:db8::3'].entries()) ask(address, `a${index}`);
    ask(null, 'n1');
    ask(null, 'n2');
    await drain();
    expect(begun).toEqual(['a0', 'a1', 'n1', 'a2', 'n2']);
  });

  test('the queue never exceeds its limits, and settles every call', async () => {
    const calls = fc.array(fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3', null), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 0, max: 5 }),
        calls,
        async (atOnce, waiting, addresses) => {
          const { ask, begun, refused, drain } = make(atOnce, waiting);
          for (const [index, address] of addresses.entries()) ask(address, String(index));
          expect(begun.length).toBe(Math.min(atOnce, addresses.length));
          await drain();
          expect(begun.length).toBe(Math.min(atOnce + waiting, addresses.length));
          expect(new Set([...begun, ...refused]).size).toBe(addresses.length);
        },
      ),
      { numRuns: 50 },
    );
  });
});
