import { describe, expect, test } from 'vitest';
import type { LoginAttempt, LoginRateLimiter } from '../../src/ports/ports.ts';
import { loginRateLimiter, type LoginRateLimitOptions } from '../../src/auth-schemes/login-rate-limiter.ts';
import { clockAt } from './request.ts';

const ada: LoginAttempt = { user: 'ada', address: '192.0.2.1' };

function make(options: LoginRateLimitOptions = {}) {
  const clock = clockAt();
  return { limiter: loginRateLimiter({ now: clock.now, ...options }), pass: clock.pass };
}

/** Tries and fails until it has to wait; gives how often it could try. */
function exhaust(limiter: LoginRateLimiter, keys: LoginAttempt): number {
  for (let count = 0; count < 1000; count += 1) {
    if (!limiter.mayTry(keys).ok) return count;
    limiter.failed(keys);
  }
  return 1000;
}

describe('failed sign-ins', () => {
  test('after five, the user has to wait at this address, and twice as long after each further one', () => {
    const { limiter, pass } = make();
    expect(exhaust(limiter, ada)).toBe(5);
    const waits = [1, 2, 3, 4].map(() => {
      const may = limiter.mayTry(ada);
      if (may.ok) throw new Error('it has to wait');
      pass(may.retryAfter - 0.001);
      expect(limiter.mayTry(ada).ok).toBe(false);
      pass(0.001);
      expect(limiter.mayTry(ada)).toEqual({ ok: true });
      limiter.failed(ada);
      return may.retryAfter;
    });
    expect(waits).toEqual([1, 2, 4, 8]);
  });

  test('nobody waits for longer than the longest wait', () => {
    const { limiter, pass } = make({ perUser: 1, longestWait: 60, window: 1e9 });
    for (let count = 0; count < 100; count += 1) {
      limiter.failed(ada);
      pass(1);
    }
    expect(limiter.mayTry(ada)).toEqual({ ok: false, retryAfter: 59 });
  });

  test('count for as long as the window', () => {
    const { limiter, pass } = make({ window: 100, longestWait: 1000 });
    limiter.failed(ada);
    pass(60);
    for (let count = 0; count < 4; count += 1) limiter.failed(ada);
    expect(limiter.mayTry(ada).ok).toBe(false);
    pass(40);
    expect(limiter.mayTry(ada)).toEqual({ ok: true });
  });

  test('other users, and the same one elsewhere, are not kept out', () => {
    const { limiter } = make();
    exhaust(limiter, ada);
    expect(limiter.mayTry({ ...ada, user: 'bob' }).ok).toBe(true);
    expect(limiter.mayTry({ ...ada, address: '192.0.2.2' }).ok).toBe(true);
  });

  test('one name in other letters is one user', () => {
    const { limiter } = make();
    for (const user of ['ada', 'ADA', 'Ada', 'ａｄａ', 'aDa']) limiter.failed({ ...ada, user });
    expect(limiter.mayTry(ada).ok).toBe(false);
  });

  test('spaces and characters that cannot be seen make no other user', () => {
    const { limiter } = make();
    for (const user of ['ada', ' ada', 'ada\t', 'a\u200bda', '\u00a0ADA ']) limiter.failed({ ...ada, user });
    expect(limiter.mayTry(ada).ok).toBe(false);
  });

  test('where no user is named, only the limit of the address holds', () => {
    const { limiter } = make({ perUser: 2, perAddress: 10 });
    expect(exhaust(limiter, { user: null, address: '192.0.2.1' })).toBe(10);
    expect(limiter.mayTry(ada).ok).toBe(false);
    expect(limiter.mayTry({ user: null, address: '192.0.2.2' }).ok).toBe(true);
    expect(exhaust(limiter, { user: null, address: null })).toBe(10);
  });

  test('one address that tries many users has to wait for all of them', () => {
    const { limiter } = make({ perAddress: 50 });
    for (let count = 0; count < 50; count += 1) {
      const keys = { user: `user ${count}`, address: '192.0.2.1' };
      expect(limiter.mayTry(keys).ok).toBe(true);
      limiter.failed(keys);
    }
    expect(limiter.mayTry({ user: 'another', address: '192.0.2.1' }).ok).toBe(false);
    expect(limiter.mayTry({ user: 'another', address: '192.0.2.2' }).ok).toBe(true);
  });

  test('the addresses of one IPv6 network are one address', () => {
    const { limiter } = make({ perAddress: 3 });
    for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2', '2001:db8:1:2:3:4:5:6']) {
      limiter.failed({ user: address, address });
    }
    expect(limiter.mayTry({ user: 'x', address: '2001:db8:1:2::9' }).ok).toBe(false);
    expect(limiter.mayTry({ user: 'x', address: '2001:db8:1:3::9' }).ok).toBe(true);
    expect(limiter.mayTry({ user: 'x', address: '::1' }).ok).toBe(true);
  });

  test('without an address, only tries for the same user count together', () => {
    const { limiter } = make({ perAddress: 3 });
    for (let count = 0; count < 10; count += 1) limiter.failed({ user: `user ${count}`, address: null });
    expect(limiter.mayTry({ user: 'ada', address: null }).ok).toBe(true);
    expect(exhaust(limiter, { user: 'eve', address: null })).toBe(5);
  });
});

