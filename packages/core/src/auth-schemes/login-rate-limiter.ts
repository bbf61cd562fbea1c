import { createHash } from 'node:crypto';

import type { LoginAttempt, LoginRateLimiter } from '../ports/ports.ts';
import { networkOf } from './client-network.ts';

/** Times in seconds. */
export interface LoginRateLimitOptions {
  /** Failures for one user from one address before it has to wait. */
  readonly perUser?: number;
  /** Failures from one address, for whichever users. */
  readonly perAddress?: number;
  /** For how long a failure counts. */
  readonly window?: number;
  /** The first wait; each further failure doubles it. */
  readonly firstWait?: number;
  readonly longestWait?: number;
  /** How many users and how many addresses are remembered; the longest untouched are forgotten first. */
  readonly capacity?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Times in milliseconds, the oldest first. */
interface Tally {
  failures: readonly number[];
  /** When each try began whose outcome is not known. */
  pending: readonly number[];
}

interface Limits {
  readonly free: number;
  readonly window: number;
  readonly firstWait: number;
  readonly longestWait: number;
  readonly capacity: number;
}

const longestTry = 60_000;
/** A failure more than these above the limit changes nothing: the wait is the longest by then. */
const keptAboveLimit = 32;

/**
 * Limits failed sign-ins, of a user from an address and of an address. A try that was allowed counts as failed until its outcome is
 * told, so that many tries at once are no way around the limit; a try whose outcome is never told is forgotten after a minute.
 */
export function loginRateLimiter(options: LoginRateLimitOptions = {}): LoginRateLimiter {
  const { perUser = 5, perAddress = 50, window = 900, firstWait = 1, longestWait = 900, capacity = 10_000 } = options;
  const now = options.now ?? Date.now;
  const shared = { window: window * 1000, firstWait: firstWait * 1000, longestWait: longestWait * 1000, capacity };
  const users = new Tallies({ free: perUser, ...shared });
  const addresses = new Tallies({ free: perAddress, ...shared });
  /** The tallies of a try: the user's where one is named, and the address's where it is known. With neither, all such tries count together. */
  const each = ({ user, address }: LoginAttempt): readonly Entry[] => {
    const network = address === null ? null : networkOf(address);
    const ofUser: readonly Entry[] = user === null ? [] : [[users, userKey(user, network)]];
    const ofAddress: readonly Entry[] =
      network === null && user !== null ? [] : [[addresses, network ?? unknownAddress]];
    return [...ofUser, ...ofAddress];
  };
  return Object.freeze({
    mayTry: (keys: LoginAttempt): ReturnType<LoginRateLimiter['mayTry']> => {
      const time = now();
      const tallies = each(keys);
      const wait = Math.max(...tallies.map(([of, key]) => of.wait(key, time)));
      if (wait > 0) return { ok: false, retryAfter: Math.ceil(wait / 1000) };
      for (const [of, key] of tallies) of.begin(key, time);
      return { ok: true };
    },
    failed: (keys: LoginAttempt): void => {
      for (const [of, key] of each(keys)) of.end(key, now(), true);
    },
    succeeded: (keys: LoginAttempt): void => {
      for (const [of, key] of each(keys)) {
        if (of === users) of.forgive(key);
        else of.end(key, now(), false);
      }
    },
    withdrawn: (keys: LoginAttempt): void => {
      for (const [of, key] of each(keys)) of.end(key, now(), false);
    },
  });
}

type Entry = readonly [of: Tallies, key: string];

const unknownAddress = 'unknown';

class Tallies {
  readonly #tallies = new Map<string, Tally>();
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Milliseconds until the next try; 0: now. */
  wait(key: string, time: number): number {
    const { failures, pending } = this.#at(key, time);
    const { free, firstWait, longestWait } = this.#limits;
    if (failures.length < free) return failures.length + pending.length < free ? 0 : 1000;
    const wait = Math.min(longestWait, firstWait * 2 ** (failures.length - free));
    const until = Math.max(0, failures.at(-1)! + wait - time);
    // Past the limit one try at a time.
    return pending.length > 0 ? Math.max(1000, until) : until;
  }

  begin(key: string, time: number): void {
    const tally = this.#at(key, time);
    this.#keep(key, { ...tally, pending: [...tally.pending, time] });
  }

  end(key: string, time: number, failed: boolean): void {
    const { failures, pending } = this.#at(key, time);
    const kept = failed ? [...failures, time].slice(-(this.#limits.free + keptAboveLimit)) : failures;
    this.#keep(key, { failures: kept, pending: pending.slice(1) });
  }

  forgive(key: string): void {
    const pending = this.#tallies.get(key)?.pending.slice(1) ?? [];
    this.#keep(key, { failures: [], pending });
  }

  /** What of it still counts. */
  #at(key: string, time: number): Tally {
    const tally = this.#tallies.get(key);
    if (tally === undefined) return { failures: [], pending: [] };
    return {
      failures: tally.failures.filter((at) => at > time - this.#limits.window),
      pending: tally.pending.filter((at) => at > time - longestTry),
    };
  }

  #keep(key: string, tally: Tally): void {
    // What was touched last stands last.
    this.#tallies.delete(key);
    if (tally.failures.length + tally.pending.length === 0) return;
    this.#tallies.set(key, tally);
    if (this.#tallies.size > this.#limits.capacity) this.#tallies.delete(this.#tallies.keys().next().value!);
  }
}

/** Names that a database may compare as equal are equal here: without case, spaces and invisible characters. Of one size, however long. */
function userKey(user: string, network: string | null): string {
  const name = user
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s\p{C}]/gu, '');
  return createHash('sha256')
    .update(JSON.stringify([name, network]))
    .digest('base64');
}
