import { expect, test } from 'vitest';
import type { RateLimitOptions } from '../../src/auth-schemes/options.ts';
import { rateLimiter } from '../../src/auth-schemes/rate-limiter.ts';
import { clockAt } from './request.ts';

function make(options: RateLimitOptions = {}) {
  const clock = clockAt();
  const limiter = rateLimiter({ now: clock.now, ...options });
  return { take: (address: string | null) => limiter.consume(address), pass: clock.pass };
}

test('the limiter allows a burst, and then an even rate over the window', () => {
  const { take, pass } = make({ perAddress: 3, window: 30 });
  expect([1, 2, 3].map(() => take('192.0.2.1').ok)).toEqual([true, true, true]);
  expect(take('192.0.2.1')).toEqual({ ok: false, retryAfter: 10 });
  pass(4);
  expect(take('192.0.2.1')).toEqual({ ok: false, retryAfter: 6 });
  pass(6);
  expect([take('192.0.2.1'), take('192.0.2.1')]).toEqual([{ ok: true }, { ok: false, retryAfter: 10 }]);
  // An idle period grants no more than a full window.
  pass(1e6);
  expect([1, 2, 3, 4].map(() => take('192.0.2.1').ok)).toEqual([true, true, true, false]);
});

test('each address has its own limit, an IPv6 network counts as one; an unknown address is not limited', () => {
  const { take } = make({ perAddress: 1 });
  expect([take('192.0.2.1').ok, take('192.0.2.1').ok, take('192.0.2.2').ok]).toEqual([true, false, true]);
  expect([take('2001:db8::1').ok, take('2001:db8::2').ok, take('2001:db8:0:1::1').ok]).toEqual([true, false, true]);
  expect([take(null).ok, take(null).ok]).toEqual([true, true]);
});

test('memory is bounded: the least recently seen address is evicted first', () => {
  const { take } = make({ perAddress: 1, capacity: 2 });
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) take(address);
  expect(['192.0.2.3', '192.0.2.2', '192.0.2.1'].map((address) => take(address).ok)).toEqual([false, false, true]);
});

test('a clock that goes back changes nothing', () => {
  const { take, pass } = make({ perAddress: 1, window: 10 });
  take('192.0.2.1');
  pass(-100);
  expect(take('192.0.2.1')).toEqual({ ok: false, retryAfter: 10 });
});
