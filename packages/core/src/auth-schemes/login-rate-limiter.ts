import { createHash } from 'node:crypto';

import type { LoginAttempt, LoginOutcome, LoginRateLimiter, RateLimitResult } from '../ports/ports.ts';
import { clientNetwork } from '../http/client-network.ts';
import { withDefaults } from '../validation/option.ts';
import { type LoginRateLimitOptions, loginRateLimitOptions } from './options.ts';

/** A limiter in the memory of this process. */
export interface LocalLoginRateLimiter extends LoginRateLimiter {
  consume(attempt: LoginAttempt): RateLimitResult;
}

/** Times in milliseconds, in ascending order. */
interface Attempts {
  readonly failures: readonly number[];
  /** When each attempt began that has not completed. */
  readonly pending: readonly number[];
}

/** Times in milliseconds. */
interface Limits {
  readonly maxFailures: number;
  readonly window: number;
  readonly firstWait: number;
  readonly longestWait: number;
  readonly capacity: number;
}

/** Milliseconds after which an attempt that has not completed is forgotten. */
const attemptTimeoutMs = 60_000;
/** Failures recorded above the limit. More of them change nothing: the wait is the longest by then. */
const excessFailures = 32;

/**
 * Creates a limiter of failed logins per user and address, and per address. An allowed attempt counts as failed until it completes, so that
 * concurrent attempts cannot exceed the limit.
 */
export function loginRateLimiter(options: LoginRateLimitOptions = {}): LocalLoginRateLimiter {
  const { perUser, perAddress, window, firstWait, longestWait, capacity } = withDefaults<LoginRateLimitOptions, 'now'>(
    loginRateLimitOptions,
    options,
  );
  const now = options.now ?? Date.now;
  const shared = { window: window * 1000, firstWait: firstWait * 1000, longestWait: longestWait * 1000, capacity };
  const users = new FailureLimit({ maxFailures: perUser, ...shared });
  const addresses = new FailureLimit({ maxFailures: perAddress, ...shared });
  /** Returns the limits of an attempt: by user and by address, as far as they are known. Attempts without either share one key. */
  const limitsOf = ({ user, address }: LoginAttempt): readonly Limit[] => {
    const network = address === null ? null : clientNetwork(address);
    const byUser: readonly Limit[] = user === null ? [] : [[users, userKey(user, network)]];
    const byAddress: readonly Limit[] =
      network === null && user !== null ? [] : [[addresses, network ?? unknownAddress]];
    return [...byUser, ...byAddress];
  };
  return Object.freeze({
    consume: (attempt: LoginAttempt): RateLimitResult => {
      const time = now();
      const limits = limitsOf(attempt);
      const wait = Math.max(...limits.map(([limit, key]) => limit.wait(key, time)));
      if (wait > 0) return { ok: false, retryAfter: Math.ceil(wait / 1000) };
      for (const [limit, key] of limits) limit.begin(key, time);
      return { ok: true };
    },
    complete: (attempt: LoginAttempt, outcome: LoginOutcome): void => {
      for (const [limit, key] of limitsOf(attempt)) {
        if (outcome === 'succeeded' && limit === users) limit.reset(key);
        else limit.end(key, now(), outcome === 'failed');
      }
    },
  });
}

type Limit = readonly [limit: FailureLimit, key: string];

const unknownAddress = 'unknown';

/** Counts the failures of each key. */
class FailureLimit {
  /** In the order of use, the least recently used key first. */
  readonly #attempts = new Map<string, Attempts>();
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Returns the milliseconds until the next attempt is allowed; 0: now. */
  wait(key: string, time: number): number {
    const { failures, pending } = this.#current(key, time);
    const { maxFailures, firstWait, longestWait } = this.#limits;
    if (failures.length < maxFailures) return failures.length + pending.length < maxFailures ? 0 : 1000;
    const wait = Math.min(longestWait, firstWait * 2 ** (failures.length - maxFailures));
    const remaining = Math.max(0, failures.at(-1)! + wait - time);
    // Above the limit, one attempt at a time.
    return pending.length > 0 ? Math.max(1000, remaining) : remaining;
  }

  begin(key: string, time: number): void {
    const { failures, pending } = this.#current(key, time);
    this.#set(key, { failures, pending: [...pending, time] });
  }

  end(key: string, time: number, failed: boolean): void {
    const { failures, pending } = this.#current(key, time);
    const maxLength = this.#limits.maxFailures + excessFailures;
    this.#set(key, {
      failures: failed ? [...failures, time].slice(-maxLength) : failures,
      pending: pending.slice(1),
    });
  }

  /** Ends an attempt and forgets the failures. */
  reset(key: string): void {
    const pending = this.#attempts.get(key)?.pending.slice(1) ?? [];
    this.#set(key, { failures: [], pending });
  }

  #current(key: string, time: number): Attempts {
    const attempts = this.#attempts.get(key);
    if (attempts === undefined) return { failures: [], pending: [] };
    return {
      failures: attempts.failures.filter((at) => at > time - this.#limits.window),
      pending: attempts.pending.filter((at) => at > time - attemptTimeoutMs),
    };
  }

  #set(key: string, attempts: Attempts): void {
    this.#attempts.delete(key);
    if (attempts.failures.length + attempts.pending.length === 0) return;
    this.#attempts.set(key, attempts);
    if (this.#attempts.size > this.#limits.capacity) this.#attempts.delete(this.#attempts.keys().next().value!);
  }
}

/**
 * Returns the same key for names that a database may compare as equal: without case, spaces and invisible characters. A digest, so
 * that its size does not depend on the name.
 */
function userKey(user: string, network: string | null): string {
  const name = user
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s\p{C}]/gu, '');
  return createHash('sha256')
    .update(JSON.stringify([name, network]))
    .digest('base64');
}
