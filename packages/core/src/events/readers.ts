import { Problem } from '../http/problem.ts';
import type { Reader } from './reader.ts';

export interface ReaderLimits {
  /** The most readers of all streams. */
  readonly all: number;
  /** The most of one user who is signed in. */
  readonly perUser: number;
  /** The most of all from one address who are not. */
  readonly perAddress: number;
}

/** Seconds. A place may become free at any time; but who comes back at once is only a burden. */
const retryAfter: readonly string[] = ['retry-after', '5'];

/** All who read, whatever they read: counted, and found by their sessions. */
export class Readers {
  readonly #limits: ReaderLimits;
  readonly #all = new Set<Reader>();
  readonly #perOwner = new Map<string, number>();
  readonly #bySession = new Map<string, Set<Reader>>();
  /** Readers take turns in being looked at. */
  readonly #turns: readonly Set<Reader>[];
  #joined = 0;
  #turn = 0;

  constructor(limits: ReaderLimits, turns: number) {
    this.#limits = limits;
    this.#turns = Array.from({ length: turns }, () => new Set<Reader>());
  }

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): Iterator<Reader> {
    return [...this.#all][Symbol.iterator]();
  }

  /** @throws Problem `no-free-stream` or `too-many-streams` when there is no room for one more */
  requireRoom(owner: string | null, signedIn: boolean): void {
    const { all, perUser, perAddress } = this.#limits;
    if (this.#all.size >= all) throw new Problem('no-free-stream', { headers: retryAfter });
    const own = owner === null ? 0 : (this.#perOwner.get(owner) ?? 0);
    if (own >= (signedIn ? perUser : perAddress)) throw new Problem('too-many-streams', { headers: retryAfter });
  }

  add(reader: Reader): void {
    this.#all.add(reader);
    this.#turns[this.#joined++ % this.#turns.length]!.add(reader);
    const owner = ownerOf(reader);
    if (owner !== null) this.#perOwner.set(owner, (this.#perOwner.get(owner) ?? 0) + 1);
    const { session } = reader.parts;
    if (session !== null) this.#bySession.set(session, (this.#bySession.get(session) ?? new Set()).add(reader));
  }

  delete(reader: Reader): void {
    if (!this.#all.delete(reader)) return;
    for (const turn of this.#turns) turn.delete(reader);
    const owner = ownerOf(reader);
    const count = owner === null ? 0 : this.#perOwner.get(owner)! - 1;
    if (owner !== null && count > 0) this.#perOwner.set(owner, count);
    else if (owner !== null) this.#perOwner.delete(owner);
    const { session } = reader.parts;
    const same = session === null ? undefined : this.#bySession.get(session);
    if (same?.delete(reader) === true && same.size === 0) this.#bySession.delete(session!);
  }

  /** Those whose turn it is. */
  next(): readonly Reader[] {
    this.#turn = (this.#turn + 1) % this.#turns.length;
    return [...this.#turns[this.#turn]!];
  }

  /** @param session a digest of it */
  ofSession(session: string): readonly Reader[] {
    return [...(this.#bySession.get(session) ?? [])];
  }
}

/** Whose place it takes: the user's, or of those who are not signed in the address's; null where the host knows none. */
function ownerOf({ parts }: Reader): string | null {
  return ownerKey(parts.caller === null ? null : parts.binding, parts.address);
}

export function ownerKey(user: string | null, address: string | undefined): string | null {
  if (user !== null) return `user ${user}`;
  return address === undefined ? null : `address ${address}`;
}
