import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';

import { type PasswordHasher, Problem } from '../../pipeline/ports.ts';
import { group, whole } from '../../validation/kinds.ts';

/** More passwords wait for their turn than are worth waiting for: 503, to be tried again later. */
export class TooManySignIns extends Problem {
  constructor(retryAfter: number) {
    super('too-many-attempts', {
      status: 503,
      title: 'Too many sign-ins at once',
      headers: ['retry-after', String(retryAfter)],
    });
    this.name = 'TooManySignIns';
  }
}

export interface PasswordHasherOptions {
  /**
   * How many are derived at once, each on a thread of Node's pool of four. Default: one processor is left to requests, and two
   * of the four threads to files and name look-ups.
   */
  readonly atOnce?: number;
  /** How many more may wait. Default 50: the last of them waits for about five seconds. */
  readonly waiting?: number;
  /** Rounds of PBKDF2. A hash does not say how many it was made with: other than the default, none from elsewhere verifies. */
  readonly rounds?: number;
}

const hasherOptions = group<PasswordHasherOptions>({
  atOnce: whole({ min: 1 }),
  waiting: whole({ min: 0 }),
  rounds: whole({ min: 1 }),
});

const saltBytes = 16;
const keyBytes = 32;
const form = /^[A-Za-z0-9+/]{64}$/;
const retryAfter = 5;

/**
 * The built-in hasher: base64 of 16 bytes of salt and 32 bytes of PBKDF2-HMAC-SHA256 with 600,000 rounds. Derives off the
 * event loop.
 * @throws RangeError that names the option which cannot be
 */
export function createPasswordHasher(options: PasswordHasherOptions = {}): PasswordHasher {
  const faults = hasherOptions.faults(options, '');
  if (faults.length > 0) throw new RangeError(`createPasswordHasher: ${faults.join('\n')}`);
  const { waiting = 50, rounds = 600_000 } = options;
  const { atOnce = Math.max(1, Math.min(2, availableParallelism() - 1)) } = options;
  const queue = new Queue(atOnce, waiting);
  const derive = (password: string, salt: Uint8Array): Promise<Buffer> =>
    queue.run(() => deriveKey(password, salt, rounds));
  const waste = async (): Promise<void> => void (await derive('', randomBytes(saltBytes)));
  return Object.freeze({
    hash: async (password) => {
      const salt = randomBytes(saltBytes);
      return Buffer.concat([salt, await derive(password, salt)]).toString('base64');
    },
    verify: async (password, hash) => {
      if (!form.test(hash)) {
        await waste();
        return false;
      }
      const bytes = Buffer.from(hash, 'base64');
      return timingSafeEqual(await derive(password, bytes.subarray(0, saltBytes)), bytes.subarray(saltBytes));
    },
    waste,
  } satisfies PasswordHasher);
}

function deriveKey(password: string, salt: Uint8Array, rounds: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    pbkdf2(password, salt, rounds, keyBytes, 'sha256', (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

/** First come, first served. */
class Queue {
  readonly #atOnce: number;
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  /** Made once: most of what a refusal costs is its stack, and the more there are the cheaper they have to be. */
  readonly #refusal = new TooManySignIns(retryAfter);
  #running = 0;

  constructor(atOnce: number, limit: number) {
    this.#atOnce = atOnce;
    this.#limit = limit;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#atOnce) this.#running += 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // Who is next takes the place over, so that nobody who comes in between is before him.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.#limit) throw this.#refusal;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