describe('success', () => {
  test('forgives the user', () => {
    const { limiter } = make();
    for (let count = 0; count < 4; count += 1) limiter.failed(ada);
    limiter.mayTry(ada);
    limiter.succeeded(ada);
    expect(exhaust(limiter, ada)).toBe(5);
  });

  test('does not forgive the address: signing in oneself is no way to go on guessing', () => {
    const { limiter } = make({ perAddress: 10 });
    let guesses = 0;
    for (let count = 0; count < 100; count += 1) {
      const victim = { user: `victim ${count}`, address: '192.0.2.1' };
      if (!limiter.mayTry(victim).ok) break;
      limiter.failed(victim);
      guesses += 1;
      if (limiter.mayTry(ada).ok) limiter.succeeded(ada);
    }
    expect(guesses).toBe(10);
  });
});

describe('many tries at once', () => {
  test('are no more than one after the other', () => {
    const { limiter, pass } = make();
    const allowed = Array.from({ length: 1000 }, () => limiter.mayTry(ada).ok).filter(Boolean).length;
    expect(allowed).toBe(5);
    for (let count = 0; count < allowed; count += 1) limiter.failed(ada);
    pass(1);
    // Past the limit one at a time.
    expect([limiter.mayTry(ada).ok, limiter.mayTry(ada).ok]).toEqual([true, false]);
  });

  test('one that was withdrawn is not counted', () => {
    const { limiter } = make();
    for (let count = 0; count < 100; count += 1) {
      expect(limiter.mayTry(ada).ok).toBe(true);
      limiter.withdrawn(ada);
    }
  });

  test('one whose outcome is never told is forgotten after a minute', () => {
    const { limiter, pass } = make({ perUser: 1 });
    expect(limiter.mayTry(ada)).toEqual({ ok: true });
    pass(59);
    expect(limiter.mayTry(ada)).toEqual({ ok: false, retryAfter: 1 });
    pass(1);
    expect(limiter.mayTry(ada)).toEqual({ ok: true });
  });
});

test('memory is bounded, and who is kept out longest untouched is forgotten first', () => {
  const { limiter } = make({ capacity: 3, perUser: 1, firstWait: 100 });
  const blocked = (user: string): boolean => {
    const keys = { user, address: null };
    const may = limiter.mayTry(keys);
    if (may.ok) limiter.withdrawn(keys);
    return !may.ok;
  };
  for (const user of ['a', 'b', 'c', 'd']) limiter.failed({ user, address: null });
  expect(['d', 'c', 'b', 'a'].map(blocked)).toEqual([true, true, true, false]);
});
