import { describe, expect, test } from 'vitest';
import type { LoginRateLimitOptions } from '../../src/auth-schemes/options.ts';
import type { LoginAttempt } from '../../src/ports/ports.ts';
import { type LocalLoginRateLimiter, loginRateLimiter } from '../../src/auth-schemes/login-rate-limiter.ts';
import { clockAt } from './request.ts';

const ada: LoginAttempt = { user: 'ada', address: '192.0.2.1' };

function make(options: LoginRateLimitOptions = {}) {
  const clock = clockAt();
  return { limiter: loginRateLimiter({ now: clock.now, ...options }), pass: clock.pass };
}

/** Fails until the limiter demands a wait; returns the number of attempts. */
function exhaust(limiter: LocalLoginRateLimiter, keys: LoginAttempt): number {
  for (let count = 0; count < 1000; count += 1) {
    if (!limiter.consume(keys).ok) return count;
    limiter.complete(keys, 'failed');
  }
  return 1000;
}

describe('failed logins', () => {
  test('after five failures the user is throttled at this address, and each further failure doubles the wait', () => {
    const { limiter, pass } = make();
    expect(exhaust(limiter, ada)).toBe(5);
    const waits = [1, 2, 3, 4].map(() => {
      const may = limiter.consume(ada);
      if (may.ok) throw new Error('it has to wait');
      pass(may.retryAfter - 0.001);
      expect(limiter.consume(ada).ok).toBe(false);
      pass(0.001);
      expect(limiter.consume(ada)).toEqual({ ok: true });
      limiter.complete(ada, 'failed');
      return may.retryAfter;
    });
    expect(waits).toEqual([1, 2, 4, 8]);
  });

  test('the wait never exceeds the maximum', () => {
    const { limiter, pass } = make({ perUser: 1, longestWait: 60, window: 1e9 });
    for (let count = 0; count < 100; count += 1) {
      limiter.complete(ada, 'failed');
      pass(1);
    }
    expect(limiter.consume(ada)).toEqual({ ok: false, retryAfter: 59 });
  });

  test('failures count for the length of the window', () => {
    const { limiter, pass } = make({ window: 100, longestWait: 1000 });
    limiter.complete(ada, 'failed');
    pass(60);
    for (let count = 0; count < 4; count += 1) limiter.complete(ada, 'failed');
    expect(limiter.consume(ada).ok).toBe(false);
    pass(40);
    expect(limiter.consume(ada)).toEqual({ ok: true });
  });

  test('other users, and the same user at another address, are not throttled', () => {
    const { limiter } = make();
    exhaust(limiter, ada);
    expect(limiter.consume({ ...ada, user: 'bob' }).ok).toBe(true);
    expect(limiter.consume({ ...ada, address: '192.0.2.2' }).ok).toBe(true);
  });

  test('user names are case-insensitive', () => {
    const { limiter } = make();
    for (const user of ['ada', 'ADA', 'Ada', 'ａｄａ', 'aDa']) limiter.complete({ ...ada, user }, 'failed');
    expect(limiter.consume(ada).ok).toBe(false);
  });

  test('spaces and invisible characters do not make another user', () => {
    const { limiter } = make();
    for (const user of ['ada', ' ada', 'ada\t', 'a\u200bda', '\u00a0ADA '])
      limiter.complete({ ...ada, user }, 'failed');
    expect(limiter.consume(ada).ok).toBe(false);
  });

  test('without a user only the limit of the address applies', () => {
    const { limiter } = make({ perUser: 2, perAddress: 10 });
    expect(exhaust(limiter, { user: null, address: '192.0.2.1' })).toBe(10);
    expect(limiter.consume(ada).ok).toBe(false);
    expect(limiter.consume({ user: null, address: '192.0.2.2' }).ok).toBe(true);
    expect(exhaust(limiter, { user: null, address: null })).toBe(10);
  });

  test('an address that tries many users is throttled for all of them', () => {
    const { limiter } = make({ perAddress: 50 });
    for (let count = 0; count < 50; count += 1) {
      const keys = { user: `user ${count}`, address: '192.0.2.1' };
      expect(limiter.consume(keys).ok).toBe(true);
      limiter.complete(keys, 'failed');
    }
    expect(limiter.consume({ user: 'another', address: '192.0.2.1' }).ok).toBe(false);
    expect(limiter.consume({ user: 'another', address: '192.0.2.2' }).ok).toBe(true);
  });

  test('the addresses of one IPv6 network count as one address', () => {
    const { limiter } = make({ perAddress: 3 });
    for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2', '2001:db8:1:2:3:4:5:6']) {
      limiter.complete({ user: address, address }, 'failed');
    }
    expect(limiter.consume({ user: 'x', address: '2001:db8:1:2::9' }).ok).toBe(false);
    expect(limiter.consume({ user: 'x', address: '2001:db8:1:3::9' }).ok).toBe(true);
    expect(limiter.consume({ user: 'x', address: '::1' }).ok).toBe(true);
  });

  test('without an address, only attempts for the same user add up', () => {
    const { limiter } = make({ perAddress: 3 });
    for (let count = 0; count < 10; count += 1) limiter.complete({ user: `user ${count}`, address: null }, 'failed');
    expect(limiter.consume({ user: 'ada', address: null }).ok).toBe(true);
    expect(exhaust(limiter, { user: 'eve', address: null })).toBe(5);
  });
});

