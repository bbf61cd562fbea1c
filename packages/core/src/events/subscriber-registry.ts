import { Problem } from '../http/problem.ts';
import type { Subscriber } from './subscriber.ts';

export interface SubscriberLimits {
  /** Most subscribers of all streams. */
  readonly all: number;
  /** Most subscribers of one authenticated user. */
  readonly perUser: number;
  /** Most anonymous subscribers of one client address. */
  readonly perAddress: number;
}

/** Seconds. */
const retryAfter: readonly string[] = ['retry-after', '5'];

/** The subscribers of all streams, counted per user or address, and indexed by session. */
export class SubscriberRegistry {
  readonly #limits: SubscriberLimits;
  readonly #all = new Set<Subscriber>();
  readonly #counts = new Map<string, number>();
  readonly #bySession = new Map<string, Set<Subscriber>>();
  /** Groups of subscribers whose heartbeats are sent together. */
  readonly #slots: readonly Set<Subscriber>[];
  #added = 0;
  #slot = 0;

  constructor(limits: SubscriberLimits, slotCount: number) {
    this.#limits = limits;
    this.#slots = Array.from({ length: slotCount }, () => new Set<Subscriber>());
  }

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): Iterator<Subscriber> {
    return [...this.#all][Symbol.iterator]();
  }

  /** @throws Problem `no-free-stream` or `too-many-streams` if one more subscriber would exceed a limit */
  checkLimits(quotaKey: string | null, authenticated: boolean): void {
    const { all, perUser, perAddress } = this.#limits;
    if (this.#all.size >= all) throw new Problem('no-free-stream', { headers: retryAfter });
    const count = quotaKey === null ? 0 : (this.#counts.get(quotaKey) ?? 0);
    if (count >= (authenticated ? perUser : perAddress)) throw new Problem('too-many-streams', { headers: retryAfter });
  }

  add(subscriber: Subscriber): void {
    this.#all.add(subscriber);
    this.#slots[this.#added++ % this.#slots.length]!.add(subscriber);
    const quotaKey = quotaKeyOf(subscriber);
    if (quotaKey !== null) this.#counts.set(quotaKey, (this.#counts.get(quotaKey) ?? 0) + 1);
    const { sessionHash } = subscriber.options;
    if (sessionHash !== null)
      this.#bySession.set(sessionHash, (this.#bySession.get(sessionHash) ?? new Set()).add(subscriber));
  }

  delete(subscriber: Subscriber): void {
    if (!this.#all.delete(subscriber)) return;
    for (const slot of this.#slots) slot.delete(subscriber);
    const quotaKey = quotaKeyOf(subscriber);
    const count = quotaKey === null ? 0 : this.#counts.get(quotaKey)! - 1;
    if (quotaKey !== null && count > 0) this.#counts.set(quotaKey, count);
    else if (quotaKey !== null) this.#counts.delete(quotaKey);
    const { sessionHash } = subscriber.options;
    const sameSession = sessionHash === null ? undefined : this.#bySession.get(sessionHash);
    if (sameSession?.delete(subscriber) === true && sameSession.size === 0) this.#bySession.delete(sessionHash!);
  }

  /** Returns the subscribers of the next slot, round-robin. */
  nextSlot(): readonly Subscriber[] {
    this.#slot = (this.#slot + 1) % this.#slots.length;
    return [...this.#slots[this.#slot]!];
  }

  findBySession(sessionHash: string): readonly Subscriber[] {
    return [...(this.#bySession.get(sessionHash) ?? [])];
  }
}

function quotaKeyOf({ options }: Subscriber): string | null {
  return toQuotaKey(options.caller === null ? null : options.identityKey, options.address);
}

/** Returns what the limits count by: the user, or the address of an anonymous client; null: neither is known. */
export function toQuotaKey(user: string | null, address: string | undefined): string | null {
  if (user !== null) return `user ${user}`;
  return address === undefined ? null : `address ${address}`;
}
