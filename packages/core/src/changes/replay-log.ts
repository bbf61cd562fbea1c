import type { ChangeMessage } from '../ports/changes.ts';

export interface ReplayLimits {
  /** Milliseconds. */
  readonly ageMs: number;
  /** Bytes of the messages of all groups. */
  readonly bytes: number;
}

/** A group whose messages are kept. */
export interface ReplayOwner {
  /** Receives the id of the last message that is not kept any more. */
  floor: string;
}

interface Entry<Owner> {
  readonly owner: Owner;
  readonly message: ChangeMessage;
  readonly bytes: number;
  readonly at: number;
}

/** Bytes of a message and of each of its events beside their JSON. */
const overhead = 200;

/** The last messages of all groups, within limits of age and size. */
export class ReplayLog {
  readonly #limits: ReplayLimits;
  readonly #now: () => number;
  /** The messages of each group, in order. */
  readonly #messages = new Map<ReplayOwner, ChangeMessage[]>();
  /** The entries of all groups, in order; the first `#evicted` are evicted. */
  #entries: Entry<ReplayOwner>[] = [];
  #evicted = 0;
  #bytes = 0;

  constructor(limits: ReplayLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  get ageMs(): number {
    return this.#limits.ageMs;
  }

  add(owner: ReplayOwner, message: ChangeMessage): void {
    const bytes = sizeOf(message);
    this.#entries.push({ owner, message, bytes, at: this.#now() });
    this.#bytes += bytes;
    const messages = this.#messages.get(owner);
    if (messages === undefined) this.#messages.set(owner, [message]);
    else messages.push(message);
    this.evict();
  }

  messagesOf(owner: ReplayOwner): readonly ChangeMessage[] {
    this.evict();
    return this.#messages.get(owner) ?? [];
  }

  remove(owner: ReplayOwner): void {
    this.#messages.delete(owner);
  }

  /** Removes what is too old or too much. */
  evict(): void {
    const oldest = this.#now() - this.#limits.ageMs;
    for (let entry = this.#entries[this.#evicted]; entry !== undefined; entry = this.#entries[this.#evicted]) {
      if (this.#bytes <= this.#limits.bytes && entry.at >= oldest) break;
      this.#evicted++;
      this.#bytes -= entry.bytes;
      const messages = this.#messages.get(entry.owner);
      if (messages?.[0] !== entry.message) continue;
      messages.shift();
      if (messages.length === 0) this.#messages.delete(entry.owner);
      entry.owner.floor = entry.message.id;
    }
    if (this.#evicted * 2 <= this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#evicted);
    this.#evicted = 0;
  }
}

function sizeOf(message: ChangeMessage): number {
  if (message.kind !== 'changes') return overhead;
  return message.changes.reduce(
    (sum, { record, old }) => sum + overhead + (record?.length ?? 0) + (old?.length ?? 0),
    overhead,
  );
}