describe('a successful login', () => {
  test('the failures of the user are reset', () => {
    const { limiter } = make();
    for (let count = 0; count < 4; count += 1) limiter.complete(ada, 'failed');
    limiter.consume(ada);
    limiter.complete(ada, 'succeeded');
    expect(exhaust(limiter, ada)).toBe(5);
  });

  test('the failures of the address stay: a login of the attacker does not allow more guesses', () => {
    const { limiter } = make({ perAddress: 10 });
    let guesses = 0;
    for (let count = 0; count < 100; count += 1) {
      const victim = { user: `victim ${count}`, address: '192.0.2.1' };
      if (!limiter.consume(victim).ok) break;
      limiter.complete(victim, 'failed');
      guesses += 1;
      if (limiter.consume(ada).ok) limiter.complete(ada, 'succeeded');
    }
    expect(guesses).toBe(10);
  });
});

describe('concurrent attempts', () => {
  test('concurrent attempts allow no more guesses than sequential ones', () => {
    const { limiter, pass } = make();
    const allowed = Array.from({ length: 1000 }, () => limiter.consume(ada).ok).filter(Boolean).length;
    expect(allowed).toBe(5);
    for (let count = 0; count < allowed; count += 1) limiter.complete(ada, 'failed');
    pass(1);
    // Past the limit, attempts run one at a time.
    expect([limiter.consume(ada).ok, limiter.consume(ada).ok]).toEqual([true, false]);
  });

  test('a withdrawn attempt is not counted', () => {
    const { limiter } = make();
    for (let count = 0; count < 100; count += 1) {
      expect(limiter.consume(ada).ok).toBe(true);
      limiter.complete(ada, 'aborted');
    }
  });

  test('an attempt without an outcome is dropped after a minute', () => {
    const { limiter, pass } = make({ perUser: 1 });
    expect(limiter.consume(ada)).toEqual({ ok: true });
    pass(59);
    expect(limiter.consume(ada)).toEqual({ ok: false, retryAfter: 1 });
    pass(1);
    expect(limiter.consume(ada)).toEqual({ ok: true });
  });
});

test('memory is bounded, and the throttled entry unused for longest is evicted first', () => {
  const { limiter } = make({ capacity: 3, perUser: 1, firstWait: 100 });
  const blocked = (user: string): boolean => {
    const keys = { user, address: null };
    const may = limiter.consume(keys);
    if (may.ok) limiter.complete(keys, 'aborted');
    return !may.ok;
  };
  for (const user of ['a', 'b', 'c', 'd']) limiter.complete({ user, address: null }, 'failed');
  expect(['d', 'c', 'b', 'a'].map(blocked)).toEqual([true, true, true, false]);
});
