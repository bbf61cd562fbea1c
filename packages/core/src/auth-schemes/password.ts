import { describeFaults } from '../validation/fault.ts';
import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';

import { type PasswordHasher, Problem } from '../ports/ports.ts';
import { objectOf, integer } from '../validation/validators.ts';
import { FairQueue } from './fair-queue.ts';

/** Seconds. */
const retryAfter = 5;

/** The queue of passwords is full: 503 with `Retry-After`. */
export class PasswordQueueFull extends Problem {
  constructor(title: string) {
    super('too-many-attempts', { status: 503, title, headers: ['retry-after', String(retryAfter)] });
    this.name = 'TooManyPasswords';
  }
}

export interface PasswordHasherOptions {
  /**
   * The number of passwords that are verified at the same time, and of those that are hashed, each on a thread of Node's pool of four.
   * Default: 1 for hashing, and 1 or 2 for verification, which leaves a processor to requests and a thread to files and DNS.
   */
  readonly concurrency?: number;
  /** The number of passwords that wait in each queue. Default 50: the last one waits for about five seconds. */
  readonly maxQueued?: number;
  /** Rounds of PBKDF2. A hash does not contain their number: with another one, existing hashes do not verify. */
  readonly rounds?: number;
}

const hasherOptions = objectOf<PasswordHasherOptions>({
  concurrency: integer({ min: 1 }),
  maxQueued: integer({ min: 0 }),
  rounds: integer({ min: 1 }),
});

const saltBytes = 16;
const keyBytes = 32;
const form = /^[A-Za-z0-9+/]{64}$/;

/**
 * Creates the built-in hasher: base64 of 16 bytes of salt and 32 bytes of PBKDF2-HMAC-SHA256 with 600,000 rounds, computed outside of the
 * event loop. Hashing and verification have separate queues, so that sign-ups do not delay logins.
 * @throws RangeError that names an invalid option
 */
export function createPasswordHasher(options: PasswordHasherOptions = {}): PasswordHasher {
  const faults = hasherOptions.validate(options, []);
  if (faults.length > 0) throw new RangeError(`createPasswordHasher: ${describeFaults(faults)}`);
  const { maxQueued = 50, rounds = 600_000 } = options;
  const { concurrency } = options;
  const hashing = createQueue(concurrency ?? 1, maxQueued, 'Too many passwords are hashed at once');
  const verifying = createQueue(concurrency ?? defaultVerifications(), maxQueued, 'Too many logins at once');
  const verifyDummy = async (address: string | null = null): Promise<void> => {
    await verifying.run(address, () => deriveKey('', randomBytes(saltBytes), rounds));
  };
  return Object.freeze({
    hash: async (password, address = null) => {
      const salt = randomBytes(saltBytes);
      const key = await hashing.run(address, () => deriveKey(password, salt, rounds));
      return Buffer.concat([salt, key]).toString('base64');
    },
    verify: async (password, hash, address = null) => {
      if (!form.test(hash)) {
        await verifyDummy(address);
        return false;
      }
      const bytes = Buffer.from(hash, 'base64');
      const key = await verifying.run(address, () => deriveKey(password, bytes.subarray(0, saltBytes), rounds));
      return timingSafeEqual(key, bytes.subarray(saltBytes));
    },
    verifyDummy,
  } satisfies PasswordHasher);
}

function defaultVerifications(): number {
  return Math.max(1, Math.min(2, availableParallelism() - 1));
}

/** One error per queue: creating a stack trace for each refused call would cost CPU time under load. */
function createQueue(concurrency: number, maxQueued: number, title: string): FairQueue {
  return new FairQueue({ concurrency, maxQueued, refusal: new PasswordQueueFull(title) });
}

function deriveKey(password: string, salt: Uint8Array, rounds: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    pbkdf2(password, salt, rounds, keyBytes, 'sha256', (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}
